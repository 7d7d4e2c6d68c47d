import * as v from 'valibot';
import {
  getConversation,
  listConversations,
  replyToConversation,
  resolveConversation,
} from '../../api/conversations.ts';
import { described } from '../../api/fields.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation, seedFrom } from '../../command/from-operation.ts';
import { personOf } from '../../command/seed.ts';
import { several } from '../../command/several.ts';
import { contactColumn, personLabels } from '../../output/contact-columns.ts';
import type { Column } from '../../output/view.ts';

const ReplyRow = v.object({
  ...replyToConversation.body.entries,
  resolve: v.optional(described('Then resolve it; the customer may be asked for a rating', v.boolean())),
});

const columns: readonly Column[] = [
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'status', header: 'Status', rank: 3 },
  { path: 'handling_mode', header: 'Handled by', as: 'whole', rank: 6 },
  { path: 'channel', header: 'Channel', as: 'whole', rank: 7 },
  { ...contactColumn, rank: 4 },
  { path: 'subject', header: 'Subject', rank: 2 },
  { path: 'last_message_at', header: 'Last message', rank: 5 },
];

export const conversations: TopGroup = {
  commands: [
    fromOperation('list', listConversations, {
      columns,
      sift: { order: true },
      examples: ['svc conversations list --status unresolved'],
    }),
    fromOperation('get', getConversation, {
      several: true,
      columns,
      labels: [...personLabels, { path: 'ticket_id', header: 'Ticket' }, { path: 'csat_rating', header: 'Rating' }],
      human: async (chat, terminal) => (await import('../../output/thread.ts')).conversationThread(chat, terminal),
      examples: ['svc conversations get 3'],
    }),
    fromOperation('reply', replyToConversation, {
      text: 'body',
      rows: {
        body: ReplyRow,
        follows: [
          {
            ...{ operation: resolveConversation, fields: ['resolve'] },
            ...{ done: 'The conversation is resolved.', verb: 'resolve' },
          },
        ],
        question: (count) => `Send ${count} ${count === 1 ? 'message' : 'messages'} to customers?`,
      },
      seed: seedFrom(getConversation, ({ contact, channel, subject, messages }) => ({
        to: `${personOf(contact, 'an anonymous visitor')}, by ${channel}`,
        about: subject ?? 'a chat without a subject',
        last: messages.at(-1),
      })),
      details:
        'The text is that of --body, --body-file, --editor or --template; svc templates list names the templates there are.',
      examples: ["svc conversations reply 3 --body 'A colleague is looking into it.'"],
      noted: true,
      done: (answer: { handling_mode: string }, id) =>
        `Sent in conversation ${id}${answer.handling_mode && `, now handled by: ${answer.handling_mode}`}.`,
    }),
    several(
      'conversations',
      fromOperation('resolve', resolveConversation, {
        rows: {
          question: (count) =>
            `Resolve ${count} conversation${count === 1 ? '' : 's'}? Customers may be asked for a rating.`,
        },
        examples: ['svc conversations resolve 3', 'svc conversations resolve 3 5 8 --yes'],
        noted: true,
        done: (_, id) => `Conversation ${id} is resolved.`,
      }),
    ),
  ],
};
