import { addTicketNote, createTicket, getTicket, listTickets, replyToTicket, updateTicket } from '../../api/tickets.ts';
import { defineCommand, type Group } from '../../command/command.ts';
import { fromOperation, unwrap } from '../../command/from-operation.ts';
import { param } from '../../command/param.ts';
import { rowOf } from '../../command/row.ts';
import { call, connect } from '../../http/call.ts';

/** `resolve`, `close` and `reopen` are updates of one field that people say in one word. */
const moveTo = (name: string, status: string, summary: string) =>
  defineCommand({
    name,
    summary,
    args: { id: param.requiredId('Id of the ticket') },
    flags: {},
    examples: [`svc tickets ${name} 7`],
    row: rowOf(updateTicket, { fixed: { status }, reads: 'named' }),
    async run(ctx, { args, settings }) {
      const service = await connect(ctx, settings);
      const answer = await call(service, updateTicket, { params: { id: args.id }, body: { status } });
      return {
        data: { shape: 'record', record: unwrap(updateTicket, answer) },
        notes: [`Ticket ${args.id} is ${status}.`],
      };
    },
  });

export const tickets: Group = {
  name: 'tickets',
  summary: 'Support tickets',
  commands: [
    fromOperation('list', listTickets, {
      columns: [
        'id',
        'ticket_number',
        'subject',
        { path: 'status', as: 'status' },
        'priority',
        'contact.name',
        { path: 'updated_at', as: 'time' },
      ],
      examples: ['svc tickets list --status unresolved', "svc tickets list --search invoice --json --jq '.[].subject'"],
    }),
    fromOperation('get', getTicket, {
      human: async (ticket, terminal) => (await import('../../output/thread.ts')).ticketThread(ticket, terminal),
      examples: ['svc tickets get 7', "svc tickets get 7 --jq '.messages[].body'"],
    }),
    fromOperation('create', createTicket, {
      text: 'description',
      examples: [
        "svc tickets create --subject 'Export fails' --description 'It stops at row 200.' --priority 3",
        "printf 'subject,priority\\nMoved,2\\n' | svc tickets create --from - --dry-run",
      ],
    }),
    fromOperation('update', updateTicket, {
      text: 'description',
      update: true,
      examples: ['svc tickets update 7 --priority 4', 'svc tickets update 7 --clear due_at'],
    }),
    moveTo('resolve', 'resolved', 'Set a ticket to resolved'),
    moveTo('close', 'closed', 'Set a ticket to closed'),
    moveTo('reopen', 'open', 'Set a ticket to open again'),
    fromOperation('note', addTicketNote, {
      text: 'body',
      examples: ["svc tickets note 7 --body 'Called them; they will send a screenshot.'"],
      note: (_, id) => `The note is in the history of ticket ${id}; the customer does not see it.`,
    }),
    fromOperation('reply', replyToTicket, {
      text: 'body',
      rows: { question: (count) => `Send ${count} ${count === 1 ? 'reply' : 'replies'} to customers?` },
      examples: ["svc tickets reply 8 --body 'Fixed in 2.1, thank you for telling us.'"],
      note: ({ channel }: { channel: string }, id) => `Sent on ticket ${id}${channel && ` by ${channel}`}.`,
    }),
  ],
};
