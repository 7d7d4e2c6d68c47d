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
