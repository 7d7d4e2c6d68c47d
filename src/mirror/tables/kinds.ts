import { listCalls } from '../../api/calls.ts';
import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import { getContact, listContacts } from '../../api/contacts.ts';
import { getConversation, listConversations } from '../../api/conversations.ts';
import { listFeedback } from '../../api/feedback.ts';
import { listContactListMembers, listContactLists } from '../../api/lists.ts';
import type { Operation } from '../../api/operation.ts';
import type { ResourceName } from '../../api/resources.ts';
import { getTicket, listTickets } from '../../api/tickets.ts';
import type { Fields } from '../../text/record.ts';
import { emailKey, findText } from './contact-words.ts';
import { callName, contactName, conversationName, memberName, messageName, ticketName, titleOf } from './names.ts';
import * as seeds from './seed-rows.ts';
import type { Engine } from './store.ts';

/** How the service tells what is new of a kind. */
type Incremental =
  /** `updated_since` lists what changed. */
  | 'updates'
  /** New records come first; what changed in old ones it does not tell. */
  | 'newest first'
  /** Nothing: the list is read whole. */
  | 'whole list';

/** Records that belong to a record, kept in a table of their own. */
type Owned = Pick<Kind, 'noun' | 'nameOf'> & {
  readonly table: string;
  /** The column that names the record. */
  readonly parent: string;
};

/** Records inside of a record. `field`: of the whole record, which holds them. */
type Parts = Owned & Pick<Kind, 'words'> & { readonly field: string };

/** How a text is replaced where nobody may know whose it is; in an object of a list, how those of its fields are. */
export type Way = 'text' | 'email' | 'phone' | 'website' | 'html' | 'fileName' | 'any' | Personal;

/** The fields that tell who somebody is or what somebody wrote. Ids, times, states and countries are none. */
export type Personal = { readonly [field: string]: Way };

/** Another table of a sandbox, whose rows are known only from the records of a kind. */
type Aside = {
  readonly table: string;
  readonly rows: (records: readonly Fields[]) => Fields[];
  readonly personal: Personal;
};

/** Columns of svc's own by which records are looked for, and the indexes that are for this. */
type Lookup = {
  readonly columns: Readonly<Record<string, (record: Fields) => string>>;
  readonly indexes: readonly { readonly name: string; readonly column: string; readonly only?: Engine }[];
};

/** Every kind that the copy holds, in the order in which it is pulled. CONTRIBUTING.md has a recipe for another one. */
export const kindNames = [
  'contacts',
  'lists',
  'calls',
  'tickets',
  'conversations',
  'changelog',
  'feedback',
] as const satisfies readonly ResourceName[];

export type KindName = (typeof kindNames)[number];

/** An operation that reads one record by its id. */
export type ReadsOne = { readonly operation: Operation; readonly for: 'text' | 'existence' };

/** The other kind, the field that names its record, and the field of that record that names this one. */
type EmbeddedIn = { readonly kind: KindName; readonly by: string; readonly shownBy: string };

type ListOperation = Operation & { readonly answer: Extract<Operation['answer'], { shape: 'list' }> };

/** A list for each record: the members of a contact list. */
export type Members = Owned & { readonly operation: ListOperation };

/** How one kind of record is fetched and kept, and everything else that is true of it alone. */
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
  readonly lookup?: Lookup;
  /** It has a `status` that becomes `resolved`: what is not is asked for all day, and has an index. */
  readonly resolves?: true;
  /** One of it, in one word. */
  readonly noun: string;
  /** What people call it; texts of customers as they are. */
  readonly nameOf: (record: Fields) => string;
  /** Whether `svc watch` shows it. */
  readonly watched: 'by default' | 'when named' | 'never';
  readonly personal: Personal;
  /** Its row in a sandbox; undefined where a sandbox cannot hold it. */
  readonly seed: (record: Fields, held: seeds.Held) => Fields | undefined;
  readonly aside?: readonly Aside[];
};

const messages = { field: 'messages', words: ['body', 'sender_name'], noun: 'message', nameOf: messageName } as const;
const ofMessage = { sender_name: 'text', body: 'text', attachments: { name: 'fileName' } } as const;
const named = { name: 'text' } as const;

const kinds: Readonly<Record<KindName, Kind>> = {
  contacts: {
    list: listContacts,
    incremental: 'newest first',
    one: { operation: getContact, for: 'existence' },
    words: ['name', 'last_name', 'email', 'phone', 'company', 'website', 'tags', 'metadata'],
    lookup: {
      columns: { find_text: findText, email_key: ({ email }) => emailKey(email) },
      indexes: [
        { name: 'contacts_email_key', column: 'email_key' },
        { name: 'contacts_email', column: 'email' },
        { name: 'contacts_find', column: 'find_text', only: 'sqlite' },
      ],
    },
    noun: 'contact',
    nameOf: contactName,
    watched: 'when named',
    personal: {
      name: 'text',
      last_name: 'text',
      email: 'email',
      phone: 'phone',
      company: 'text',
      website: 'website',
      tags: 'text',
      metadata: 'any',
    },
    seed: seeds.contactRow,
  },
  lists: {
    list: listContactLists,
    incremental: 'whole list',
    members: {
      operation: listContactListMembers,
      table: 'list_members',
      parent: 'contacts_list_id',
      noun: 'list_members',
      nameOf: memberName,
    },
    words: [],
    noun: 'lists',
    nameOf: titleOf,
    watched: 'never',
    personal: { name: 'text', target_industry: 'text' },
    seed: seeds.listRow,
  },
  calls: {
    list: listCalls,
    incremental: 'newest first',
    words: [],
    noun: 'call',
    nameOf: callName,
    watched: 'when named',
    personal: { from: 'phone', to: 'phone' },
    seed: seeds.callRow,
  },
  tickets: {
    list: listTickets,
    incremental: 'updates',
    one: { operation: getTicket, for: 'text' },
    parts: { ...messages, table: 'ticket_messages', parent: 'ticket_id' },
    words: ['ticket_number', 'subject', 'description'],
    resolves: true,
    noun: 'ticket',
    nameOf: ticketName,
    watched: 'by default',
    personal: { subject: 'text', description: 'text', messages: ofMessage },
    seed: seeds.ticketRow,
  },
  conversations: {
    list: listConversations,
    incremental: 'updates',
    one: { operation: getConversation, for: 'text' },
    parts: { ...messages, table: 'conversation_messages', parent: 'conversation_id' },
    // A ticket from chat shows the chat, and is not updated when somebody writes there.
    embeddedIn: { kind: 'tickets', by: 'ticket_id', shownBy: 'conversation_id' },
    words: ['subject'],
    resolves: true,
    noun: 'conversation',
    nameOf: conversationName,
    watched: 'by default',
    personal: { subject: 'text', messages: ofMessage },
    seed: seeds.conversationRow,
  },
  changelog: {
    list: listChangelog,
    incremental: 'whole list',
    one: { operation: getChangelogEntry, for: 'text' },
    words: ['title', 'version', 'labels', 'content_html'],
    noun: 'changelog',
    nameOf: titleOf,
    watched: 'when named',
    personal: { title: 'text', slug: 'text', labels: 'text', content: 'html', content_html: 'html' },
    seed: seeds.entryRow,
    aside: [{ table: 'changelog_categories', rows: seeds.categoriesOf, personal: named }],
  },
  feedback: {
    list: listFeedback,
    incremental: 'whole list',
    words: ['title', 'content'],
    noun: 'feedback',
    nameOf: titleOf,
    watched: 'when named',
    personal: { title: 'text', content: 'text' },
    seed: seeds.postRow,
    aside: [
      { table: 'feedback_categories', rows: seeds.categoriesOf, personal: named },
      { table: 'feedback_statuses', rows: seeds.statusesOf, personal: {} },
      { table: 'roadmap_columns', rows: seeds.roadmapOf, personal: {} },
    ],
  },
};

export const kindOf = (name: KindName): Kind => kinds[name];
