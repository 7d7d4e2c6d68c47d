import type { Context } from '../../context.ts';

/** So long what was looked at before a request is what is there, the way of its answer included. */
const freshMs = 3000;

/** Whether what was looked at then, in the clock's ticks, is still what is there. */
export const isFresh = ({ clock }: Pick<Context, 'clock'>, seenAt: number): boolean => clock.ticks() - seenAt < freshMs;
