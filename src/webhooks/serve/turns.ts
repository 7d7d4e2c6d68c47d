import type { Clock } from '../../context.ts';
import { listed } from '../../text/listed.ts';

type Needs = {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly notice: (text: string) => void;
  readonly signal: AbortSignal;
};

/** What comes within it is told in one line: an inbox of many accounts has many queues. */
const gatherMs = 1_000;

/**
 * Tells which queues another instance has, which is why nothing is delivered here, and which have come back. What this one
 * has from the beginning is no news. Told of each turn: whether the queue was ours.
 */
export function tellingTurns({ clock, notice, signal }: Needs): (queue: string, isOurs: boolean) => void {
  const elsewhere = new Set<string>();
  const changed = new Set<string>();
  const tell = async () => {
    await clock.sleep(gatherMs, signal);
    if (signal.aborted) return;
    const [others, ours] = [true, false].map((isElsewhere) =>
      [...changed].filter((queue) => elsewhere.has(queue) === isElsewhere).sort(),
    );
    changed.clear();
    if (others?.length)
      notice(
        `Another instance delivers to ${named(others)}. This one goes on there once that one ends, or 15 s after it was killed.`,
      );
    if (ours?.length) notice(`This instance delivers to ${named(ours)} now.`);
  };
  return (queue, isOurs) => {
    if (isOurs !== elsewhere.has(queue)) return;
    if (isOurs) elsewhere.delete(queue);
    else elsewhere.add(queue);
    // There and back within the second: there is nothing to tell.
    if (!changed.delete(queue)) changed.add(queue);
    if (changed.size === 1) void tell();
  };
}

const most = 5;

/** Some of them by name. */
const named = (queues: readonly string[]): string =>
  listed([...queues.slice(0, most), ...(queues.length > most ? [`${queues.length - most} more`] : [])], 'and');
