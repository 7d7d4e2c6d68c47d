import { envelopeIn } from '../event/envelope.ts';
import type { Received } from './folder/inbox.ts';
import type { Outcome } from './line.ts';

/** A delivery with everything that is known of it, as the inspector and `inbox show` give it. */
export type Delivery = {
  readonly id: string;
  /** Of several accounts in one inbox: whose it is; null where there is one alone. */
  readonly account: string | null;
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
    account: arrival.account ?? null,
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
