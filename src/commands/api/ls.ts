import { type OperationId, operations } from '../../api/index.ts';
import type { View } from '../../output/view.ts';

/** The command that does each operation; a test holds every one against the command tree. */
const commandOf: Readonly<Record<OperationId, string>> = {
  getAccount: 'account get',
  updateBranding: 'branding update',
  listContacts: 'contacts list',
  getContact: 'contacts get',
  updateContact: 'contacts update',
  createContacts: 'contacts create',
  syncContacts: 'contacts sync',
  listContactLists: 'lists list',
  createContactList: 'lists create',
  updateContactList: 'lists update',
  deleteContactList: 'lists delete',
  listContactListMembers: 'lists members',
  createAndSyncListContacts: 'lists add',
  syncListContacts: 'lists set',
  removeListContacts: 'lists remove',
  listCalls: 'calls list',
  listTickets: 'tickets list',
  getTicket: 'tickets get',
  createTicket: 'tickets create',
  updateTicket: 'tickets update',
  addTicketNote: 'tickets note',
  replyToTicket: 'tickets reply',
  listConversations: 'conversations list',
  getConversation: 'conversations get',
  replyToConversation: 'conversations reply',
  resolveConversation: 'conversations resolve',
  listChangelog: 'changelog list',
  getChangelogEntry: 'changelog get',
  createChangelogEntry: 'changelog create',
  updateChangelogEntry: 'changelog update',
  listFeedback: 'feedback list',
  getRoadmap: 'roadmap get',
  sendEvent: 'events send',
  listWebhooks: 'webhooks list',
  createWebhook: 'webhooks create',
  deleteWebhook: 'webhooks delete',
  listMeetings: 'meetings list',
};

/** Every operation, from the table itself. */
export function apiLs(): View {
  const records = Object.values(operations).map(({ id, method, path, scope, credentials, safety, summary }) => ({
    operation: id,
    method,
    path,
    scope,
    command: commandOf[id],
    credentials,
    safety,
    summary,
  }));
  return { data: { shape: 'list', records, columns: ['method', 'path', 'scope', 'command'] }, read: true };
}
