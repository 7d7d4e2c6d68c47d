import type { Context, Origin } from '../context.ts';

/** The same context, whose writes are recorded as coming from there. */
export const comingFrom = (ctx: Context, origin: Origin): Context =>
  Object.create(ctx, { origin: { value: { ...ctx.origin, ...origin } } });
