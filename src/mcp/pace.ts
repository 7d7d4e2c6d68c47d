import type { Clock } from '../context.ts';

/** Assistant connector tool calls: 120 a minute per connection (service.md#limits-4). */
export const callsPerMinute = 120;

/** Takes a place for one call. Undefined: go on; otherwise the seconds until the next place is free. */
export function createPace(clock: Pick<Clock, 'ticks'>): () => number | undefined {
  let taken: number[] = [];
  return () => {
    const now = clock.ticks();
    taken = taken.filter((at) => at > now - 60_000);
    const [first] = taken;
    if (first !== undefined && taken.length >= callsPerMinute) return Math.ceil((first + 60_000 - now) / 1000);
    taken.push(now);
    return undefined;
  };
}
