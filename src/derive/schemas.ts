import { Account, Branding } from '../api/account.ts';
import { Call } from '../api/calls.ts';
import { Category, ChangelogEntry, ChangelogItem } from '../api/changelog.ts';
import { Contact, ContactItem, NewContact, NewContactBatch, NewContactRow, SyncContact } from '../api/contacts.ts';
import { Conversation, ConversationItem, ConversationMessage } from '../api/conversations.ts';
import { EventContact } from '../api/events.ts';
import { FeedbackPost, RoadmapColumn } from '../api/feedback.ts';
import { pageMeta } from '../api/fields.ts';
import { ContactList, ListContact } from '../api/lists.ts';
import { MeetingType } from '../api/meetings.ts';
import type { Schema } from '../api/operation.ts';
import { Attachment, Person, Ticket, TicketItem, TicketMessage } from '../api/tickets.ts';
import { Webhook } from '../api/webhooks.ts';

/** The schemas that have a name of their own in the OpenAPI document. */
export const namedSchemas: Readonly<Record<string, Schema>> = {
  Account,
  Branding,
  Contact,
  ContactItem,
  NewContact,
  NewContactRow,
  NewContactBatch,
  SyncContact,
  ContactList,
  ListContact,
  Call,
  Person,
  Attachment,
  Ticket,
  TicketItem,
  TicketMessage,
  Conversation,
  ConversationItem,
  ConversationMessage,
  Category,
  ChangelogEntry,
  ChangelogItem,
  FeedbackPost,
  RoadmapColumn,
  EventContact,
  Webhook,
  MeetingType,
  PageMeta: pageMeta,
};
