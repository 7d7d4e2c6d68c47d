import { envelopeIn } from '../event/envelope.ts';
import type { Received } from './folder/look-up.ts';
import { type Forwarding, forwardOf } from './forwarding.ts';

/** One delivery, as `listen --json` prints it: a line each. */
export type EventLine = {
  readonly kind: 'event';
  /** When it came, ISO 8601. */
  readonly time: string;
  readonly event: string | null;
  /** The envelope's id; one that svc gave it where it is unreadable; null where it was rejected, and so never read. */
  readonly id: string | null;
  readonly verdict: 'accepted' | 'repeat' | 'unreadable' | 'rejected';
  /** Why it was rejected or is unreadable. */
  readonly why: string | null;
  readonly created_at: unknown;
  readonly data: unknown;
  readonly forward: Forwarding | null;
};

/** What became of a delivery that had to wait for the app. */
type ForwardLine = Pick<EventLine, 'time' | 'event'> & {
  readonly kind: 'forward';
  readonly id: string;
  readonly forward: Forwarding;
};

export type Line = EventLine | ForwardLine;

/** The line that was printed when it came, from what is stored. */
export function pastLine(received: Received): EventLine {
  const { id, event, at, unreadable } = received.arrival;
  const { created_at = null, data = null } = envelopeIn(received.arrival.body) ?? {};
  const verdict = unreadable === undefined ? 'accepted' : 'unreadable';
  const forward = forwardOf(received.arrival, received.outcomes);
  return { kind: 'event', time: at, event, id, verdict, why: unreadable ?? null, created_at, data, forward };
}
