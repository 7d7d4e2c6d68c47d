import type { Clock } from '../context.ts';
import { counted } from '../text/number.ts';

/** Rejects where the work takes longer. It is not ended: whoever asks only waits for it no more. */
export async function inTime<T>(clock: Pick<Clock, 'sleep'>, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then((): never => {
    throw new Error(`It took more than ${counted(Math.round(ms / 1_000), 'second')}.`);
  });
  return Promise.race([work, late]).finally(() => over.abort());
}

/** Undefined where it takes longer, or fails: nothing holds up the end. */
export const within = <T>(clock: Pick<Clock, 'sleep'>, ms: number, work: Promise<T>): Promise<T | undefined> =>
  inTime(clock, ms, work).catch(() => undefined);
