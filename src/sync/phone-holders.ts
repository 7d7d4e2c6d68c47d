import { detached } from '../text/detached.ts';
import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Contact } from './mapping.ts';
import { emailKey, type Row } from './rows.ts';

/** A row that goes out without its phone. `contact`: who has it in the account; null where another row has it. */
export type LeftOut = {
  readonly line: number;
  readonly email: string;
  readonly phone: string;
  readonly contact: number | null;
};

type Told = Omit<LeftOut, 'contact'>;
type Holder = {
  readonly number: PhoneNumber;
  readonly email: string;
  readonly rows: Told[];
  /** Who else has it: a contact by its id, or a row with another email. */
  other?: number | 'row';
};

/**
 * Whose phone each is, of the rows of one file. create_sync_contacts finds a contact by phone or email (service.md#lists-3),
 * so a row may only go out with a phone that nobody else has: it would be written over that person. Memory grows with the
 * number of phones.
 */
export type PhoneHolders = {
  add(row: Row): void;
  /** The service shows that this contact has it. */
  compare(contact: { readonly contact_id: number; readonly email?: unknown; readonly phone?: unknown }): void;
  /** Whether a row would go out with its phone, so that the account has to be looked at. */
  areThere(): boolean;
  /** Without its phone, where somebody else has it. */
  withOwnPhone(contact: Contact): Contact;
  leftOut(): LeftOut[];
};

export function newPhoneHolders(): PhoneHolders {
  const byEnding = new Map<string, Holder[]>();
  const placeOf = (number: PhoneNumber): Holder[] => byEnding.get(number.digits.slice(-fewestDigits)) ?? [];
  const holderOf = (number: PhoneNumber): Holder | undefined =>
    placeOf(number).find((one) => isEqual(one.number, number));
  const all = () => [...byEnding.values()].flat();

  return {
    add({ line, contact }) {
      const number = numberIn(contact.phone);
      if (!number) return;
      const email = detached(emailKey(contact));
      const told = {
        line,
        email: contact.email === email ? email : detached(contact.email),
        phone: detached(contact.phone ?? ''),
      };
      const others = placeOf(number).filter((one) => one.email !== email && isSame(one.number, number));
      for (const one of others) one.other ??= 'row';
      const own = holderOf(number);
      if (own) {
        own.rows.push(told);
        return;
      }
      const holder: Holder = { number, email, rows: [told] };
      if (others.length > 0) holder.other = 'row';
      const place = placeOf(number);
      place.push(holder);
      byEnding.set(number.digits.slice(-fewestDigits), place);
    },
    compare({ contact_id, email, phone }) {
      const number = numberIn(phone);
      if (!number) return;
      for (const one of placeOf(number))
        if (one.other === undefined && isSame(one.number, number) && one.email !== foldedEmail(email))
          one.other = contact_id;
    },
    areThere: () => all().some(({ other }) => other === undefined),
    withOwnPhone(contact) {
      const number = numberIn(contact.phone);
      if (!number || holderOf(number)?.other === undefined) return contact;
      const { phone: _, ...rest } = contact;
      return rest;
    },
    leftOut: () =>
      all()
        .flatMap(({ other, rows }) =>
          other === undefined ? [] : rows.map((row) => ({ ...row, contact: other === 'row' ? null : other })),
        )
        .sort((a, b) => a.line - b.line),
  };
}

const mostNamed = 10;

/** What a person should hear of: rows that share a phone, and rows whose phone a contact of the account has. */
export function leftOutNote(rows: readonly LeftOut[], who: 'rows' | 'contacts'): string[] {
  const [first] = rows;
  if (!first) return [];
  const named = rows
    .slice(0, mostNamed)
    .map(({ line, contact }) => (contact === null ? line : `${line}: contact ${contact}`));
  const lines = `${rows.length === 1 ? 'line' : 'lines'} ${named.join(', ')}${rows.length > mostNamed ? ', …' : ''}`;
  const whose = who === 'rows' ? 'stands in a row with another email too' : 'is that of a contact with another email';
  return [
    `Warning: ${counted(rows.length, 'row')} ${rows.length === 1 ? 'is' : 'are'} sent without the phone, which ${whose} (${lines}; the first is ${sanitize(first.phone)}): by it the service would write one person over another.`,
  ];
}

/** Digits without leading zeros. `isWhole`: with the code of its country. */
type PhoneNumber = { readonly digits: string; readonly isWhole: boolean };

/** What has fewer is no number that the service could find somebody by. */
const fewestDigits = 5;

const keys = '22233344455566677778889999';

/** As far as it can be told without knowing how the service reads it: without an extension, and letters as the keys that they stand on. */
function numberIn(phone: unknown): PhoneNumber | undefined {
  if (typeof phone !== 'string' || phone === '') return undefined;
  const text = phone
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replace(/(?:[#;]|ext|x\.?\s*\d+\s*$).*$/u, '')
    .replace('(0)', '')
    .replaceAll(/[a-z]/gu, (letter) => keys[letter.charCodeAt(0) - 97] ?? '');
  const digits = text.replaceAll(/\D/gu, '');
  const bare = digits.replace(/^0+/u, '');
  if (bare.length < fewestDigits) return undefined;
  return { digits: bare, isWhole: /^\D*\+/u.test(text) || digits.startsWith('00') };
}

const isEqual = (one: PhoneNumber, other: PhoneNumber): boolean =>
  one.digits === other.digits && one.isWhole === other.isWhole;

/** One without the code of its country may be any number that ends like it. */
function isSame(one: PhoneNumber, other: PhoneNumber): boolean {
  if (one.digits === other.digits) return true;
  const [short, long] = one.digits.length < other.digits.length ? [one, other] : [other, one];
  return !short.isWhole && long.digits.endsWith(short.digits);
}

export const foldedEmail = (email: unknown): string => (typeof email === 'string' ? email.trim().toLowerCase() : '');
