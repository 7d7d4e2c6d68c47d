import { type Fields, fieldsIn, recordsIn } from '../../text/record.ts';
import { count, idOr, maybeId, maybeText, maybeTime, oneOf, text, texts, timeOr } from './seed-values.ts';

/** Whether the copy holds a record of that kind with that id. */
export type Held = (kind: string, id: unknown) => boolean;

/** The account of the sandbox that its first API key belongs to. */
export const account_id = 1;

/** Those fields of a record, each as the sandbox takes it. */
const each = (record: Fields, as: (value: unknown) => unknown, ...names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, as(record[name])]));

export const contactRow = (contact: Fields): Fields => ({
  contact_id: contact.contact_id,
  account_id,
  ...each(contact, text, 'name', 'last_name', 'email', 'phone', 'company', 'country'),
  website: maybeText(contact.website),
  tags: texts(contact.tags),
  metadata: fieldsIn(contact.metadata),
  lead_status: text(contact.lead_status) || 'new',
  created_at: timeOr(contact.created_at),
  // Lists do not have it.
  updated_at: timeOr(contact.updated_at ?? contact.created_at),
});

export const listRow = (list: Fields): Fields => ({
  contacts_list_id: list.contacts_list_id,
  account_id,
  ...each(list, text, 'name', 'target_industry'),
});

/** Undefined for a call of nobody, which a sandbox does not hold. */
export const callRow = (call: Fields): Fields | undefined =>
  idOr(call.contact_id) === undefined
    ? undefined
    : {
        phone_call_id: call.phone_call_id,
        account_id,
        contact_id: call.contact_id,
        ...each(call, text, 'from', 'to', 'status', 'interest_level'),
        duration: count(call.duration),
        start_time: timeOr(call.start_time ?? call.created_at),
        created_at: timeOr(call.created_at),
      };

/** A ticket whose chat is not there keeps what was written, as one from email. */
export const ticketRow = (ticket: Fields, held: Held): Fields => ({
  id: ticket.id,
  account_id,
  ...each(ticket, text, 'ticket_number', 'subject', 'description', 'status', 'source'),
  priority: count(ticket.priority),
  contact_id: maybeId(fieldsIn(ticket.contact).contact_id),
  conversation_id: held('conversations', ticket.conversation_id) ? ticket.conversation_id : null,
  ...each(ticket, maybeTime, 'due_at', 'first_response_at', 'resolved_at'),
  ...each(ticket, timeOr, 'created_at', 'updated_at'),
  // The thread of a ticket from chat is the chat's.
  messages: held('conversations', ticket.conversation_id)
    ? []
    : recordsIn(ticket.messages).flatMap((message) =>
        messageRow(message, {
          direction: oneOf(['in', 'out'], message.direction, 'out'),
          sender_type: text(message.sender_type),
        }),
      ),
});

export const conversationRow = (chat: Fields): Fields => ({
  id: chat.id,
  account_id,
  ...each(chat, text, 'status', 'channel', 'priority'),
  handling_mode: oneOf(['ai', 'human'], chat.handling_mode, 'human'),
  subject: maybeText(chat.subject),
  contact_id: maybeId(fieldsIn(chat.contact).contact_id),
  ticket_id: maybeId(chat.ticket_id),
  last_message_at: timeOr(chat.last_message_at ?? chat.updated_at),
  resolved_at: maybeTime(chat.resolved_at),
  csat_rating: typeof chat.csat_rating === 'number' ? chat.csat_rating : null,
  ...each(chat, timeOr, 'created_at', 'updated_at'),
  messages: recordsIn(chat.messages).flatMap((message) =>
    messageRow(message, { sender_type: oneOf(['visitor', 'operator', 'ai'], message.sender_type, 'operator') }),
  ),
});

function messageRow(message: Fields, own: Fields): Fields[] {
  const id = idOr(message.id);
  if (id === undefined) return [];
  const attachments = recordsIn(message.attachments).map(({ name, mime, size }) => {
    return { name: text(name), mime: text(mime), size: count(size) };
  });
  const { sender_name, body, created_at } = message;
  return [
    { id, ...own, sender_name: text(sender_name), body: text(body), attachments, created_at: timeOr(created_at) },
  ];
}

export const entryRow = (entry: Fields): Fields => ({
  id: entry.id,
  account_id,
  ...each(entry, text, 'title', 'slug', 'content_html'),
  version: maybeText(entry.version),
  category_id: maybeId(fieldsIn(entry.category).id),
  labels: texts(entry.labels),
  status: oneOf(['draft', 'published'], entry.status, 'draft'),
  published_at: maybeTime(entry.published_at),
  ...each(entry, timeOr, 'created_at', 'updated_at'),
  // The API shows what became of the text that was typed.
  content: text(entry.content_html),
});

export const postRow = (post: Fields): Fields => ({
  id: post.id,
  account_id,
  ...each(post, text, 'title', 'content', 'status'),
  category_id: maybeId(fieldsIn(post.category).id),
  ...each(post, count, 'vote_count', 'comments_count'),
  on_roadmap: post.on_roadmap === true,
  ...each(post, timeOr, 'created_at', 'updated_at'),
});

/** Those that records are in: the API has no list of all. */
export function categoriesOf(records: readonly Fields[]): Fields[] {
  const categories = new Map<unknown, Fields>();
  for (const { category } of records) {
    const { id, name } = fieldsIn(category);
    if (idOr(id)) categories.set(id, { id, account_id, name: text(name) });
  }
  return [...categories.values()];
}

export function statusesOf(posts: readonly Fields[]): Fields[] {
  const slugs = [...new Set(posts.map(({ status }) => text(status)).filter(Boolean))];
  return slugs.map((slug, at) => ({ id: at + 1, account_id, slug, name: slug.replaceAll(/[_-]+/gu, ' ') }));
}

export const roadmapOf = (posts: readonly Fields[]): Fields[] =>
  statusesOf(posts.filter(({ on_roadmap }) => on_roadmap === true));
