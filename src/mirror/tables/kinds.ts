import { listCalls } from '../../api/calls.ts';
import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import { getContact, listContacts } from '../../api/contacts.ts';
import { getConversation, listConversations } from '../../api/conversations.ts';
import { listFeedback } from '../../api/feedback.ts';
import { listContactListMembers, listContactLists } from '../../api/lists.ts';
import type { Operation } from '../../api/operation.ts';
import { getTicket, listTickets } from '../../api/tickets.ts';

/** How the service tells what is new of a kind. */
type Incremental =
  /** `updated_since` lists what changed. */
  | 'updates'
  /** New records come first; what changed in old ones it does not tell. */
  | 'newest first'
  /** Nothing: the list is read whole. */
  | 'whole list';

/** Records inside of a record, kept in a table of their own. */
type Parts = {
  readonly table: string;
  /** The field of the whole record that holds them. */
  readonly field: string;
  /** The column that names the record. */
  readonly parent: string;
  /** What is searched in them. */
  readonly words: readonly string[];
};

/** Every kind that the copy holds, in the order in which it is pulled. CONTRIBUTING.md has a recipe for another one. */
export const kindNames = ['contacts', 'lists', 'calls', 'tickets', 'conversations', 'changelog', 'feedback'] as const;

export type KindName = (typeof kindNames)[number];

/** An operation that reads one record by its id. */
export type ReadsOne = { readonly operation: Operation; readonly for: 'text' | 'existence' };

/** The other kind, and the field that names its record. */
export type EmbeddedIn = { readonly kind: KindName; readonly by: string };

type ListOperation = Operation & { readonly answer: Extract<Operation['answer'], { shape: 'list' }> };

/** A list for each record: the members of a contact list. */
export type Members = { readonly operation: ListOperation; readonly table: string; readonly parent: string };

/** How one kind of record is fetched and kept. */
export type Kind = {
  readonly list: ListOperation;
  readonly incremental: Incremental;
  /** `for: 'text'`: the list leaves something out, so each record that changed is read. */
  readonly one?: ReadsOne;
  readonly parts?: Parts;
  /** What the record shows of another kind, whose change does not count as one of its own. */
  readonly embeddedIn?: EmbeddedIn;
  readonly members?: Members;
  /** The fields that are searched. */
  readonly words: readonly string[];
};

const kinds: Readonly<Record<KindName, Kind>> = {
  contacts: {
    list: listContacts,
    incremental: 'newest first',
    one: { operation: getContact, for: 'existence' },
    words: ['name', 'last_name', 'email', 'phone', 'company', 'website', 'tags', 'metadata'],
  },
  lists: {
    list: listContactLists,
    incremental: 'whole list',
    members: { operation: listContactListMembers, table: 'list_members', parent: 'contacts_list_id' },
    words: [],
  },
  calls: { list: listCalls, incremental: 'newest first', words: [] },
  tickets: {
    list: listTickets,
    incremental: 'updates',
    one: { operation: getTicket, for: 'text' },
    parts: { table: 'ticket_messages', field: 'messages', parent: 'ticket_id', words: ['body', 'sender_name'] },
    words: ['ticket_number', 'subject', 'description'],
  },
  conversations: {
    list: listConversations,
    incremental: 'updates',
    one: { operation: getConversation, for: 'text' },
    parts: {
      table: 'conversation_messages',
      field: 'messages',
      parent: 'conversation_id',
      words: ['body', 'sender_name'],
    },
    // A ticket from chat shows the chat, and is not updated when somebody writes there.
    embeddedIn: { kind: 'tickets', by: 'ticket_id' },
    words: ['subject'],
  },
  changelog: {
    list: listChangelog,
    incremental: 'whole list',
    one: { operation: getChangelogEntry, for: 'text' },
    words: ['title', 'version', 'labels', 'content_html'],
  },
  feedback: { list: listFeedback, incremental: 'whole list', words: ['title', 'content'] },
};

export const kindOf = (name: KindName): Kind => kinds[name];
