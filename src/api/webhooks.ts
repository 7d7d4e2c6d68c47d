import * as v from 'valibot';
import { described, filled, id, when, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

/** The six events that the service sends (service.md#webhooks-4). */
export const webhookEvents = [
  'contact.created',
  'call.completed',
  'ticket.created',
  'conversation.message_received',
  'changelog.published',
  'feedback.created',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

/** The `data` object of each event's envelope. */
export const webhookData = {
  'contact.created': v.looseObject({
    contact_id: id,
    name: v.string(),
    email: v.nullable(v.string()),
    phone: v.nullable(v.string()),
    lead_status: v.string(),
  }),
  'call.completed': v.looseObject({
    phone_call_id: id,
    contact_id: id,
    from: v.string(),
    to: v.string(),
    duration: described('Seconds', whole),
    ended_reason: v.string(),
  }),
  'ticket.created': v.looseObject({
    ticket_id: id,
    account_id: id,
    ticket_number: v.string(),
    subject: v.string(),
    status: v.string(),
    priority: whole,
    source: v.string(),
    contact_id: v.nullable(id),
    created_at: when,
  }),
  'conversation.message_received': v.looseObject({
    conversation_id: id,
    message_id: id,
    account_id: id,
    contact_id: v.nullable(id),
    channel: v.string(),
    sender_type: v.string(),
    body: described('Cut to 2000 characters', v.string()),
    created_at: when,
  }),
  'changelog.published': v.looseObject({
    entry_id: id,
    account_id: id,
    title: v.string(),
    version: v.nullable(v.string()),
    slug: v.string(),
    published_at: when,
  }),
  'feedback.created': v.looseObject({
    post_id: id,
    account_id: id,
    title: v.string(),
    status: v.string(),
    category_id: v.nullable(id),
    created_at: when,
  }),
} as const satisfies Record<WebhookEvent, v.GenericSchema>;

/** As in lists. The signing secret is shown only by createWebhook, once. */
export const Webhook = v.looseObject({
  id,
  event_type: v.string(),
  target_url: v.string(),
  is_active: v.boolean(),
  created_at: when,
});

const isLoopbackHttp = (url: URL): boolean =>
  url.protocol === 'http:' && (/^127(\.\d+){3}$/u.test(url.hostname) || ['localhost', '[::1]'].includes(url.hostname));

/** The service takes HTTPS only. Loopback http:// passes here because a sandbox may be told to allow it. */
export const webhookTarget = v.pipe(
  v.string(),
  v.check((value) => {
    if (/\s/u.test(value) || !URL.canParse(value)) return false;
    const url = new URL(value);
    return url.protocol === 'https:' || isLoopbackHttp(url);
  }, 'must be an https:// URL'),
  v.metadata({ format: 'uri', pattern: '^https://\\S+$' }),
);

// An account API key is refused here (Events and webhooks).
const credentials = ['oauth'] as const;

export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/oauth-platform/webhooks',
  summary: 'List the webhook subscriptions that this login created',
  command: ['webhooks', 'list'],
  resource: 'subscriptions',
  scope: 'webhooks:manage',
  credentials,
  response: v.looseObject({ webhooks: v.array(Webhook) }),
  answer: { shape: 'list', key: 'webhooks', paged: false, sortedBy: 'not said' },
});

export const createWebhook = defineOperation({
  id: 'createWebhook',
  method: 'POST',
  path: '/oauth-platform/webhooks',
  summary: 'Subscribe a URL to an event',
  rules: 'The subscription ends when the customer disconnects the app. The signing secret is shown once.',
  refuses: 'The target is not an HTTPS address.',
  command: ['webhooks', 'create'],
  resource: 'subscriptions',
  scope: 'webhooks:manage',
  credentials,
  body: v.object({
    event_type: v.picklist(webhookEvents, `must be one of ${webhookEvents.join(', ')}`),
    target_url: webhookTarget,
  }),
  status: 201,
  response: v.looseObject({
    id,
    event_type: v.string(),
    target_url: v.string(),
    signing_secret: described('Shown once', filled),
  }),
  safety: 'verify', // one that is found by looking has lost its secret, so it is named and not taken
  effect: { of: 'The subscription', done: 'created', lookHint: 'Look with: svc webhooks list' },
  makes: ['id'],
  grant: 'webhooks',
  secret: 'signing_secret',
});

export const deleteWebhook = defineOperation({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/oauth-platform/webhooks/{webhook}',
  summary: 'Delete a webhook subscription',
  command: ['webhooks', 'delete'],
  resource: 'subscriptions',
  ids: { webhook: 'subscriptions' },
  scope: 'webhooks:manage',
  credentials,
  response: v.looseObject({ status: v.literal('ok') }),
  safety: 'repeatable',
  effect: { of: 'The subscription', done: 'deleted', lookHint: 'Look with: svc webhooks list' },
  deletes: true,
  destructive: true,
  grant: 'webhooks',
});
