import type { Arrival, Outcome } from './line.ts';

/** How passing a delivery on stands. `answered`: the app gave a status, whichever. */
export type Forwarding = {
  /** Null while only the next listener knows it. */
  readonly to: string | null;
  readonly state: 'answered' | 'waiting' | 'failed';
  readonly status: number | null;
  readonly error: string | null;
  /** Of the last attempt. */
  readonly ms: number | null;
  readonly tries: number;
};

type Owing = Pick<Arrival, 'to' | 'owed' | 'sinks'>;

/**
 * How it stands with the app: the last word of the forwarding itself, else of a replay, else that it is owed. Of several sinks
 * the one that needs somebody most.
 */
export function forwardOf(arrival: Owing, outcomes: readonly Outcome[]): Forwarding | null {
  const last = mostUrgent(outcomes) ?? outcomes.at(-1);
  const first = firstTurns(arrival.sinks ?? [], outcomes);
  if (first.length > 0 && !isUrgent(last)) return waitingFor(first.join(', '));
  if (last?.state === 'skipped' || last?.skipped) return null;
  if (last) {
    const { status = null, error = null, ms, tries } = last;
    return { to: last.to, state: stateOf(last), status, error, ms, tries };
  }
  const { to } = arrival;
  return to === undefined && !arrival.owed ? null : waitingFor(to ?? null);
}

export const waitingFor = (to: string | null): Forwarding => ({
  to,
  state: 'waiting',
  status: null,
  error: null,
  ms: null,
  tries: 0,
});

/** The sinks that did not have their first turn with it. */
const firstTurns = (sinks: readonly string[], outcomes: readonly Outcome[]): string[] =>
  sinks.filter((sink) => !outcomes.some(({ to, replay }) => to === sink && !replay));

/** Tried in vain: more than a wait for one's turn. */
const isUrgent = (last: Outcome | undefined): boolean =>
  last?.state === 'dead' || last?.state === 'failed' || last?.state === 'again';

const byUrgency: readonly Outcome['state'][] = [
  'dead',
  'failed',
  'again',
  'delivered',
  undefined,
  'dropped',
  'skipped',
];

/** Of the last word of each sink. What has no state has one app, and its last word counts. */
function mostUrgent(outcomes: readonly Outcome[]): Outcome | undefined {
  const own = outcomes.filter(({ replay }) => !replay);
  if (own.every(({ state }) => state === undefined)) return own.at(-1);
  const lastOfEach = [...new Map(own.map((one) => [one.to, one])).values()];
  return lastOfEach.sort((a, b) => byUrgency.indexOf(a.state) - byUrgency.indexOf(b.state))[0];
}

/** A sink of `serve` that is no URL gives no status. */
function stateOf({ state, status }: Outcome): Forwarding['state'] {
  if (state === 'delivered') return 'answered';
  if (state === 'failed' || state === 'again') return 'waiting';
  return status === undefined || state !== undefined ? 'failed' : 'answered';
}
