import * as v from 'valibot';
import { described, email, filled, metadata, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

/** Triggers that record a conversion when the attribution carries ad parameters; others are not shown. */
export const conversionTriggers = ['order_create', 'user_create', 'user_subscriptions_create'] as const;

export const attributionKeys = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'fbclid',
  'gclid',
  'svc_ad',
] as const;

const attributionEntries = v.entriesFromList(attributionKeys, v.optional(v.string()));

export const EventContact = v.pipe(
  v.object({
    name: filled,
    last_name: v.optional(v.string()),
    email: v.optional(email),
    phone: v.optional(filled),
  }),
  v.check((contact) => Boolean(contact.email || contact.phone), 'needs an email or a phone'),
  v.metadata({ anyOf: [{ required: ['email'] }, { required: ['phone'] }] }),
);

export const sendEvent = defineOperation({
  id: 'sendEvent',
  method: 'POST',
  path: '/integrations/{partner}/events',
  summary: 'Send a product event that may start sequences',
  command: ['events', 'send'],
  resource: 'events',
  scope: 'sequences:trigger',
  body: v.object({
    trigger: described('The event key that a sequence listens for', filled),
    external_ref: v.optional(described("The caller's own id", v.string())),
    contact: EventContact,
    metadata: v.optional(described('Stored on the contact', metadata)),
    attribution: v.optional(v.object(attributionEntries)),
    kpi: v.optional(
      v.object({
        value_minor: described('In minor units: 1999 is 19.99', whole),
        currency: described(
          'ISO currency code',
          v.pipe(v.string(), v.regex(/^[A-Z]{3}$/u, 'must be an ISO currency code like EUR')),
        ),
      }),
    ),
  }),
  status: 200,
  response: v.looseObject({ status: v.literal('ok'), enrolled: whole }),
  answer: { shape: 'record' },
  safety: 'once',
  effect: {
    of: 'The event',
    done: 'received',
    lookHint: 'The API shows no events: look at the sequence in the product.',
  },
  grant: 'send', // it may start a sequence, which writes to the contact
});
