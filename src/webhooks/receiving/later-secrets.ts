import type { Clock } from '../../context.ts';

/** A forged delivery costs no more than its share of one reading in this time. */
const pauseMs = 1_000;

/**
 * Reads again when asked, at most once a second, and resolves to whether it could. Whoever asks gets a reading that
 * began after the question: an earlier one may have missed what was stored since. So some wait for the next one.
 */
export function readingAgain(clock: Pick<Clock, 'ticks' | 'sleep'>, read: () => Promise<void>): () => Promise<boolean> {
  let last = Number.NEGATIVE_INFINITY;
  let running: Promise<boolean> = Promise.resolve(true);
  let next: Promise<boolean> | undefined;
  const readNext = async (): Promise<boolean> => {
    await running;
    const leftMs = last + pauseMs - clock.ticks();
    if (leftMs > 0) await clock.sleep(leftMs);
    next = undefined;
    last = clock.ticks();
    running = read().then(
      () => true,
      () => false,
    );
    return running;
  };
  return () => {
    next ??= readNext();
    return next;
  };
}
