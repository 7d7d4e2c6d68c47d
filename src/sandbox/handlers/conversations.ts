import { notSent } from '../answer.ts';
import type { Row } from '../store/records.ts';
import { nextId, owned, put, rowOf, type State } from '../store/state.ts';
import type { Handlers } from './handler.ts';
import { pageInOrder } from './page.ts';
import { changedSince, hasStatus, personOf } from './person.ts';

type Conversation = Row<'conversations'>;
type Message = Conversation['messages'][number];

export const conversations = {
  listConversations({ state, account, query }) {
    const matching = owned(state, 'conversations', account.account_id)
      .filter(
        (chat) =>
          hasStatus(chat, query.status) &&
          changedSince(chat, query.updated_since) &&
          (query.contact_id === undefined || chat.contact_id === query.contact_id),
      )
      .sort((a, b) => Date.parse(b.last_message_at) - Date.parse(a.last_message_at) || b.id - a.id);
    const { rows, meta } = pageInOrder(matching, query);
    return { conversations: rows.map((chat) => listed(state, chat)), meta };
  },

  getConversation({ state, params }) {
    const chat = chatOf(state, params.id);
    return { conversation: { ...listed(state, chat), messages: [...chat.messages] } };
  },

  replyToConversation({ state, account, params, body, now }) {
    if (account.sends_fail) return notSent('The message could not be sent.');
    const { id, sender_type, created_at } = sendToCustomer(state, params.id, body.body, now);
    return {
      message: { id, sender_type, body: body.body, created_at },
      handling_mode: chatOf(state, params.id).handling_mode,
    };
  },

  resolveConversation({ state, params, now }) {
    const chat = chatOf(state, params.id);
    // Resolving what is resolved changes nothing (service.md#conversations-2).
    if (chat.status === 'resolved') return { conversation: listed(state, chat) };
    const resolved = { ...chat, status: 'resolved', resolved_at: now, updated_at: now };
    return { conversation: listed(state, put(state, 'conversations', resolved)) };
  },
} satisfies Partial<Handlers>;

/** A person writes: the message goes out on the conversation's channel, and the chat is taken from the AI. */
export function sendToCustomer(state: State, id: number, body: string, now: string): Message {
  const chat = chatOf(state, id);
  const sender_name = state.rows.accounts.get(chat.account_id)?.name ?? '';
  put(state, 'conversations', { ...chat, handling_mode: 'human' });
  return addMessage(state, id, { sender_type: 'operator', sender_name, body }, now);
}

export function addMessage(
  state: State,
  conversation: number,
  said: Pick<Message, 'sender_type' | 'sender_name' | 'body'>,
  now: string,
): Message {
  const chat = chatOf(state, conversation);
  const message = { id: nextId(state, 'messages'), ...said, attachments: [], created_at: now };
  put(state, 'conversations', {
    ...chat,
    messages: [...chat.messages, message],
    last_message_at: now,
    updated_at: now,
  });
  return message;
}

const chatOf = (state: State, id: number): Conversation => rowOf(state, 'conversations', id);

function listed(state: State, chat: Conversation) {
  const { account_id: _, contact_id, messages: __, notes: ___, ...fields } = chat;
  return { ...fields, contact: personOf(state, contact_id) };
}
