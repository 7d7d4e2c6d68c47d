import { ticketStatuses } from '../../api/tickets.ts';
import type { Fields } from '../../text/record.ts';
import { invalid, notSent } from '../answer.ts';
import { eventData } from '../deliveries/events-out.ts';
import type { Row } from '../store/records.ts';
import { find, nextId, owned, put, rowOf, type State } from '../store/state.ts';
import { inUtc } from '../time.ts';
import { sendToCustomer } from './conversations.ts';
import type { Handlers } from './handler.ts';
import { pageNewestFirst } from './page.ts';
import { changedSince, hasStatus, personOf } from './person.ts';

type Ticket = Row<'tickets'>;

export const tickets = {
  listTickets({ state, account, query }) {
    const words = query.q?.toLowerCase();
    const matching = owned(state, 'tickets', account.account_id).filter(
      (ticket) =>
        hasStatus(ticket, query.status) &&
        changedSince(ticket, query.updated_since) &&
        (query.contact_id === undefined || ticket.contact_id === query.contact_id) &&
        (!words || ticket.subject.toLowerCase().includes(words) || ticket.ticket_number.toLowerCase().includes(words)),
    );
    const { rows, meta } = pageNewestFirst(matching, query);
    return { tickets: rows.map((ticket) => listed(state, ticket)), meta };
  },

  getTicket({ state, params }) {
    return { ticket: whole(state, ticketOf(state, params.id)) };
  },

  createTicket({ state, account, body, now, emit }) {
    const { contact_id = null } = body;
    if (contact_id !== null && !find(state, 'contacts', account.account_id, contact_id)) {
      return invalid({ contact_id: ['is no contact of this account'] });
    }
    const id = nextId(state, 'tickets');
    const ticket = put(state, 'tickets', {
      id,
      account_id: account.account_id,
      ticket_number: `T-${1000 + id}`,
      subject: body.subject,
      description: body.description ?? '',
      status: 'open',
      priority: body.priority ?? 0,
      source: 'api',
      contact_id,
      conversation_id: null,
      due_at: body.due_at ? inUtc(body.due_at) : null,
      first_response_at: null,
      resolved_at: null,
      created_at: now,
      updated_at: now,
      messages: [],
      notes: [],
      history: [{ at: now, event: 'created', detail: { source: 'api' } }],
      reopens: 0,
    });
    emit('ticket.created', ticket.account_id, eventData['ticket.created'](ticket));
    return { ticket: whole(state, ticket) };
  },

  updateTicket({ state, params, body, now }) {
    const ticket = ticketOf(state, params.id);
    const { status = ticket.status, due_at, ...fields } = body;
    if (!ticketStatuses.some((each) => each === status)) {
      return invalid({ status: [`must be one of ${ticketStatuses.join(', ')}`] });
    }
    const isDone = status === 'resolved' || status === 'closed';
    const isReopened = ticket.status === 'resolved' && !isDone;
    const doneAt = body.status ? now : ticket.resolved_at;
    const changed = put(state, 'tickets', {
      ...ticket,
      ...fields,
      status,
      due_at: due_at === undefined ? ticket.due_at : due_at && inUtc(due_at),
      resolved_at: isDone ? doneAt : null,
      reopens: ticket.reopens + (isReopened ? 1 : 0),
      history: [...ticket.history, ...changes(ticket, { ...fields, status }, isReopened, now)],
      updated_at: now,
    });
    return { ticket: whole(state, changed) };
  },

  addTicketNote({ state, params, body, now }) {
    const ticket = ticketOf(state, params.id);
    const note = { id: nextId(state, 'notes'), body: body.body, created_at: now };
    put(state, 'tickets', {
      ...ticket,
      notes: [...ticket.notes, note],
      history: [...ticket.history, { at: now, event: 'note_added', detail: { note_id: note.id } }],
      updated_at: now,
    });
    return { note };
  },

  replyToTicket({ state, account, params, body, now }) {
    const ticket = ticketOf(state, params.id);
    const channel = replyChannel(ticket);
    // Nothing is stored where nothing can be delivered (service.md#tickets-4).
    if (channel === 'email' && !personOf(state, ticket.contact_id)?.email) {
      return notSent('The requester has no email address.');
    }
    if (account.sends_fail) return notSent('The message could not be sent.');
    const sent = { body: body.body, created_at: now };
    const id =
      ticket.conversation_id === null
        ? nextId(state, 'messages')
        : sendToCustomer(state, ticket.conversation_id, body.body, now).id;
    const message = {
      id,
      direction: 'out' as const,
      sender_type: 'agent',
      sender_name: account.name,
      attachments: [],
      ...sent,
    };
    put(state, 'tickets', {
      ...ticket,
      messages: ticket.conversation_id === null ? [...ticket.messages, message] : ticket.messages,
      first_response_at: ticket.first_response_at ?? now,
      history: [...ticket.history, { at: now, event: 'replied', detail: { message_id: id, channel } }],
      updated_at: now,
    });
    return { message: { id, channel, direction: 'out', ...sent } };
  },
} satisfies Partial<Handlers>;

const ticketOf = (state: State, id: number): Ticket => rowOf(state, 'tickets', id);

const replyChannel = (ticket: Ticket): 'chat' | 'email' => (ticket.conversation_id === null ? 'email' : 'chat');

/** What the ticket's history says of an update: each field that changed. */
function changes(before: Ticket, after: Partial<Ticket>, isReopened: boolean, at: string): Ticket['history'] {
  const held: Fields = before;
  return Object.entries(after).flatMap(([field, to]) => {
    const from = held[field];
    if (from === to) return [];
    const event = field === 'status' && isReopened ? 'reopened' : `${field}_changed`;
    return [{ at, event, detail: { from, to } }];
  });
}

function listed(state: State, ticket: Ticket) {
  const { id, ticket_number, subject, status, priority, source } = ticket;
  const { due_at, first_response_at, resolved_at, created_at, updated_at } = ticket;
  const times = { due_at, first_response_at, resolved_at, created_at, updated_at };
  const contact = personOf(state, ticket.contact_id);
  return { id, ticket_number, subject, status, priority, source, contact, ...times };
}

function whole(state: State, ticket: Ticket) {
  const { description, conversation_id } = ticket;
  return {
    ...listed(state, ticket),
    description,
    reply_channel: replyChannel(ticket),
    conversation_id,
    messages: thread(state, ticket),
  };
}

/** A ticket from chat shows the chat: what is written there appears here, and the other way round. */
function thread(state: State, ticket: Ticket): Ticket['messages'] {
  const chat = ticket.conversation_id === null ? undefined : state.rows.conversations.get(ticket.conversation_id);
  if (!chat) return ticket.messages;
  return chat.messages.map((message) => ({
    ...message,
    direction: message.sender_type === 'visitor' ? 'in' : 'out',
    sender_type: { visitor: 'customer', operator: 'agent', ai: 'ai' }[message.sender_type],
  }));
}
