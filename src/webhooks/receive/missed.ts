import type { Context } from '../../context.ts';
import { Failure, type FailureKind, messageOf } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import type { Arrival } from '../store/line.ts';

/** What never arrived, for a receiver that starts. */
export type Missed = {
  /** Fixes and stores from when on it is searched: before anything comes live, for that would look like the last event. */
  begin(): Promise<void>;
  /** From there on. Once it has ended by itself, and what it gave is stored, the next search begins later. */
  search(): AsyncIterable<readonly Arrival[]>;
  /** ISO 8601; undefined where nothing says from when on. */
  since(): string | undefined;
};

type Taking = {
  /** Stores them, and says how many were not there before. */
  readonly take: (arrivals: readonly Arrival[]) => Promise<number>;
  /** Ends the wait for another search. */
  readonly signal: AbortSignal;
};

const firstPauseMs = 10_000;
const longestPauseMs = 300_000;

/** Those that only a person can fix. */
const lasting: readonly FailureKind[] = ['usage', 'auth', 'forbidden', 'rejected'];

/** Searches until a search is over. Never rejects. */
export async function rebuildMissed(
  { notice, clock }: Pick<Context, 'notice' | 'clock'>,
  missed: Missed,
  { take, signal }: Taking,
): Promise<void> {
  for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(2 * pause, longestPauseMs)) {
    try {
      for await (const arrivals of missed.search())
        notice(`Rebuilt ${counted(await take(arrivals), 'event')} that never arrived.`);
      return;
    } catch (error) {
      const isLasting = error instanceof Failure && lasting.includes(error.kind);
      const since = missed.since();
      const [byHand, from] = since === undefined ? ['', ''] : [` --since ${since}`, ` at ${since}`];
      const next = isLasting
        ? `Once that is fixed, run: svc webhooks catch-up${byHand}`
        : `svc tries again in ${pause / 1000} s, and begins${from} then too.`;
      notice(`What never arrived could not be rebuilt: ${messageOf(error)} ${next}`);
      if (isLasting) return;
    }
    await clock.sleep(pause, signal);
  }
}
