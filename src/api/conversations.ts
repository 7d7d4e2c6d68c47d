import * as v from 'valibot';
import { described, id, known, pageOf, pageQuery, text, when, whole } from './fields.ts';
import { defineOperation } from './operation.ts';
import { Attachment, Person, updatedSince } from './tickets.ts';

const handlingMode = described('Who answers: the AI or a person', v.picklist(['ai', 'human']));

/** The document gives no full set: these are its own words for support records, and the filter. */
const conversationStatuses = ['open', 'pending', 'resolved', 'closed', 'unresolved'] as const;

/** As in lists and in the answer of resolve: without the messages. */
export const ConversationItem = v.looseObject({
  id,
  status: v.string(),
  handling_mode: handlingMode,
  channel: v.string(),
  subject: v.nullable(v.string()),
  priority: described('A label', v.string()),
  contact: Person,
  ticket_id: v.nullable(id),
  last_message_at: described('Latest customer-visible message', when),
  resolved_at: v.nullable(when),
  csat_rating: v.nullable(whole),
  created_at: when,
  updated_at: when,
});

const senderType = v.picklist(['visitor', 'operator', 'ai']);

export const ConversationMessage = v.looseObject({
  id,
  sender_type: senderType,
  sender_name: v.string(),
  body: v.string(),
  attachments: v.array(Attachment),
  created_at: when,
});

export const Conversation = v.looseObject({
  ...ConversationItem.entries,
  messages: described('Oldest first', v.array(ConversationMessage)),
});

export const listConversations = defineOperation({
  id: 'listConversations',
  method: 'GET',
  path: '/conversations',
  summary: 'List chat conversations, most recently active first',
  command: ['conversations', 'list'],
  resource: 'conversations',
  scope: 'conversations:read',
  module: 'support',
  query: v.object({
    ...pageQuery,
    status: v.optional(described('One exact status, or unresolved', known(conversationStatuses, v.string()))),
    contact_id: v.optional(id),
    updated_since: updatedSince,
  }),
  response: pageOf('conversations', ConversationItem),
  answer: { shape: 'list', key: 'conversations', paged: true, sortedBy: 'last message' },
});

export const getConversation = defineOperation({
  id: 'getConversation',
  method: 'GET',
  path: '/conversations/{id}',
  summary: 'Show a conversation and its messages; does not mark it read',
  command: ['conversations', 'get'],
  resource: 'conversations',
  ids: { id: 'conversations' },
  scope: 'conversations:read',
  module: 'support',
  response: v.looseObject({ conversation: Conversation }),
  answer: { shape: 'record', key: 'conversation' },
});

export const replyToConversation = defineOperation({
  id: 'replyToConversation',
  method: 'POST',
  path: '/conversations/{id}/messages',
  summary: 'Send a chat message to the customer and take the chat from the AI',
  rules: 'A real message goes out on the channel of the conversation, and handling_mode becomes human.',
  refuses: 'The send failed; then nothing is stored.',
  command: ['conversations', 'reply'],
  resource: 'conversations',
  ids: { id: 'conversations' },
  scope: 'conversations:write',
  module: 'support',
  body: v.object({ body: described('What the customer will read', text(1, 16_000)) }),
  status: 201,
  response: v.looseObject({
    message: v.looseObject({ id, sender_type: senderType, body: v.string(), created_at: when }),
    handling_mode: handlingMode,
  }),
  safety: 'verify',
  effect: {
    of: 'The message',
    done: 'sent',
    lookHint: 'Look at the chat with: svc conversations get ID',
    refusedHint:
      'Where the chat goes by email, its contact needs one: svc contacts update CONTACT_ID --email ADDRESS\nTo see who it is: svc conversations get ID',
  },
  asMade: { sender_type: { isNone: ['visitor'] } },
  reaches: 'customer',
  makes: ['message', 'id'],
  grant: 'send',
});

export const resolveConversation = defineOperation({
  id: 'resolveConversation',
  method: 'POST',
  path: '/conversations/{id}/resolve',
  summary: 'Resolve a conversation; the customer may be asked for a rating',
  rules:
    'The status becomes resolved. The customer may be asked for a rating, depending on the settings of the widget.',
  command: ['conversations', 'resolve'],
  resource: 'conversations',
  ids: { id: 'conversations' },
  scope: 'conversations:write',
  module: 'support',
  response: v.looseObject({ conversation: ConversationItem }),
  answer: { shape: 'record', key: 'conversation' },
  safety: 'repeatable',
  sets: { status: 'resolved' },
  effect: { of: 'The conversation', done: 'resolved', lookHint: 'Look at it with: svc conversations get ID' },
  grant: 'send', // the customer may be asked for a rating
});
