import type { Fields } from '../../text/record.ts';
import { readAll } from '../store/read.ts';
import { readState } from '../store/state.ts';
import { type KindName, kindNames } from '../tables/kinds.ts';
import type { Account, Store } from '../tables/store.ts';
import { account_id, conversationRow, entryRow, postRow, ticketRow } from './seed-rows.ts';
import { idOr, known, text, texts, timeOr } from './seed-values.ts';

/** Rows by kind, of the shape that `GET /_sandbox/state` gives. The sandbox's own schemas judge them. */
export type Seed = Readonly<Record<string, readonly Fields[]>>;

export type CopySeed = {
  readonly seed: Seed;
  /** Kinds of which the copy does not hold everything. */
  readonly incomplete: readonly KindName[];
};

/** The copy of an account as the records of a sandbox. What the API does not show (notes, history) is empty. */
export async function seedFromCopy(store: Store, account: Account): Promise<CopySeed> {
  const rows = async (name: string, key: string): Promise<Fields[]> => {
    const all: Fields[] = [];
    for await (const record of readAll(store, account, name)) if (idOr(record[key])) all.push(record);
    // The copy keeps them as they came, newest first; of those of one moment the lower id is the older one.
    return all.sort((a, b) => Number(a[key]) - Number(b[key]));
  };
  const contacts = (await rows('contacts', 'contact_id')).map(contactRow);
  const people = new Set(contacts.map(({ contact_id: id }) => id));
  const lists = (await rows('lists', 'contacts_list_id')).map(listRow);
  const chats = await rows('conversations', 'id');
  const tickets = await rows('tickets', 'id');
  const strangers = new Map(
    [...tickets, ...chats].flatMap(({ contact, created_at }) => {
      const row = contactRow({ created_at, ...(known(contact) ?? {}) });
      return idOr(row.contact_id) && !people.has(row.contact_id) ? [[row.contact_id, { ...row, shadow: true }]] : [];
    }),
  );
  const chatIds = new Set(chats.map(({ id }) => id));
  const entries = await rows('changelog', 'id');
  const posts = await rows('feedback', 'id');
  const members: Fields[] = [];
  const listIds = new Set(lists.map(({ contacts_list_id: id }) => id));
  for await (const { contacts_list_id, contact_id } of readAll(store, account, 'list_members')) {
    if (people.has(contact_id) && listIds.has(contacts_list_id)) members.push({ contacts_list_id, contact_id });
  }
  const seed: Seed = {
    accounts: [
      { account_id, name: account.name || `Account ${account.id}` },
      { account_id: 2, name: 'Globex', billing_active: false },
    ],
    // Whoever a ticket names and the list of contacts does not show is a contact that the service keeps apart.
    contacts: [...contacts, ...strangers.values()],
    lists,
    list_members: members,
    calls: (await rows('calls', 'phone_call_id')).filter(({ contact_id }) => idOr(contact_id)).map(callRow),
    tickets: tickets.map((ticket) => ticketRow(ticket, chatIds)),
    conversations: chats.map(conversationRow),
    changelog: entries.map(entryRow),
    changelog_categories: categoriesOf(entries),
    feedback: posts.map(postRow),
    feedback_categories: categoriesOf(posts),
    feedback_statuses: statusesOf(posts),
    roadmap_columns: statusesOf(posts.filter(({ on_roadmap }) => on_roadmap === true)),
  };
  return { seed, incomplete: await incompleteKinds(store, account) };
}

const incompleteKinds = (store: Store, account: Account): Promise<KindName[]> =>
  store.read(async (sql) => {
    const incomplete: KindName[] = [];
    for (const kind of kindNames) if (!(await readState(sql, account, kind)).complete) incomplete.push(kind);
    return incomplete;
  });

const contactRow = (contact: Fields): Fields => ({
  contact_id: contact.contact_id,
  account_id,
  name: text(contact.name),
  last_name: text(contact.last_name),
  email: text(contact.email),
  phone: text(contact.phone),
  company: text(contact.company),
  website: typeof contact.website === 'string' ? contact.website : null,
  country: text(contact.country),
  tags: texts(contact.tags),
  metadata: known(contact.metadata) ?? {},
  lead_status: text(contact.lead_status) || 'new',
  created_at: timeOr(contact.created_at),
  // Lists do not have it.
  updated_at: timeOr(contact.updated_at ?? contact.created_at),
});

const listRow = (list: Fields): Fields => ({
  contacts_list_id: list.contacts_list_id,
  account_id,
  name: text(list.name),
  target_industry: text(list.target_industry),
});

const callRow = (call: Fields): Fields => ({
  phone_call_id: call.phone_call_id,
  account_id,
  contact_id: call.contact_id,
  from: text(call.from),
  to: text(call.to),
  status: text(call.status),
  duration: Number.isSafeInteger(call.duration) ? Math.max(0, Number(call.duration)) : 0,
  interest_level: text(call.interest_level),
  start_time: timeOr(call.start_time ?? call.created_at),
  created_at: timeOr(call.created_at),
});

/** Those that records are in: the API has no list of all. */
function categoriesOf(records: readonly Fields[]): Fields[] {
  const categories = new Map<unknown, Fields>();
  for (const { category } of records) {
    const { id, name } = known(category) ?? {};
    if (idOr(id)) categories.set(id, { id, account_id, name: text(name) });
  }
  return [...categories.values()];
}

function statusesOf(posts: readonly Fields[]): Fields[] {
  const slugs = [...new Set(posts.map(({ status }) => text(status)).filter(Boolean))];
  return slugs.map((slug, at) => ({ id: at + 1, account_id, slug, name: slug.replaceAll(/[_-]+/gu, ' ') }));
}
