import type { Phones } from '../batch/phone.ts';
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
  readonly readings: Readings;
  readonly email: string;
  readonly rows: Told[];
  /** Who else has it: a contact by its id, or a row with another email. */
  other?: number | 'row';
};

export type PhoneHolders = ReturnType<typeof newPhoneHolders>;

type Found = { readonly contact_id: number; readonly email?: unknown; readonly phone?: unknown };

/**
 * Whose phone each is, of the rows of one file. create_sync_contacts finds a contact by phone or email (service.md#lists-3),
 * so a row may only go out with a phone that nobody else has: it would be written over that person. Memory grows with the
 * number of phones.
 */
export function newPhoneHolders({ stored }: Pick<Phones, 'stored'>) {
  const holders = new Map<string, Holder>();
  const byEnding = new Map<string, Holder[]>();
  const read = (phone: unknown) => readingsOf(phone, stored);
  const place = (ending: string): Holder[] => {
    const there = byEnding.get(ending) ?? [];
    byEnding.set(ending, there);
    return there;
  };
  const nearTo = (readings: Readings): Holder[] => [
    ...new Set(readings.flatMap((reading) => byEnding.get(endingOf(reading)) ?? [])),
  ];

  return {
    add({ line, contact }: Row): void {
      const readings = read(contact.phone);
      if (readings.length === 0) return;
      const email = detached(emailKey(contact));
      const told = {
        line,
        email: contact.email === email ? email : detached(contact.email),
        phone: detached(contact.phone ?? ''),
      };
      const others = nearTo(readings).filter((one) => one.email !== email && mayBeSame(one.readings, readings));
      for (const one of others) one.other ??= 'row';
      const own = holders.get(keyOf(readings));
      if (own) {
        own.rows.push(told);
        return;
      }
      const holder: Holder = { readings, email, rows: [told] };
      if (others.length > 0) holder.other = 'row';
      holders.set(keyOf(readings), holder);
      for (const ending of new Set(readings.map(endingOf))) place(ending).push(holder);
    },
    /** The service shows that this contact has it. */
    compare({ contact_id, email, phone }: Found): void {
      const readings = read(phone);
      for (const one of nearTo(readings))
        if (one.other === undefined && one.email !== foldedEmail(email) && mayBeSame(one.readings, readings))
          one.other = contact_id;
    },
    /** Whether a row would go out with its phone, so that the account has to be looked at. */
    areThere: () => [...holders.values()].some(({ other }) => other === undefined),
    /** Without its phone, where somebody else has it. */
    withOwnPhone(contact: Contact): Contact {
      if (holders.get(keyOf(read(contact.phone)))?.other === undefined) return contact;
      const { phone: _, ...rest } = contact;
      return rest;
    },
    leftOut: (): LeftOut[] =>
      [...holders.values()]
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

/** All that a cell may mean: how the service reads it is not described, so each reading counts. */
type Readings = readonly PhoneNumber[];

/** What has fewer is no number that the service could find somebody by. */
const fewestDigits = 5;

/** Of several numbers in a cell, what has fewer is an extension. */
const fewestOfSeveral = 7;

const endingOf = ({ digits }: PhoneNumber): string => digits.slice(-fewestDigits);
const keyOf = (readings: Readings): string =>
  readings.map(({ digits, isWhole }) => `${isWhole ? '+' : ''}${digits}`).join(' ');

/** As a library stores it; its digits, with letters as the keys that they stand on; and each number among other text. */
function readingsOf(phone: unknown, stored: Phones['stored']): Readings {
  if (typeof phone !== 'string' || phone === '') return [];
  const text = withAsciiDigits(phone.normalize('NFKC').trim().toLowerCase());
  const bare = text.replace(/(?:[#;]|ext|x\.?\s*\d+\s*$).*$/su, '').replace('(0)', '');
  const parts = /[^\d\s().+-]/u.test(text) ? text.split(/[^\d\s().+-]+/u) : [];
  const numbers = [
    numberIn(stored(text) ?? ''),
    numberIn(bare.replaceAll(/[a-z]/gu, (letter) => keys[letter.charCodeAt(0) - 97] ?? '')),
    ...parts.map((part) => numberIn(part, fewestOfSeveral)),
  ];
  const all = numbers.filter((number) => number !== undefined);
  return [...new Map(all.map((number) => [keyOf([number]), number])).values()];
}

const keys = '22233344455566677778889999';

function numberIn(text: string, fewest = fewestDigits): PhoneNumber | undefined {
  const dialled = text.replaceAll(/\D/gu, '');
  const isWhole = /^\D*\+/u.test(text) || /^0(?:0|11)/u.test(dialled);
  // 00 and, in North America, 011 are dialled for the plus.
  const digits = dialled.replace(/^(?:011|0+)/u, '');
  return digits.length < fewest ? undefined : { digits, isWhole };
}

/** Those of other scripts stand in tens, each from its zero. */
const withAsciiDigits = (text: string): string =>
  text.replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let zero = code;
    while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String((code - zero) % 10);
  });

const mayBeSame = (one: Readings, other: Readings): boolean => one.some((a) => other.some((b) => isSame(a, b)));

/** One without the code of its country may be any number that ends like it. */
function isSame(one: PhoneNumber, other: PhoneNumber): boolean {
  if (one.digits === other.digits) return true;
  const [short, long] = one.digits.length < other.digits.length ? [one, other] : [other, one];
  return !short.isWhole && long.digits.endsWith(short.digits);
}

export const foldedEmail = (email: unknown): string => (typeof email === 'string' ? email.trim().toLowerCase() : '');
