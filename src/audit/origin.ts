import { type Context, type Origin, withContext } from '../context.ts';

/** The same context, whose writes are recorded as coming from there. */
export const comingFrom = (ctx: Context, origin: Origin): Context =>
  withContext(ctx, { origin: { ...ctx.origin, ...origin } });
