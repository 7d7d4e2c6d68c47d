import * as v from 'valibot';
import { described, filled, id, known, pageOf, pageQuery, priority, text, time, when, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

/** Statuses that the document names; others may exist (service.md#tickets-3). */
export const ticketStatuses = ['open', 'pending', 'resolved', 'closed'] as const;

/** The person behind a ticket or a conversation; null when there is none. */
export const Person = v.nullable(
  v.looseObject({
    contact_id: id,
    name: v.string(),
    last_name: v.string(),
    email: v.string(),
    phone: v.nullable(v.string()),
  }),
);

/** Details only: files are not downloadable. */
export const Attachment = v.looseObject({ name: v.string(), mime: v.string(), size: described('Bytes', whole) });

const ticketFields = {
  id,
  ticket_number: v.string(),
  subject: v.string(),
  status: v.string(),
  priority: described('0 (lowest) to 4 (highest)', whole),
  source: described('How it arrived', v.string()),
  contact: Person,
  due_at: v.nullable(when),
  first_response_at: described('When a person first replied', v.nullable(when)),
  resolved_at: v.nullable(when),
  created_at: when,
  updated_at: when,
};

export const TicketItem = v.looseObject(ticketFields);

export const TicketMessage = v.looseObject({
  id,
  direction: described('in: from the customer; out: from the team', v.picklist(['in', 'out'])),
  sender_type: v.string(),
  sender_name: v.string(),
  body: v.string(),
  attachments: v.array(Attachment),
  created_at: when,
});

export const Ticket = v.looseObject({
  ...ticketFields,
  description: v.string(),
  reply_channel: v.picklist(['chat', 'email']),
  conversation_id: v.nullable(id),
  messages: v.array(TicketMessage),
});

const answer = { shape: 'record', key: 'ticket' } as const;

/** `updated_since` of tickets and conversations. */
export const updatedSince = v.optional(described('Only what changed at or after that time', time));

export const listTickets = defineOperation({
  id: 'listTickets',
  method: 'GET',
  path: '/tickets',
  summary: 'List tickets, newest first',
  command: ['tickets', 'list'],
  resource: 'tickets',
  scope: 'tickets:read',
  module: 'support',
  query: v.object({
    ...pageQuery,
    status: v.optional(
      described('One exact status, or unresolved', known([...ticketStatuses, 'unresolved'], v.string())),
    ),
    q: v.optional(described('Matches subject or ticket number', v.string())),
    contact_id: v.optional(id),
    updated_since: updatedSince,
  }),
  response: pageOf('tickets', TicketItem),
  answer: { shape: 'list', key: 'tickets', paged: true, sortedBy: 'newest' },
});

export const getTicket = defineOperation({
  id: 'getTicket',
  method: 'GET',
  path: '/tickets/{id}',
  summary: 'Show a ticket and its customer-visible thread',
  command: ['tickets', 'get'],
  resource: 'tickets',
  ids: { id: 'tickets' },
  scope: 'tickets:read',
  module: 'support',
  response: v.looseObject({ ticket: Ticket }),
  answer,
});

// Other statuses than the four may exist, so only the alias of the list query is refused.
const ticketStatus = v.pipe(
  filled,
  v.check((status) => status !== 'unresolved', 'unresolved is a filter of the list, not a status'),
);

const description = v.optional(described('The original request', text(0, 20_000)));

export const createTicket = defineOperation({
  id: 'createTicket',
  method: 'POST',
  path: '/tickets',
  summary: 'Create a ticket; the requester gets no email',
  rules: 'The ticket is open and its source is api. The webhook ticket.created fires; the requester gets no email.',
  refuses: 'The contact is none of this account.',
  command: ['tickets', 'create'],
  resource: 'tickets',
  scope: 'tickets:write',
  module: 'support',
  body: v.object({
    subject: text(1, 255),
    description,
    priority: v.optional(described('0 (lowest, the default) to 4 (highest)', priority)),
    contact_id: v.optional(described('The requester, a contact of this account', id)),
    due_at: v.optional(v.nullable(time)),
  }),
  status: 201,
  response: v.looseObject({ ticket: Ticket }),
  answer,
  safety: 'verify',
  asMade: { status: { isNone: ['resolved', 'closed'] }, source: { is: 'api' } }, // service.md#tickets-1
  effect: { of: 'The ticket', done: 'created', lookHint: 'Look with: svc tickets list --search SUBJECT' },
  makes: ['ticket', 'id'],
  grant: 'write',
});

export const updateTicket = defineOperation({
  id: 'updateTicket',
  method: 'PATCH',
  path: '/tickets/{id}',
  summary: 'Change a ticket; only the fields given change',
  rules:
    'The status resolved or closed stamps resolved_at. An open status on a resolved ticket counts as a reopen. Both are written to the history of the ticket.',
  refuses: 'Other statuses than open, pending, resolved and closed are not shown; the sandbox refuses them.',
  command: ['tickets', 'update'],
  resource: 'tickets',
  ids: { id: 'tickets' },
  scope: 'tickets:write',
  module: 'support',
  body: v.object({
    subject: v.optional(text(1, 255)),
    description,
    priority: v.optional(described('0 (lowest) to 4 (highest)', priority)),
    status: v.optional(described('The new status', known(ticketStatuses, ticketStatus))),
    due_at: v.optional(v.nullable(time)),
  }),
  response: v.looseObject({ ticket: Ticket }),
  answer,
  safety: 'repeatable',
  effect: { of: 'The ticket', done: 'changed', lookHint: 'Look at it with: svc tickets get ID' },
  grant: 'write',
});

export const addTicketNote = defineOperation({
  id: 'addTicketNote',
  method: 'POST',
  path: '/tickets/{id}/notes',
  summary: 'Add an internal note that the customer never sees',
  rules: 'The note is recorded in the history of the ticket, and never shown or sent to the customer.',
  command: ['tickets', 'note'],
  resource: 'tickets',
  ids: { id: 'tickets' },
  scope: 'tickets:write',
  module: 'support',
  body: v.object({ body: described('Text of the note', text(1, 10_000)) }),
  status: 201,
  response: v.looseObject({ note: v.looseObject({ id, body: v.string(), created_at: when }) }),
  answer: { shape: 'record', key: 'note' },
  safety: 'once', // notes are in no answer, so a lost one cannot be looked up
  effect: { of: 'The note', done: 'added', lookHint: 'The API shows no notes: look at the ticket in the product.' },
  grant: 'write',
});

export const replyToTicket = defineOperation({
  id: 'replyToTicket',
  method: 'POST',
  path: '/tickets/{id}/replies',
  summary: 'Send a reply to the requester, by email or chat',
  rules:
    'It sends an email to the requester, or a chat message where the ticket came from chat. The status stays. The first reply is recorded in first_response_at; a chat is taken from the AI.',
  refuses: 'The requester has no email address, or the send failed; then nothing is stored.',
  command: ['tickets', 'reply'],
  resource: 'tickets',
  ids: { id: 'tickets' },
  scope: 'tickets:write',
  module: 'support',
  body: v.object({ body: described('What the customer will read', text(1, 16_000)) }),
  status: 201,
  response: v.looseObject({
    message: v.looseObject({
      id,
      channel: v.picklist(['chat', 'email']),
      direction: v.literal('out'),
      body: v.string(),
      created_at: when,
    }),
  }),
  answer: { shape: 'record', key: 'message' },
  safety: 'verify', // a real message goes out: after a lost answer, look before repeating
  effect: {
    of: 'The reply',
    done: 'sent',
    lookHint: 'Look at the thread with: svc tickets get ID',
    refusedHint:
      'A requester without an email needs one: svc contacts update CONTACT_ID --email ADDRESS\nTo see who it is, if anybody: svc tickets get ID',
  },
  asMade: { direction: { is: 'out' } },
  reaches: 'customer',
  makes: ['message', 'id'],
  grant: 'send',
});
