import { getAccount, updateBranding } from './account.ts';
import { listCalls } from './calls.ts';
import { createChangelogEntry, getChangelogEntry, listChangelog, updateChangelogEntry } from './changelog.ts';
import { createContacts, getContact, listContacts, syncContacts, updateContact } from './contacts.ts';
import { getConversation, listConversations, replyToConversation, resolveConversation } from './conversations.ts';
import { sendEvent } from './events.ts';
import { getRoadmap, listFeedback } from './feedback.ts';
import {
  createAndSyncListContacts,
  createContactList,
  deleteContactList,
  listContactListMembers,
  listContactLists,
  removeListContacts,
  syncListContacts,
  updateContactList,
} from './lists.ts';
import { listMeetings } from './meetings.ts';
import type { Operation } from './operation.ts';
import { addTicketNote, createTicket, getTicket, listTickets, replyToTicket, updateTicket } from './tickets.ts';
import { createWebhook, deleteWebhook, listWebhooks } from './webhooks.ts';

/** Every operation of the service, by id, in the document's order. */
export const operations = {
  getAccount,
  updateBranding,
  listContacts,
  getContact,
  updateContact,
  createContacts,
  syncContacts,
  listContactLists,
  createContactList,
  updateContactList,
  deleteContactList,
  listContactListMembers,
  createAndSyncListContacts,
  syncListContacts,
  removeListContacts,
  listCalls,
  listTickets,
  getTicket,
  createTicket,
  updateTicket,
  addTicketNote,
  replyToTicket,
  listConversations,
  getConversation,
  replyToConversation,
  resolveConversation,
  listChangelog,
  getChangelogEntry,
  createChangelogEntry,
  updateChangelogEntry,
  listFeedback,
  getRoadmap,
  sendEvent,
  listWebhooks,
  createWebhook,
  deleteWebhook,
  listMeetings,
} as const satisfies Record<string, Operation>;

/** All of them, in the document's order. */
export const operationList: readonly Operation[] = Object.values(operations);

export type Operations = typeof operations;
export type OperationId = keyof Operations;
