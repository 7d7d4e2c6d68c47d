import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import { jsonIn } from '../../text/json.ts';
import { type Fields, fieldsIn, textIn } from '../../text/record.ts';

/** The field of `data` that names the record of each event. */
const idFields: Readonly<Record<WebhookEvent, string>> = {
  'contact.created': 'contact_id',
  'call.completed': 'phone_call_id',
  'ticket.created': 'ticket_id',
  'conversation.message_received': 'message_id',
  'changelog.published': 'entry_id',
  'feedback.created': 'post_id',
};

export const recordKey = (event: WebhookEvent, id: number): string => `${event}:${id}`;

/**
 * The id of a sample from `svc webhooks trigger` begins so: it tells of no record, whatever its data says. As a part of
 * what is signed nobody can put it on an event of the service.
 */
export const samplePrefix = 'evt_sample_';

/**
 * What happened, told apart from all else that happens: the same for a live event and for the one that is rebuilt for
 * it. Each event happens once to its record, but an entry may be published again, at another time.
 */
export function happeningOf(envelope: Fields): string | undefined {
  const record = recordOf(envelope);
  if (record === undefined || envelope.event !== 'changelog.published') return record;
  const published = Date.parse(textIn(fieldsIn(envelope.data).published_at) ?? '');
  return Number.isNaN(published) ? undefined : `${record}@${Math.floor(published / 1000)}`;
}

export const happeningIn = (body: Uint8Array): string | undefined => happeningOf(envelopeOf(body));

/** The field of `data` that names what the events of one lane are about: a message is about its conversation. */
const laneFields: Readonly<Record<WebhookEvent, string>> = {
  ...idFields,
  'conversation.message_received': 'conversation_id',
};

/**
 * The lane of a body: what is about one record goes in order. What names no record, or is no event of the service, is in
 * one lane together.
 */
export const laneIn = (body: Uint8Array): string => keyBy(laneFields, envelopeOf(body)) ?? '';

export const isSample = ({ id }: Fields): boolean => typeof id === 'string' && id.startsWith(samplePrefix);

/** The record that an envelope tells of; undefined where it is none of the service's events. */
export const recordOf = (envelope: Fields): string | undefined =>
  isSample(envelope) ? undefined : keyBy(idFields, envelope);

function keyBy(fields: typeof idFields, { event: name, data }: Fields): string | undefined {
  const event = webhookEvents.find((each) => each === name);
  const id = event && fieldsIn(data)[fields[event]];
  return event && Number.isSafeInteger(id) ? recordKey(event, Number(id)) : undefined;
}

/** Empty where the body is none. */
export const envelopeOf = (body: Uint8Array): Fields => fieldsIn(jsonIn(Buffer.from(body).toString('utf8')));
