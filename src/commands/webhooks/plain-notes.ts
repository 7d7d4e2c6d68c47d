import type { Output } from '../../config/settings.ts';
import { type Context, withContext } from '../../context.ts';
import { sanitize } from '../../text/sanitize.ts';

/**
 * For what runs for months and notes what others wrote: an id, an answer, what a program said. None of it may hide or
 * colour what comes behind it in the log, or look like a line of svc.
 */
export function withPlainNotes(ctx: Context): Context {
  const notice = (text: string) => ctx.notice(sanitize(text));
  return withContext(ctx, { notice });
}

/** The same as a log: where it is read later, each line says when it was written, as JSON beside JSON. On a terminal somebody sees it come. */
export function withLogLines(outer: Context, output: Output | undefined): Context {
  const ctx = withPlainNotes(outer);
  if (outer.stderr.isTTY) return ctx;
  const isJson = output === 'json' || output === 'jsonl';
  const notice = (text: string) => {
    const time = ctx.clock.now().toISOString();
    ctx.notice(isJson ? JSON.stringify({ time, message: sanitize(text) }) : `${time} ${text}`);
  };
  return withContext(ctx, { notice });
}
