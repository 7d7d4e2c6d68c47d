import {
  getConversation,
  listConversations,
  replyToConversation,
  resolveConversation,
} from '../../api/conversations.ts';
import type { Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';

export const conversations: Group = {
  name: 'conversations',
  summary: 'Live chat conversations',
  commands: [
    fromOperation('list', listConversations, {
      columns: [
        'id',
        { path: 'status', as: 'status' },
        'handling_mode',
        'channel',
        'contact.name',
        'subject',
        { path: 'last_message_at', as: 'time' },
      ],
      examples: ['svc conversations list --status unresolved'],
    }),
    fromOperation('get', getConversation, {
      human: async (chat, terminal) => (await import('../../output/thread.ts')).conversationThread(chat, terminal),
      examples: ['svc conversations get 3'],
    }),
    fromOperation('reply', replyToConversation, {
      text: 'body',
      rows: { question: (count) => `Send ${count} ${count === 1 ? 'message' : 'messages'} to customers?` },
      examples: ["svc conversations reply 3 --body 'A colleague is looking into it.'"],
      note: (answer: { handling_mode: string }, id) =>
        `Sent in conversation ${id}${answer.handling_mode && `, now handled by: ${answer.handling_mode}`}.`,
    }),
    fromOperation('resolve', resolveConversation, {
      rows: {
        question: (count) =>
          `Resolve ${count} conversation${count === 1 ? '' : 's'}? Customers may be asked for a rating.`,
      },
      examples: ['svc conversations resolve 3'],
      note: (_, id) => `Conversation ${id} is resolved.`,
    }),
  ],
};
