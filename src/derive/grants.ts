import type { OperationId } from '../api/index.ts';

/** What a tool of an assistant may do, as a person grants it (product.md, section 11). */
export type Reach = 'read' | 'write' | 'send' | 'webhooks';

/**
 * `write`: records of the account, and no customer hears of it. `send`: it may reach a customer or the public.
 * `webhooks`: where the account's events go. An operation that is not here does not compile.
 */
export const reachOf: Readonly<Record<OperationId, Reach>> = {
  getAccount: 'read',
  updateBranding: 'write',
  listContacts: 'read',
  getContact: 'read',
  updateContact: 'write',
  createContacts: 'write',
  syncContacts: 'write',
  listContactLists: 'read',
  createContactList: 'write',
  updateContactList: 'write',
  deleteContactList: 'write',
  listContactListMembers: 'read',
  createAndSyncListContacts: 'write',
  syncListContacts: 'write',
  removeListContacts: 'write',
  listCalls: 'read',
  listTickets: 'read',
  getTicket: 'read',
  createTicket: 'write',
  updateTicket: 'write',
  addTicketNote: 'write',
  replyToTicket: 'send',
  listConversations: 'read',
  getConversation: 'read',
  replyToConversation: 'send',
  // The customer may be asked for a rating.
  resolveConversation: 'send',
  listChangelog: 'read',
  getChangelogEntry: 'read',
  // Drafts alone: publishing needs `send` as well (mcp/publishing.ts).
  createChangelogEntry: 'write',
  updateChangelogEntry: 'write',
  listFeedback: 'read',
  getRoadmap: 'read',
  // It may start a sequence, which writes to the contact.
  sendEvent: 'send',
  listWebhooks: 'read',
  createWebhook: 'webhooks',
  deleteWebhook: 'webhooks',
  listMeetings: 'read',
};

/** The flag of svc mcp that grants it; reading needs none. */
export const flagFor: Readonly<Record<Exclude<Reach, 'read'>, string>> = {
  write: '--allow-write',
  send: '--allow-send',
  webhooks: '--allow-webhooks',
};
