import * as v from 'valibot';
import { notFound } from '../answer.ts';
import { eventData } from '../deliveries/events-out.ts';
import { addMessage } from '../handlers/conversations.ts';
import type { Row } from '../store/records.ts';
import { find, nextId, owned, put, rowOf } from '../store/state.ts';
import type { World } from '../world.ts';

const id = v.pipe(v.number(), v.integer());
const text = v.pipe(
  v.string(),
  v.check((value) => value.trim() !== '', 'must not be blank'),
);
const kind = <const K extends string, E extends v.ObjectEntries>(name: K, entries: E) =>
  v.object({ kind: v.literal(name), account_id: id, ...entries });

/** What happens to an account without any caller of the API: a customer or the AI does it. */
export const Act = v.variant('kind', [
  kind('call_completed', { contact_id: id }),
  kind('customer_message', { conversation_id: id, body: text }),
  kind('ai_message', { conversation_id: id, body: text }),
  kind('internal_note', { conversation_id: id, body: text }),
  kind('feedback_posted', { title: text, content: v.optional(v.string(), '') }),
  kind('sends_fail', { value: v.boolean() }),
]);

export type Act = v.InferOutput<typeof Act>;

/** Does it, with its webhook. */
export function perform(world: World, act: Act): object {
  const { state } = world;
  const { account_id } = act;
  const now = world.now().toISOString();
  switch (act.kind) {
    case 'call_completed': {
      const contact = find(state, 'contacts', account_id, act.contact_id);
      return contact ? { call: completeCall(world, contact, now) } : notFound;
    }
    case 'feedback_posted':
      return { post: postFeedback(world, act, now) };
    case 'sends_fail': {
      const account = rowOf(state, 'accounts', account_id);
      put(state, 'accounts', { ...account, sends_fail: act.value });
      return { sends_fail: act.value };
    }
    default: {
      const chat = find(state, 'conversations', account_id, act.conversation_id);
      return chat ? speak(world, chat, act, now) : notFound;
    }
  }
}

function completeCall(world: World, { contact_id, account_id, phone }: Row<'contacts'>, now: string) {
  const call = put(world.state, 'calls', {
    phone_call_id: nextId(world.state, 'calls'),
    account_id,
    contact_id,
    from: '+14155550199',
    to: phone,
    status: 'completed',
    duration: 95,
    interest_level: 'high',
    ended_reason: 'customer_hung_up',
    start_time: new Date(Date.parse(now) - 95_000).toISOString(),
    created_at: now,
  });
  world.emit('call.completed', account_id, eventData['call.completed'](call));
  return call;
}

function postFeedback(world: World, { account_id, title, content }: Act & { kind: 'feedback_posted' }, now: string) {
  const { state } = world;
  const post = put(state, 'feedback', {
    id: nextId(state, 'feedback'),
    account_id,
    title,
    content,
    status: owned(state, 'feedback_statuses', account_id)[0]?.slug ?? 'open',
    category_id: null,
    vote_count: 1, // whoever posts votes for it
    comments_count: 0,
    on_roadmap: false,
    created_at: now,
    updated_at: now,
  });
  world.emit('feedback.created', account_id, eventData['feedback.created'](post));
  return post;
}

function speak(
  world: World,
  chat: Row<'conversations'>,
  { kind, body }: Act & { kind: 'customer_message' | 'ai_message' | 'internal_note' },
  now: string,
): object {
  const { state } = world;
  if (kind === 'internal_note') {
    const note = { id: nextId(state, 'notes'), body, created_at: now };
    put(state, 'conversations', { ...chat, notes: [...chat.notes, note], updated_at: now });
    return { note };
  }
  if (kind === 'ai_message') {
    return { message: addMessage(state, chat.id, { sender_type: 'ai', sender_name: 'Assistant', body }, now) };
  }
  const sender_name = state.rows.contacts.get(chat.contact_id ?? 0)?.name ?? 'Visitor';
  const message = addMessage(state, chat.id, { sender_type: 'visitor', sender_name, body }, now);
  const data = eventData['conversation.message_received'](chat, message);
  world.emit('conversation.message_received', chat.account_id, data);
  return { message };
}
