import * as v from 'valibot';
import { sign } from '../../api/signature.ts';
import type { WebhookEvent } from '../../api/webhooks.ts';
import type { Outcome } from './post.ts';

/** One body on its way to one subscription, as `GET /_sandbox/state` shows it. */
export const DeliveryRow = v.object({
  id: v.number(),
  /** The envelope's. A duplicate is a row of its own with the same id. */
  envelope_id: v.string(),
  account_id: v.number(),
  subscription_id: v.number(),
  event: v.string(),
  target_url: v.string(),
  /** The very text whose bytes are signed and sent, in each attempt. */
  body: v.string(),
  signature: v.string(),
  created_at: v.string(),
  /** `refused`: an answer other than 2xx. `failed`: no connection. `cancelled`: the subscription ended before. */
  status: v.picklist(['pending', 'delivered', 'refused', 'failed', 'cancelled']),
  /** `status` is that of the HTTP answer, null where none came. */
  attempts: v.array(v.object({ at: v.string(), outcome: v.string(), status: v.nullable(v.number()) })),
  next_attempt_at: v.nullable(v.string()),
});
export type Delivery = Readonly<v.InferOutput<typeof DeliveryRow>>;

export type Subscription = {
  readonly id: number;
  readonly account_id: number;
  readonly target_url: string;
  readonly signing_secret: string;
};

/** The receiver should answer within this time (service.md#delivery-1). */
export const answerWithinMs = 10_000;

/** Before the second and the third attempt. There is no fourth (service.md#delivery-2). */
const waitsMs = [10_000, 60_000];

/** A delivery that has yet to be attempted, with its envelope written and signed. */
export function newDelivery(
  { id: subscription_id, account_id, target_url, signing_secret }: Subscription,
  {
    event,
    data,
    badSignature,
  }: { readonly event: WebhookEvent; readonly data: object; readonly badSignature: boolean },
  { id, now, random }: { readonly id: number; readonly now: Date; readonly random: (bytes: number) => Uint8Array },
): Delivery {
  const envelope_id = `evt_${Buffer.from(random(12)).toString('hex')}`;
  const created_at = now.toISOString();
  // ISO 8601 with offset (service.md#webhooks-2).
  const body = JSON.stringify({ event, id: envelope_id, created_at: created_at.replace('Z', '+00:00'), data });
  return {
    id,
    envelope_id,
    account_id,
    subscription_id,
    event,
    target_url,
    body,
    // A bad signature looks like a good one, but is made with another key.
    signature: sign(badSignature ? `not ${signing_secret}` : signing_secret, Buffer.from(body)),
    created_at,
    status: 'pending',
    attempts: [],
    next_attempt_at: created_at,
  };
}

/** The delivery after an attempt. Only a connection that failed is tried again; an answer is an answer (service.md#delivery-3). */
export function afterAttempt(delivery: Delivery, outcome: Outcome, startedAt: Date, endedAt: Date): Delivery {
  const status = outcome.outcome === 'answered' ? outcome.status : null;
  const attempts = [...delivery.attempts, { at: startedAt.toISOString(), outcome: outcome.outcome, status }];
  const ended = (how: Delivery['status']): Delivery => ({ ...delivery, attempts, status: how, next_attempt_at: null });
  if (status !== null) return ended(status >= 200 && status < 300 ? 'delivered' : 'refused');
  const wait = waitsMs[attempts.length - 1];
  if (wait === undefined || outcome.outcome === 'not_allowed') return ended('failed');
  return { ...delivery, attempts, next_attempt_at: new Date(endedAt.getTime() + wait).toISOString() };
}
