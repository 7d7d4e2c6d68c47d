import { listCalls } from '../api/calls.ts';
import { listChangelog } from '../api/changelog.ts';
import { listContacts } from '../api/contacts.ts';
import { listFeedback } from '../api/feedback.ts';
import { listTickets } from '../api/tickets.ts';
import type { WebhookEvent } from '../api/webhooks.ts';
import type { Service } from '../http/call/call.ts';
import { list } from '../http/call/pages.ts';
import type { Fields } from '../text/record.ts';
import { inSeconds } from '../text/time.ts';
import { customerMessages, isBefore, type ReadBefore } from './customer-messages.ts';

/** The records behind each event that were made since a moment; others may be among them. */
export type Records = (event: WebhookEvent, since: Date) => AsyncIterable<Fields>;

/** From the API, with as few requests as it allows. */
export const recordsOfService =
  (service: Service, before: ReadBefore): Records =>
  (event, since) =>
    sources[event](service, since, before);

/** Newest first: the first one that is older ends the reading. Several may be made at the very same time. */
async function* untilOlder(records: AsyncIterable<Fields>, since: Date): AsyncGenerator<Fields> {
  for await (const record of records) {
    if (isBefore(record.created_at, since)) return;
    yield record;
  }
}

const leftEarly = { all: true, isLeftEarly: true } as const;

type Source = (service: Service, since: Date, before: ReadBefore) => AsyncIterable<Fields>;

const sources: Readonly<Record<WebhookEvent, Source>> = {
  'contact.created': (service, since) => untilOlder(list(service, listContacts, {}, leftEarly).records, since),
  'call.completed': (service, since) => untilOlder(list(service, listCalls, {}, leftEarly).records, since),
  'ticket.created': (service, since) =>
    list(service, listTickets, { query: { updated_since: inSeconds(since) } }, { all: true }).records,
  'conversation.message_received': customerMessages,
  'changelog.published': (service) =>
    list(service, listChangelog, { query: { status: 'published' } }, { all: true }).records,
  'feedback.created': (service) => list(service, listFeedback, {}, { all: true }).records,
};
