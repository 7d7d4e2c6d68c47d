import type { Clock } from '../../context.ts';
import type { Receipt } from '../receive/options.ts';
import type { Line } from '../store/event-line.ts';
import type { Forwarding } from '../store/forwarding.ts';
import { lineOf, noCounts, summaryOf } from './lines.ts';

/** Turns what happens into lines and counts. One line an event: it waits for the app's first answer, if one is due. */
export type Reporter = {
  readonly lines: Pick<Channel<Line>, 'more' | typeof Symbol.asyncIterator>;
  received(receipt: Receipt, shown: boolean): void;
  forwarded(id: string, event: string | null, forwarding: Forwarding): void;
  /** Every line, also to somebody else. */
  watch(watcher: (line: Line) => void): void;
  /** What still waited is said to wait; then the lines end. */
  end(): void;
  summary(waiting: number): string[];
};

export function createReporter(clock: Pick<Clock, 'now'>): Reporter {
  const lines: Channel<Line> = createChannel();
  const counts = noCounts();
  const watchers: ((line: Line) => void)[] = [];
  const undecided = new Map<string, Receipt>();
  const say = (line: Line): void => {
    lines.push(line);
    for (const watch of watchers) watch(line);
  };
  return {
    lines,
    received(receipt, shown) {
      counts[receipt.kind]++;
      if (!shown) return;
      const to = 'arrival' in receipt ? receipt.arrival.to : undefined;
      if ('arrival' in receipt && to !== undefined) undecided.set(receipt.arrival.id, receipt);
      else say(lineOf(receipt, null));
    },
    forwarded(id, event, forward) {
      if (forward.state === 'failed') counts.failed++;
      else if (forward.state === 'answered' && isGood(forward)) counts.forwarded++;
      else if (forward.state === 'answered') counts.refused++;
      const receipt = undecided.get(id);
      undecided.delete(id);
      if (receipt) say(lineOf(receipt, forward));
      // That it still waits was said in its own line.
      else if (forward.state !== 'waiting') {
        say({ kind: 'forward', time: clock.now().toISOString(), event, id, forward });
      }
    },
    watch: (watcher) => watchers.push(watcher),
    end() {
      for (const receipt of undecided.values()) {
        const to = ('arrival' in receipt && receipt.arrival.to) || '';
        say(lineOf(receipt, { to, state: 'waiting', status: null, error: null, ms: null, tries: 0 }));
      }
      undecided.clear();
      lines.end();
    },
    summary: (waiting) => summaryOf(counts, waiting),
  };
}

/** Of what was answered; a sink that is no URL answers nothing, and has taken it. */
export const isGood = ({ status }: Pick<Forwarding, 'status'>): boolean =>
  status === null || (status >= 200 && status < 300);

/** Values on their way from a producer to the one consumer, in order. */
type Channel<T> = AsyncIterable<T> & {
  push(value: T): void;
  /** Whether another value is there already. */
  more(): boolean;
  /** What was pushed before is still taken; then the iteration ends. */
  end(): void;
};

function createChannel<T>(): Channel<T> {
  let values: T[] = [];
  let taken = 0;
  let ended = false;
  let wake = () => {};
  return {
    push(value) {
      values.push(value);
      wake();
    },
    more: () => taken < values.length,
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        // Also what is pushed meanwhile: an array is read up to its end.
        for (const value of values) {
          taken++;
          yield value;
        }
        values = [];
        taken = 0;
        if (ended) return;
        // Not at once: what comes in the same turn of the event loop is then printed together.
        await new Promise<void>((resolve) => {
          wake = () => setImmediate(resolve);
        });
      }
    },
  };
}
