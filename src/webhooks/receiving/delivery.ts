import type { Received } from '../inbox/inbox.ts';
import type { Arrival, Outcome } from '../inbox/line.ts';
import type { EventLine } from '../lines.ts';
import type { Forwarding } from '../sinks/forward.ts';
import { type Envelope, readEnvelope } from './judge.ts';

/** A delivery with everything that is known of it, as the inspector and `inbox show` give it. */
export type Delivery = {
  readonly id: string;
  readonly event: string | null;
  readonly received_at: string;
  readonly verdict: 'accepted' | 'unreadable';
  readonly why: string | null;
  readonly size: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text; null where it is not UTF-8, and then `base64` holds it. */
  readonly body: string | null;
  readonly base64: string | null;
  /** Null where there is none to be read. */
  readonly envelope: unknown;
  readonly forwards: readonly Outcome[];
};

export function deliveryOf({ arrival, outcomes }: Received): Delivery {
  const bytes = Buffer.from(arrival.body);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  return {
    id: arrival.id,
    event: arrival.event,
    received_at: arrival.at,
    verdict: arrival.unreadable === undefined ? 'accepted' : 'unreadable',
    why: arrival.unreadable ?? null,
    size: bytes.length,
    headers: arrival.headers,
    body: isText ? text : null,
    base64: isText ? null : bytes.toString('base64'),
    envelope: envelopeIn(arrival.body) ?? null,
    forwards: outcomes,
  };
}

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

const waitingFor = (to: string | null): Forwarding => ({
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

/** The line that was printed when it came, from what is stored. */
export function pastLine(received: Received): EventLine {
  const { id, event, at, unreadable } = received.arrival;
  const { created_at = null, data = null } = envelopeIn(received.arrival.body) ?? {};
  const verdict = unreadable === undefined ? 'accepted' : 'unreadable';
  const forward = forwardOf(received.arrival, received.outcomes);
  return { kind: 'event', time: at, event, id, verdict, why: unreadable ?? null, created_at, data, forward };
}

export function envelopeIn(body: Uint8Array): Envelope | undefined {
  const read = readEnvelope(body, null);
  return 'why' in read ? undefined : read;
}
