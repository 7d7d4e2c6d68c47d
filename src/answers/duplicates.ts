import { dataOf, isSame } from '../mirror/tables/cells.ts';
import { emailKey } from '../mirror/tables/contact-words.ts';
import type { Account, Sql } from '../mirror/tables/store.ts';
import type { Fields } from '../text/record.ts';
import { answer, type Query } from './ask.ts';

/** In the order in which they tell: an address is one person's, a name with a company most often. */
export const likenesses = ['email', 'phone', 'name'] as const;

export type Likeness = (typeof likenesses)[number];

/** Records that look like one person. */
export type Group = {
  /** What they have in common, and its value. */
  readonly by: readonly Likeness[];
  readonly same: Readonly<Partial<Record<Likeness, string>>>;
  /** The oldest id first. */
  readonly ids: readonly number[];
  /** The fields in which they differ: the value of each record, in the order of `ids`. */
  readonly differs: Readonly<Record<string, readonly unknown[]>>;
  readonly contacts: readonly Fields[];
};

const contactsQuery: Query = {
  parts: {},
  select: 'SELECT CAST(data AS text) AS data FROM contacts WHERE gone_at IS NULL ORDER BY contact_id',
};

/** Groups of two or more, the one with the oldest record first. Records that have several things in common are one group. */
export async function duplicates(sql: Sql, account: Account, by: readonly Likeness[]): Promise<Group[]> {
  const contacts = (await answer(sql, account, contactsQuery)).map(dataOf);
  const keys = await keysOf(contacts);
  const groups = new Map<string, Group>();
  for (const likeness of likenesses.filter((one) => by.includes(one))) {
    for (const [value, members] of grouped(contacts, keys[likeness])) {
      if (members.length < 2) continue;
      const ids = members.map(({ contact_id: id }) => Number(id));
      const present = groups.get(ids.join(' '));
      groups.set(ids.join(' '), {
        by: [...(present?.by ?? []), likeness],
        same: { ...present?.same, [likeness]: value },
        ids,
        differs: present?.differs ?? differences(members),
        contacts: members,
      });
    }
  }
  return [...groups.values()].sort((one, other) => order(one.ids, other.ids));
}

const order = (one: readonly number[], other: readonly number[]): number =>
  (one[0] ?? 0) - (other[0] ?? 0) || one.length - other.length || (one[1] ?? 0) - (other[1] ?? 0);

function grouped(contacts: readonly Fields[], keyOf: (contact: Fields) => string): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>();
  for (const contact of contacts) {
    const key = keyOf(contact);
    if (key === '') continue;
    const members = groups.get(key);
    if (members) members.push(contact);
    else groups.set(key, [contact]);
  }
  return groups;
}

/** What two records of one person share; empty where a record has none of it. */
async function keysOf(contacts: readonly Fields[]): Promise<Readonly<Record<Likeness, (contact: Fields) => string>>> {
  const isPlain = ({ phone }: Fields) => !phone || plainPhone.test(String(phone));
  const parse = contacts.every(isPlain) ? undefined : (await import('libphonenumber-js/min')).default;
  return {
    email: ({ email }) => emailKey(email),
    phone: ({ phone }) => {
      const text = typeof phone === 'string' ? phone.trim() : '';
      if (plainPhone.test(text) || text === '' || text.length > 250) return plainPhone.test(text) ? text : '';
      // As the service reads one without its country.
      const number = parse?.(text.replace(/^00(?=[1-9])/u, '+'), 'US');
      return number?.isPossible() ? number.number : '';
    },
    name: ({ name, last_name, company }) => {
      const whole = words(`${words(name)} ${words(last_name)}`);
      const where = words(company);
      return whole === '' || where === '' ? '' : `${whole}, ${where}`;
    },
  };
}

const plainPhone = /^\+[1-9]\d{6,14}$/u;

const words = (value: unknown): string =>
  typeof value === 'string' ? value.normalize('NFC').toLowerCase().trim().replaceAll(/\s+/gu, ' ') : '';

const compared = [
  ...['name', 'last_name', 'email', 'phone', 'company', 'website', 'country', 'lead_status', 'tags', 'metadata'],
];

const differences = (members: readonly Fields[]): Group['differs'] =>
  Object.fromEntries(
    compared
      .filter((field) => members.some((one) => !isSame(one[field] ?? null, members[0]?.[field] ?? null)))
      .map((field) => [field, members.map((one) => one[field] ?? null)]),
  );
