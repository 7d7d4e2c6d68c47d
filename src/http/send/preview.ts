import { type Context, type Preview, withContext } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { readBody } from '../../retry/own-word.ts';
import type { Wire } from '../exchange/request.ts';

/** The same context, in which nothing that writes goes out. */
export function previewing(ctx: Context): { readonly ctx: Context; readonly preview: Preview } {
  const end = new Failure('failed', 'With --dry-run nothing is sent.');
  const preview: Preview = { requests: [], end };
  return { ctx: withContext(ctx, { preview }), preview };
}

/** Whether a command of `ctx` ended at a request that is only shown. */
export const isShownOnly = ({ preview }: Pick<Context, 'preview'>, error: unknown): boolean =>
  preview !== undefined && preview.end === error;

/** Notes the request. Never returns: what a command does once its write is done must not happen. */
export function showInstead(preview: Preview, { method, path, body }: Wire): never {
  const read = readBody(body ?? '');
  const shown = read.form === 'json' ? read.json : (body ?? null);
  preview.requests.push({ method, path, body: body === undefined ? null : shown });
  throw preview.end;
}
