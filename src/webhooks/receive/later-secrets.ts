import type { Clock, Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { inTime } from '../../promise/in-time.ts';

/** A forged delivery costs no more than its share of one reading in this time. */
const pauseMs = 1_000;

/** A keyring that asks somebody, or a folder on another machine, may never answer. The service waits 10 s (service.md#delivery-1). */
const readMs = 8_000;

/** Rejects where the secrets cannot be read in time. */
export const readInTime = <T>(clock: Pick<Clock, 'sleep'>, reading: Promise<T>): Promise<T> =>
  inTime(clock, readMs, reading);

type Ports = Pick<Context, 'notice'> & { readonly clock: Pick<Clock, 'ticks' | 'sleep'> };

/**
 * Reads again when asked, at most once a second, and resolves to whether it could. Whoever asks gets a reading that
 * began after the question: an earlier one may have missed what was stored since. So some wait for the next one. One that
 * takes longer than 8 s counts as failed, and until it is over after all no other is begun. Where it cannot
 * be read that is told, once until it can be again.
 */
export function readingAgain({ clock, notice }: Ports, read: () => Promise<void>): () => Promise<boolean> {
  let last = Number.NEGATIVE_INFINITY;
  let running: Promise<boolean> = Promise.resolve(true);
  let next: Promise<boolean> | undefined;
  let isReading = false;
  let isTold = false;
  const readOnce = async (): Promise<boolean> => {
    // Readings that hang must not pile up: those of files would keep the inbox from the disk.
    if (isReading) return false;
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    return readInTime(clock, reading).then(
      () => {
        isTold = false;
        return true;
      },
      (error: unknown) => {
        if (!isTold) notice(cannotRead(error));
        isTold = true;
        return false;
      },
    );
  };
  const readNext = async (): Promise<boolean> => {
    await running;
    const leftMs = last + pauseMs - clock.ticks();
    if (leftMs > 0) await clock.sleep(leftMs);
    next = undefined;
    last = clock.ticks();
    running = readOnce();
    return running;
  };
  return () => {
    next ??= readNext();
    return next;
  };
}

const cannotRead = (error: unknown): string =>
  `The stored secrets cannot be read (${messageOf(error).replace(/\.$/u, '')}): what fits no other is not answered, so that the service sends it again.`;
