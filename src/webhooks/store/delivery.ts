import { envelopeIn } from '../event/envelope.ts';
import type { Received } from './folder/look-up.ts';

export type Delivery = ReturnType<typeof deliveryOf>;

/** A delivery with everything that is known of it, as the inspector and `inbox show` give it. */
export function deliveryOf({ arrival, outcomes }: Received) {
  const bytes = Buffer.from(arrival.body);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  return {
    id: arrival.id,
    /** Of several accounts in one inbox: whose it is; null where there is one alone. */
    account: arrival.account ?? null,
    event: arrival.event,
    received_at: arrival.at,
    verdict: arrival.unreadable === undefined ? 'accepted' : 'unreadable',
    why: arrival.unreadable ?? null,
    size: bytes.length,
    headers: arrival.headers,
    /** The body as text; null where it is not UTF-8, and then `base64` holds it. */
    body: isText ? text : null,
    base64: isText ? null : bytes.toString('base64'),
    /** Null where there is none to be read. */
    envelope: envelopeIn(arrival.body) ?? null,
    forwards: outcomes,
  };
}
