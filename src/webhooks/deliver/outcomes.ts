import type { Clock } from '../../context.ts';
import type { InboxStore, Settled } from '../store/inbox-store.ts';
import type { Sink } from './sink.ts';

/** What became of one event. */
export type Became = Omit<Settled['outcome'], 'to' | 'at'>;

export type Outcomes = ReturnType<typeof createOutcomes>;

export type OutcomeOptions = {
  readonly sink: Pick<Sink, 'name'>;
  readonly store: Pick<InboxStore, 'settle'>;
  readonly clock: Clock;
  /** How many may wait to be written: a kill delivers these once more. Default: 25. */
  readonly unwrittenAtMost?: number;
  /** Told of everything that becomes of an event. */
  readonly onSettled: (sink: string, settled: Settled) => void;
  readonly onProblem: (sink: string, error: unknown) => void;
};

/** Between two writings: many events of a quick sink share one, and those of a slow one have one each. */
const betweenMs = 100;
const usualUnwrittenAtMost = 25;
const longestPauseMs = 1_000;

/**
 * What became of the events of one sink, on its way into the inbox: while it is not there, a kill repeats them. What cannot
 * be written is written later: to deliver it again would double it. Without the sink it is given up.
 */
export function createOutcomes(options: OutcomeOptions, cutting: AbortSignal) {
  const { sink, store, clock, onSettled, onProblem, unwrittenAtMost = usualUnwrittenAtMost } = options;
  const done: Settled[] = [];
  let writing: Promise<void> | undefined;
  let isDue = false;
  let wroteAt = Number.NEGATIVE_INFINITY;
  const writeOnce = async (held: AbortSignal) => {
    for (let pause = 100; done.length > 0; pause = Math.min(pause * 2, longestPauseMs)) {
      const some = done.slice();
      try {
        await store.settle(sink.name, some);
        wroteAt = clock.ticks();
        for (const settled of done.splice(0, some.length)) onSettled(sink.name, settled);
        return;
      } catch (error) {
        onProblem(sink.name, error);
        if (held.aborted || cutting.aborted) done.length = 0;
        else await clock.sleep(pause, AbortSignal.any([held, cutting]));
      }
    }
  };
  /** One at a time, so that what becomes of an event is written in its order. */
  const write = (held: AbortSignal): Promise<void> => {
    writing ??= writeOnce(held).finally(() => {
      writing = undefined;
    });
    return writing;
  };
  const writeAll = async (held: AbortSignal) => {
    while (done.length > 0) await write(held);
  };
  const later = async (held: AbortSignal) => {
    isDue = true;
    // It does not have what came since it began.
    await writing;
    const leftMs = wroteAt + betweenMs - clock.ticks();
    if (leftMs > 0) await clock.sleep(leftMs, AbortSignal.any([held, cutting]));
    isDue = false;
    if (!held.aborted && done.length > 0) await write(held);
  };
  return {
    add: (settled: Settled): void => void done.push(settled),
    /** Writes them soon, while the next event is under way. Waits only where too many are not written. */
    async writeSoon(held: AbortSignal): Promise<void> {
      if (done.length >= unwrittenAtMost) await writeAll(held);
      else if (done.length > 0 && !isDue) void later(held);
    },
    /** Resolves once all of them are written, or given up. */
    write: writeAll,
  };
}
