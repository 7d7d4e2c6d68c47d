import type * as v from 'valibot';
import type { WebhookEvent, webhookData } from '../../api/webhooks.ts';

type DataOf<E extends WebhookEvent> = v.InferInput<(typeof webhookData)[E]>;

/**
 * The `data` of each event, from the records that it is about (service.md#webhooks-4). The fields are
 * picked one by one: internal notes, staff details and authors are never sent (service.md#delivery-5).
 */
export const eventData = {
  'contact.created': ({ contact_id, name, email, phone, lead_status }: Contact): DataOf<'contact.created'> => ({
    contact_id,
    name,
    email,
    phone,
    lead_status,
  }),
  'call.completed': (call: Call): DataOf<'call.completed'> => {
    const { phone_call_id, contact_id, from, to, duration, ended_reason } = call;
    return { phone_call_id, contact_id, from, to, duration, ended_reason };
  },
  'ticket.created': (ticket: Ticket): DataOf<'ticket.created'> => {
    const { id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at } = ticket;
    return { ticket_id: id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at };
  },
  'conversation.message_received': (
    { id, account_id, contact_id, channel }: Conversation,
    message: Message,
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
  'changelog.published': (entry: MessageEntry): DataOf<'changelog.published'> => {
    const { id, account_id, title, version, slug, published_at } = entry;
    return { entry_id: id, account_id, title, version, slug, published_at };
  },
  'feedback.created': (post: Post): DataOf<'feedback.created'> => {
    const { id, account_id, title, status, category_id, created_at } = post;
    return { post_id: id, account_id, title, status, category_id, created_at };
  },
};

type Contact = { contact_id: number; name: string; email: string | null; phone: string | null; lead_status: string };
type Call = {
  phone_call_id: number;
  contact_id: number;
  from: string;
  to: string;
  duration: number;
  ended_reason: string;
};
type Ticket = {
  id: number;
  account_id: number;
  ticket_number: string;
  subject: string;
  status: string;
  priority: number;
  source: string;
  contact_id: number | null;
  created_at: string;
};
type Conversation = { id: number; account_id: number; contact_id: number | null; channel: string };
type Message = { id: number; sender_type: string; body: string; created_at: string };
type MessageEntry = {
  id: number;
  account_id: number;
  title: string;
  version: string | null;
  slug: string;
  published_at: string;
};
type Post = {
  id: number;
  account_id: number;
  title: string;
  status: string;
  category_id: number | null;
  created_at: string;
};

/** Characters are code points, so that no emoji is cut in half. A code point has at most two code units. */
const firstCharacters = (count: number, text: string): string =>
  text.length <= count
    ? text
    : Array.from(text.slice(0, count * 2))
        .slice(0, count)
        .join('');
