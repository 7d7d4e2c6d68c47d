import type { Context } from '../../context.ts';
import { type InspectorOptions, startInspector } from './server.ts';

type Opening = Omit<InspectorOptions, 'key' | 'visited'> & {
  /** Somebody sits here. */
  readonly opensBrowser?: boolean;
};

/** Starts the page behind a key of this run, says where it is, and shows it. */
export async function openInspector(ctx: Context, { opensBrowser, ...options }: Opening) {
  const key = Buffer.from(ctx.random(24)).toString('base64url');
  const visit = new AbortController();
  const inspector = await startInspector({ ...options, key, visited: () => visit.abort() });
  ctx.notice(`Inspect the events at ${inspector.url}`);
  // Where none opens, the address is there to be opened by hand.
  if (opensBrowser) void ctx.openBrowser(new URL(inspector.url), visit.signal).catch(() => {});
  const close = () => {
    visit.abort();
    return inspector.close();
  };
  return { ...inspector, close };
}
