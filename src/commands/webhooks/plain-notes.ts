import type { Output } from '../../config/settings.ts';
import { type Context, withContext } from '../../context.ts';
import { sanitize, toJson } from '../../text/sanitize.ts';
import type { Log } from '../../webhooks/serve/problems.ts';

/**
 * For what runs for months and notes what others wrote: an id, an answer, what a program said. None of it may hide or
 * colour what comes behind it in the log, or look like a line of svc.
 */
export function withPlainNotes(ctx: Context): Context {
  const notice = (text: string) => ctx.notice(sanitize(text));
  return withContext(ctx, { notice });
}

/**
 * The same as a log: where it is read later, each line says when it was written, as JSON beside JSON, with what a program wants to
 * know of it. On a terminal somebody sees it come.
 */
export function withLogLines(outer: Context, output: Output | undefined): { readonly ctx: Context; readonly log: Log } {
  const ctx = withPlainNotes(outer);
  if (outer.stderr.isTTY) return { ctx, log: ctx.notice };
  const isJson = output === 'json' || output === 'jsonl';
  const log: Log = (text, about) => {
    const time = ctx.clock.now().toISOString();
    ctx.notice(isJson ? toJson({ time, message: sanitize(text), ...about }) : `${time} ${text}`);
  };
  return { ctx: withContext(ctx, { notice: (text) => log(text) }), log };
}
