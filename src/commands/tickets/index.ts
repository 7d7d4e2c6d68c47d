import * as v from 'valibot';
import { described } from '../../api/fields.ts';
import type { Output } from '../../api/operation.ts';
import {
  addTicketNote,
  createTicket,
  getTicket,
  listTickets,
  replyToTicket,
  ticketStatuses,
  updateTicket,
} from '../../api/tickets.ts';
import { recordFitted, unwrap } from '../../command/answered.ts';
import { defineCommand, type TopGroup } from '../../command/command.ts';
import type { Follow } from '../../command/follow.ts';
import { fromOperation, seedFrom } from '../../command/from-operation.ts';
import { param } from '../../command/param.ts';
import { presentTicket } from '../../command/present-ticket.ts';
import { rowOf } from '../../command/row.ts';
import { personOf, type Seed } from '../../command/seed.ts';
import { several } from '../../command/several.ts';
import { call, connect } from '../../http/call/call.ts';
import { contactColumn, personLabels } from '../../output/contact-columns.ts';
import type { Column } from '../../output/view.ts';
import type { Fields } from '../../text/record.ts';
import { waitingTickets } from './waiting.ts';

type Ticket = Output<typeof getTicket>['ticket'];

/** As people know it; the service's answer may lack the number. */
const named = ({ ticket_number: number }: Partial<Ticket>, id: number): string => `Ticket ${number || id}`;

/** `resolve`, `close` and `reopen` are updates of one field that people say in one word. */
const moveTo = (name: string, status: string, summary: string) =>
  defineCommand({
    name,
    summary,
    args: {
      id: {
        ...param.requiredId('Id or number of the ticket', 'tickets'),
        needless: (ticket: Fields) => ticket.status === status,
      },
    },
    examples: [`svc tickets ${name} 7`, `svc tickets ${name} 7 8 T-1009`],
    row: rowOf(updateTicket, { fixed: { status }, reads: 'named' }),
    async run(ctx, { args, settings }) {
      const service = await connect(ctx, settings);
      const present = await presentTicket(service, args.id);
      if (present?.status === status) {
        // A second time would move the moment at which it was resolved.
        const done = `${named(present, args.id)} is ${status} already. Nothing was sent.`;
        return { data: { shape: 'record', record: present }, done, notes: [done] };
      }
      const answer = await call(service, updateTicket, { params: { id: args.id }, body: { status } });
      const record = unwrap(updateTicket, answer);
      const done = `${named(recordFitted(updateTicket, record), args.id)} is ${status === 'open' ? 'open again' : status}.`;
      return { data: { shape: 'record', record }, done, notes: [done] };
    },
  });

/** For a reply, which the requester reads. */
const replySeed = ({ contact, reply_channel, ticket_number, subject, messages }: Ticket): Seed => ({
  to: `${personOf(contact, 'the requester')}, by ${reply_channel}`,
  about: `${ticket_number} ${subject}`,
  last: messages.at(-1),
});

const columns: readonly Column[] = [
  { path: 'id', header: 'ID', rank: 7 },
  { path: 'ticket_number', header: 'Ticket', as: 'id', rank: 1 },
  { path: 'subject', header: 'Subject', rank: 2 },
  { path: 'status', header: 'Status', rank: 3 },
  { path: 'priority', header: 'Priority', rank: 5 },
  { ...contactColumn, rank: 4 },
  { path: 'updated_at', header: 'Updated', rank: 6 },
];

/** A reply and what belongs to it: the columns of a file, and flags. */
const ReplyRow = v.object({
  ...replyToTicket.body.entries,
  note: v.optional(described('Then add this internal note', addTicketNote.body.entries.body)),
  status: v.optional(described('Then set this status', updateTicket.body.entries.status)),
  priority: v.optional(
    described('Then set this priority, 0 (lowest) to 4 (highest)', updateTicket.body.entries.priority),
  ),
});

const afterReply: readonly Follow[] = [
  {
    ...{ operation: addTicketNote, fields: ['note'], body: ({ note }) => ({ body: note }) },
    ...{ done: 'The note is added.', verb: 'add a note to' },
  },
  { operation: updateTicket, fields: ['status', 'priority'], body: (values) => values, done: 'The ticket is changed.' },
];

/** Tickets of another system have a status: it is set once the ticket is there. */
const TicketRow = v.object({ ...createTicket.body.entries, status: v.optional(v.picklist(ticketStatuses)) });

export const tickets: TopGroup = {
  commands: [
    fromOperation('list', listTickets, {
      columns,
      sift: { order: true },
      examples: [
        'svc tickets list --sort -priority',
        'svc tickets list --status unresolved',
        "svc tickets list --search invoice --json --jq '.[].subject'",
      ],
    }),
    waitingTickets,
    fromOperation('get', getTicket, {
      several: true,
      columns,
      labels: [
        ...personLabels,
        { path: 'reply_channel', header: 'Replies go', fields: ['reply_channel', 'conversation_id'] },
        { path: 'first_response_at', header: 'Answered' },
      ],
      human: async (ticket, terminal) => (await import('../../output/thread.ts')).ticketThread(ticket, terminal),
      examples: ['svc tickets get 7', 'svc tickets get T-1008', "svc tickets get 7 --jq '.messages[].body'"],
    }),
    fromOperation('create', createTicket, {
      text: 'description',
      rows: {
        body: TicketRow,
        after: { field: 'status', operation: updateTicket, unless: 'open' },
        requester: 'contact_id',
      },
      done: (ticket: Ticket) => `${named(ticket, ticket.id)} is created: ${ticket.subject}`,
      examples: [
        "svc tickets create --subject 'Export fails' --description 'It stops at row 200.' --priority 3",
        "printf 'subject,priority\\nMoved,2\\n' | svc tickets create --from - --dry-run",
      ],
    }),
    fromOperation('update', updateTicket, {
      text: 'description',
      update: true,
      done: (ticket: Ticket, id, { changed }) => `${named(ticket, id)} is changed: ${changed}.`,
      examples: ['svc tickets update 7 --priority 4', 'svc tickets update 7 --clear due_at'],
    }),
    several('tickets', moveTo('resolve', 'resolved', 'Set a ticket to resolved')),
    several('tickets', moveTo('close', 'closed', 'Set a ticket to closed')),
    several('tickets', moveTo('reopen', 'open', 'Set a ticket to open again')),
    fromOperation('note', addTicketNote, {
      text: 'body',
      seed: seedFrom(getTicket, (ticket) => ({ ...replySeed(ticket), to: 'the team; the customer never sees it' })),
      examples: ["svc tickets note 7 --body 'Called them; they will send a screenshot.'"],
      noted: true,
      done: (_, __, { called }) => `The note is in the history of ticket ${called}; the customer does not see it.`,
    }),
    fromOperation('reply', replyToTicket, {
      text: 'body',
      rows: {
        body: ReplyRow,
        follows: afterReply,
        question: (count) => `Send ${count} ${count === 1 ? 'reply' : 'replies'} to customers?`,
      },
      seed: seedFrom(getTicket, replySeed),
      details:
        'The text is that of --body, --body-file, --editor or --template; svc templates list names the templates there are.',
      examples: [
        "svc tickets reply 8 --body 'Fixed in 2.1, thank you for telling us.'",
        "svc tickets reply 8 --body 'It is fixed.' --note 'Shipped in 2.1' --status resolved",
        "svc tickets reply 8 --body 'It is fixed.' --draft",
      ],
      noted: true,
      done: ({ channel }: { channel: string }, _, { called }) =>
        `Sent on ticket ${called}${channel && ` by ${channel}`}.`,
    }),
  ],
};
