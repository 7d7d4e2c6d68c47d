/** So long what was looked at before a request is what is there, the way of its answer included. */
const freshMs = 3000;

type Ticking = { readonly clock: { ticks(): number } };

/** Whether what was looked at then, in the clock's ticks, is still what is there. */
export const isFresh = ({ clock }: Ticking, seenAt: number): boolean => clock.ticks() - seenAt < freshMs;

/** Known here alone: only `asRead` takes the moment, so nobody takes it too late. */
const leftAt = Symbol('leftAt');

/**
 * What was read, and when the first of its requests left that was answered: an answer may be long on its way, and so may
 * what is read or asked after it. To wait for the limit before it makes nothing older.
 */
export type AsRead<T> = { readonly was: T; readonly [leftAt]: number };

/** In the clock's ticks. */
export const seenAt = (one: AsRead<unknown>): number => one[leftAt];

type Reader = { readonly ctx: Ticking; readonly onAnswered?: (leftAt: number) => void };

/** Reads by a service. What asks for nothing is of when it began. */
export async function asRead<S extends Reader, T>(service: S, read: (reading: S) => Promise<T>): Promise<AsRead<T>> {
  const began = service.ctx.clock.ticks();
  let first: number | undefined;
  const onAnswered = (left: number) => {
    first = Math.min(first ?? left, left);
    service.onAnswered?.(left);
  };
  const was = await read({ ...service, onAnswered });
  return { was, [leftAt]: first ?? began };
}
