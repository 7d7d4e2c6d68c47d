import type { Context } from '../context.ts';

/**
 * For one call: once the client has given it up no more of it leaves, and what has left goes on to its end. Where that is
 * lost it may still be looked for, so that the record of writes says what became of it.
 */
export function untilCancelled(ctx: Context, cancelled: AbortSignal): Pick<Context, 'signal' | 'exchange'> {
  let hasLeft = false;
  return {
    signal: AbortSignal.any([ctx.signal, cancelled]),
    exchange: async (request) => {
      const isRead = request.method === 'GET';
      if (cancelled.aborted && !(isRead && hasLeft))
        return { lost: 'before-sending', reason: 'aborted', detail: 'The call was cancelled.' };
      hasLeft ||= !isRead;
      return ctx.exchange({ ...request, signal: ctx.signal });
    },
  };
}
