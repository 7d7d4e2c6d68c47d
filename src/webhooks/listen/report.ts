import type { Clock } from '../../context.ts';
import { counted } from '../../text/number.ts';
import { isTaken } from '../deliver/post.ts';
import type { Receipt } from '../receive/options.ts';
import type { EventLine, Line } from '../store/event-line.ts';
import { type Forwarding, waitingFor } from '../store/forwarding.ts';

export type Reporter = ReturnType<typeof createReporter>;

/** Turns what happens into lines and counts. One line an event: it waits for the app's first answer, if one is due. */
export function createReporter(clock: Pick<Clock, 'now'>) {
  const lines = createChannel<Line>();
  const counts = noCounts();
  const watchers: ((line: Line) => void)[] = [];
  /** With where it is to go. */
  const undecided = new Map<string, { readonly receipt: Receipt; readonly to: string }>();
  const say = (line: Line): void => {
    lines.push(line);
    for (const watch of watchers) watch(line);
  };
  return {
    lines,
    received(receipt: Receipt, shown: boolean): void {
      counts[receipt.kind]++;
      if (!shown) return;
      const to = 'arrival' in receipt ? receipt.arrival.to : undefined;
      if ('arrival' in receipt && to !== undefined) undecided.set(receipt.arrival.id, { receipt, to });
      else say(lineOf(receipt, null));
    },
    forwarded(id: string, event: string | null, forward: Forwarding): void {
      if (forward.state === 'failed') counts.failed++;
      else if (forward.state === 'answered' && isGood(forward)) counts.forwarded++;
      else if (forward.state === 'answered') counts.refused++;
      const waited = undecided.get(id);
      undecided.delete(id);
      if (waited) say(lineOf(waited.receipt, forward));
      // That it still waits was said in its own line.
      else if (forward.state !== 'waiting') {
        say({ kind: 'forward', time: clock.now().toISOString(), event, id, forward });
      }
    },
    /** Every line, also to somebody else. */
    watch: (watcher: (line: Line) => void) => watchers.push(watcher),
    /** What still waited is said to wait; then the lines end. */
    end(): void {
      for (const { receipt, to } of undecided.values()) say(lineOf(receipt, waitingFor(to)));
      undecided.clear();
      lines.end();
    },
    summary: (waiting: number) => summaryOf(counts, waiting),
  };
}

/** Of what was answered; a sink that is no URL answers nothing, and has taken it. */
export const isGood = ({ status }: Pick<Forwarding, 'status'>): boolean => status === null || isTaken({ status });

/** Values on their way from a producer to the one consumer, in order. */
function createChannel<T>() {
  let values: T[] = [];
  let taken = 0;
  let ended = false;
  let wake = () => {};
  return {
    push(value: T): void {
      values.push(value);
      wake();
    },
    /** Whether another value is there already. */
    more: (): boolean => taken < values.length,
    /** What was pushed before is still taken; then the iteration ends. */
    end(): void {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
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

function lineOf(receipt: Receipt, forward: Forwarding | null): EventLine {
  if (receipt.kind === 'rejected') {
    const { at, why, event } = receipt;
    const nothing = { id: null, created_at: null, data: null, forward: null };
    return { kind: 'event', time: at, event, verdict: 'rejected', ...nothing, why };
  }
  if (receipt.kind === 'unreadable') {
    const { id, event, at } = receipt.arrival;
    const verdict = { verdict: 'unreadable', why: receipt.why } as const;
    return { kind: 'event', time: at, event, id, ...verdict, created_at: null, data: null, forward };
  }
  const { id, event, created_at = null, data = null } = receipt.envelope;
  const time = receipt.kind === 'accepted' ? receipt.arrival.at : receipt.at;
  return { kind: 'event', time, event, id, verdict: receipt.kind, why: null, created_at, data, forward };
}

/** How many of each, for the summary at the end. */
const noCounts = () => ({
  accepted: 0,
  repeat: 0,
  unreadable: 0,
  rejected: 0,
  forwarded: 0,
  refused: 0,
  failed: 0,
});

function summaryOf(counts: ReturnType<typeof noCounts>, waiting: number): string[] {
  const { accepted, repeat, unreadable, rejected, forwarded, refused, failed } = counts;
  const parts = [
    `${counted(accepted, 'event')} received`,
    unreadable > 0 && `${unreadable} unreadable`,
    repeat > 0 && `${repeat} repeated`,
    rejected > 0 && `${rejected} rejected`,
    forwarded > 0 && `${forwarded} forwarded`,
    refused > 0 && `${refused} answered with an error by the app`,
    failed > 0 && `${failed} not forwarded`,
  ];
  const lines = [`${parts.filter(Boolean).join(', ')}.`];
  if (refused + failed > 0) lines.push('To send the newest N events again: svc webhooks inbox replay --last N');
  if (waiting > 0) {
    lines.push(`${waiting} not forwarded yet: kept in the inbox until svc webhooks listen runs again.`);
  }
  return lines;
}
