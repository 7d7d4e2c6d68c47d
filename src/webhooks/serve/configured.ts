import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { queueParts } from '../event/account.ts';
import type { InboxAdmin } from '../store/inbox-store.ts';
import type { Configured } from './config.ts';

/**
 * Which inbox a command looks at, and a sentence for whoever wonders: the one of --config, else that of the `serve` that runs
 * with this state folder. One of another profile is no choice: its inbox is another account's.
 */
export async function choose(ctx: Context, { profile }: Pick<Settings, 'profile'>, config: string | undefined) {
  if (config !== undefined) return { config, about: [] };
  const { runningServes } = await import('./running.ts');
  const running = (await runningServes(ctx.files.state)).filter(
    (one) => one.profile === undefined || one.profile === profile,
  );
  // Several of one configuration share its inbox.
  const [one, ...others] = new Set(running.map((each) => each.config));
  if (one === undefined) return { config: undefined, about: [] };
  if (others.length === 0) {
    return { config: one, about: [`This is the inbox of the svc webhooks serve that runs with ${one}.`] };
  }
  throw new Failure('usage', 'More than one svc webhooks serve runs, so --config FILE is needed.', {
    hint: `They run with: ${[one, ...others].join(', ')}`,
  });
}

/** Said where it is the folder of `listen`: there may be another inbox, and an empty one looks like a lost event. */
export const lookedIn = (root: string): string =>
  `Looked in ${root}, the inbox of svc webhooks listen. For that of serve: --config FILE`;

type Opened = { readonly admin: InboxAdmin; readonly configured: Configured | undefined };

/** `work` with the inbox of `serve`: the one that the configuration names, else the one in the state folder. */
export async function withConfigured<T>(
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { readServeConfig } = await import('./config.ts');
  const configured = config === undefined ? undefined : await readServeConfig(ctx, config);
  const admin = await adminOf(ctx, settings, configured);
  return work({ admin, configured }).finally(() => admin.close());
}

/** The same of a configuration that is read already. */
export async function adminOf(
  ctx: Context,
  { profile }: Settings,
  configured: Configured | undefined,
): Promise<InboxAdmin> {
  const { placeOfInbox } = await import('../store/place.ts');
  const { openInboxAdmin } = await import('../store/inbox-admin.ts');
  const place = placeOfInbox(ctx, { inbox: configured?.config.inbox, folder: configured?.folder ?? '.', profile });
  return openInboxAdmin(ctx, place);
}

/** `urlOf` takes the name of a sink, or a queue of it. */
export type HttpSinks = { readonly names: readonly string[]; readonly urlOf: (queue: string) => string | undefined };

export async function httpSinks(ctx: Context, path: string): Promise<HttpSinks> {
  const { readServeConfig } = await import('./config.ts');
  const { config } = await readServeConfig(ctx, path);
  const urls = new Map(config.sinks.flatMap(({ name, http }) => (http ? [[name, http.url]] : [])));
  return { names: [...urls.keys()], urlOf: (queue) => urls.get(queueParts(queue).sink) };
}
