import type * as v from 'valibot';
import type { WebhookEvent, webhookData } from '../../api/webhooks.ts';
import type { Kind, Row } from '../store/records.ts';

type DataOf<E extends WebhookEvent> = v.InferInput<(typeof webhookData)[E]>;

/** What an event takes of the record that it is about. */
type TakenOf<K extends Kind, E extends WebhookEvent> = Pick<
  Row<K>,
  keyof Row<K> & ('id' | keyof (typeof webhookData)[E]['entries'])
>;

/**
 * The `data` of each event, from the records that it is about (service.md#webhooks-4). The fields are
 * picked one by one: internal notes, staff details and authors are never sent (service.md#delivery-5).
 */
export const eventData = {
  'contact.created': (contact: TakenOf<'contacts', 'contact.created'>): DataOf<'contact.created'> => {
    const { contact_id, name, email, phone, lead_status } = contact;
    return { contact_id, name, email, phone, lead_status };
  },
  'call.completed': (call: TakenOf<'calls', 'call.completed'>): DataOf<'call.completed'> => {
    const { phone_call_id, contact_id, from, to, duration, ended_reason } = call;
    return { phone_call_id, contact_id, from, to, duration, ended_reason };
  },
  'ticket.created': (ticket: TakenOf<'tickets', 'ticket.created'>): DataOf<'ticket.created'> => {
    const { id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at } = ticket;
    return { ticket_id: id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at };
  },
  'conversation.message_received': (
    { id, account_id, contact_id, channel }: Pick<Row<'conversations'>, 'id' | 'account_id' | 'contact_id' | 'channel'>,
    message: Pick<Row<'conversations'>['messages'][number], 'id' | 'sender_type' | 'body' | 'created_at'>,
  ): DataOf<'conversation.message_received'> => ({
    conversation_id: id,
    message_id: message.id,
    account_id,
    contact_id,
    channel,
    sender_type: message.sender_type,
    body: firstCharacters(2000, message.body),
    created_at: message.created_at,
  }),
  'changelog.published': (
    entry: TakenOf<'changelog', 'changelog.published'> & { readonly published_at: string },
  ): DataOf<'changelog.published'> => {
    const { id, account_id, title, version, slug, published_at } = entry;
    return { entry_id: id, account_id, title, version, slug, published_at };
  },
  'feedback.created': (post: TakenOf<'feedback', 'feedback.created'>): DataOf<'feedback.created'> => {
    const { id, account_id, title, status, category_id, created_at } = post;
    return { post_id: id, account_id, title, status, category_id, created_at };
  },
};

/** Characters are code points, so that no emoji is cut in half. A code point has at most two code units. */
const firstCharacters = (count: number, text: string): string =>
  text.length <= count
    ? text
    : Array.from(text.slice(0, count * 2))
        .slice(0, count)
        .join('');
