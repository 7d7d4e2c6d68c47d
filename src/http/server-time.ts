/**
 * When, by the service's clock, did our first attempt begin? Nothing but the `Date` headers of later answers tells, and
 * they have whole seconds. Each answer bounds how far the service's clock is ahead of ours; several bounds together
 * narrow it, and an answer that is fetched just as the service's second should turn halves what is left.
 */
export type Offset = { readonly low: number; readonly high: number };

/** Our clock around one answer, and the answer's `Date`, all in milliseconds. */
export type Sample = { readonly sentMs: number; readonly receivedMs: number; readonly dateMs: number };

export const anyOffset: Offset = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** The service wrote `Date` some time between our sending and our receiving, and up to a second before its true time. */
export const narrow = (offset: Offset, { sentMs, receivedMs, dateMs }: Sample): Offset => {
  const next = {
    low: Math.max(offset.low, dateMs - receivedMs),
    high: Math.min(offset.high, dateMs + 1000 - sentMs),
  };
  // A clock that was set meanwhile contradicts itself: begin anew with what is known last.
  return next.low <= next.high ? next : { low: dateMs - receivedMs, high: dateMs + 1000 - sentMs };
};

export type Age = 'older' | 'newer' | 'unclear';

/** Was a record made before or after the moment `startedMs` of our clock? A `created_at` without fraction is a second wide. */
export function ageOf(createdAt: string, startedMs: number, offset: Offset): Age {
  const created = Date.parse(createdAt);
  if (Number.isNaN(created)) return 'unclear';
  const createdHigh = created % 1000 === 0 ? created + 999 : created;
  if (createdHigh < startedMs + offset.low) return 'older';
  if (created >= startedMs + offset.high) return 'newer';
  return 'unclear';
}

/** How long to wait so that the next answer's `Date` tells which half of the offset is true. */
export function untilTellingMs(nowMs: number, offset: Offset): number {
  const middle = (offset.low + offset.high) / 2;
  const fraction = (nowMs + middle) % 1000;
  return (1000 - fraction) % 1000;
}
