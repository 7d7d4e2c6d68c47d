import type { WebhookEvent } from '../api/webhooks.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { recordKey } from '../webhooks/event/record-key.ts';
import { rebuiltPrefix } from '../webhooks/store/line.ts';

/** An event made from a record, as the service would have sent it. */
export type Rebuilt = {
  readonly event: WebhookEvent;
  /** As the inbox knows it: the event and the record's id. */
  readonly key: string;
  /** The record's id. */
  readonly id: number;
  /** When it happened, as its record says, ISO 8601. */
  readonly at: string;
  /** Before this moment there was nothing to tell of, ISO 8601. */
  readonly sentAfter: string;
  /** After this moment the service did not begin to send it, ISO 8601. */
  readonly sentBefore: string;
  readonly body: string;
};

/** The fields of each event that its record tells (service.md#webhooks-4); what it does not tell is null. */
const dataOf: Readonly<Record<WebhookEvent, (record: Fields, accountId: unknown) => Fields>> = {
  'contact.created': ({ contact_id, name, email, phone, lead_status }) => {
    return { contact_id, name, email, phone, lead_status };
  },
  'call.completed': ({ phone_call_id, contact_id, from, to, duration }) => {
    return { phone_call_id, contact_id, from, to, duration, ended_reason: null };
  },
  'ticket.created': (ticket, account_id) => {
    const { id: ticket_id, ticket_number, subject, status, priority, source, contact, created_at } = ticket;
    const { contact_id } = fieldsIn(contact);
    return { ticket_id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at };
  },
  'conversation.message_received': (message, account_id) => {
    const { conversation, id: message_id, sender_type, body, created_at } = message;
    const { id: conversation_id, contact, channel } = fieldsIn(conversation);
    const { contact_id } = fieldsIn(contact);
    const cut = typeof body === 'string' ? Array.from(body).slice(0, 2000).join('') : body;
    return { conversation_id, message_id, account_id, contact_id, channel, sender_type, body: cut, created_at };
  },
  'changelog.published': ({ id: entry_id, title, version, slug, published_at }, account_id) => {
    return { entry_id, account_id, title, version, slug, published_at };
  },
  'feedback.created': ({ id: post_id, title, status, category, created_at }, account_id) => {
    return { post_id, account_id, title, status, category_id: fieldsIn(category).id, created_at };
  },
};

const idOf = (event: WebhookEvent, { id, contact_id, phone_call_id }: Fields): unknown => {
  if (event === 'contact.created') return contact_id;
  return event === 'call.completed' ? phone_call_id : id;
};

/** Undefined where the record has no id or no time: then it cannot be told from others. */
export function rebuild(event: WebhookEvent, record: Fields, accountId: unknown): Rebuilt | undefined {
  const id = idOf(event, record);
  const time = event === 'changelog.published' ? record.published_at : record.created_at;
  if (!Number.isSafeInteger(id) || typeof time !== 'string' || Number.isNaN(Date.parse(time))) return undefined;
  const key = recordKey(event, Number(id));
  const data = Object.fromEntries(
    Object.entries(dataOf[event](record, accountId)).map(([name, value]) => [name, value ?? null]),
  );
  // The service's times carry an offset.
  const created_at = time.replace(/Z$/u, '+00:00');
  const body = JSON.stringify({ event, id: `${rebuiltPrefix}${key}`, created_at, data });
  // An entry may say that it was published at another time than it was: one that was scheduled, or dated back.
  const { created_at: made, updated_at } = record;
  const isEntry = event === 'changelog.published';
  const sentAfter = isEntry && typeof made === 'string' ? made : time;
  return {
    event,
    key,
    id: Number(id),
    at: time,
    sentAfter,
    sentBefore: isEntry && typeof updated_at === 'string' ? updated_at : time,
    body,
  };
}
