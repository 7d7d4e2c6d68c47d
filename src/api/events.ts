import * as v from 'valibot';
import { described, email, filled, metadata, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

/** Triggers that record a conversion when the attribution carries ad parameters; others are not shown. */
export const conversionTriggers = ['order_create', 'user_create', 'user_subscriptions_create'] as const;

const told = (about: string) => v.optional(described(about, v.string()));

/** Where a visitor came from, as the address that they followed tells it. */
const attributionEntries = {
  utm_source: told('Site or letter that sent the visitor, for example newsletter'),
  utm_medium: told('Kind of link, for example email or cpc'),
  utm_campaign: told('Campaign that the link belongs to'),
  utm_content: told('Which of several links it was'),
  utm_term: told('Search words that were paid for'),
  fbclid: told('Click id that Facebook adds to a link'),
  gclid: told('Click id that Google Ads adds to a link'),
  svc_ad: told("The product's own ad parameter"),
};

export type AttributionKey = keyof typeof attributionEntries;

// Object.keys does not know that these are all.
export const attributionKeys = Object.keys(attributionEntries) as AttributionKey[];

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
  rules:
    'A matching sequence enrolls the contact. A contact that is created this way is a quarantined shadow contact, unless the account opted in to exporting real contacts. With ad parameters and the trigger order_create, user_create or user_subscriptions_create a conversion is recorded.',
  refuses: 'The contact has neither an email nor a phone.',
  command: ['events', 'send'],
  resource: 'events',
  namedBy: 'trigger',
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
  response: v.looseObject({ status: v.literal('ok'), enrolled: whole }),
  safety: 'once',
  effect: {
    of: 'The event',
    done: 'received',
    lookHint: 'The API shows no events: look at the sequence in the product.',
  },
  grant: 'send', // it may start a sequence, which writes to the contact
});
