import { isRecord, ownOf } from '../../text/record.ts';

/** How far a record agrees with what was sent. `part`: a person would take it for the same, but it is not. */
export type Agreement = 'whole' | 'part' | 'none';

/**
 * `telling`: whether the fields agree by which people know such a record, of those that were sent. `others`: whether the
 * rest does, unsent fields by what the service makes of them.
 */
export function agreement(telling: readonly boolean[], others: readonly boolean[]): Agreement {
  if (!telling.some(Boolean)) return 'none';
  return [...telling, ...others].every(Boolean) ? 'whole' : 'part';
}

/**
 * Whether what the service holds is what was sent, allowing for what a service may do to it on the way in: trimming,
 * the Unicode form, line ends, runs of spaces, the case of an email, the punctuation of a phone number.
 */
export const isSameText = (stored: unknown, sent: unknown): boolean => plain(stored) === plain(sent);

/** The same of a message, a note or a description, which a service may keep as HTML. */
export function isSameRendered(stored: unknown, sent: unknown): boolean {
  if (isSameText(stored, sent)) return true;
  const shown = unmarked(stored);
  return shown !== plain(stored) && (shown === plain(sent) || shown === unmarked(sent));
}

export const isSameEmail = (stored: unknown, sent: unknown): boolean =>
  plain(stored).toLowerCase() === plain(sent).toLowerCase();

export const isSamePhone = (stored: unknown, sent: unknown): boolean => digits(stored) === digits(sent);

/** The same number, whatever prefix the service has put before it. What holds letters it may have read in its own way. */
export function isStoredPhone(stored: unknown, sent: unknown): boolean {
  const typed = plain(sent)
    .replace(/(?:ext|x|#|;).*$/iu, '')
    .replace('(0)', '');
  if (/\p{L}/u.test(typed)) return true;
  const number = digits(typed).replace(/^0+/u, '');
  return number === '' ? digits(stored) === '' : digits(stored).endsWith(number);
}

export const isSameUrl = (stored: unknown, sent: unknown): boolean => address(stored) === address(sent);

/**
 * The same moment, whatever the notation: the service may drop fractions of a second, the seconds, and the whole time of
 * day where it answers with a date alone. Without a zone it is UTC.
 */
export function isSameTime(stored: unknown, sent: unknown): boolean {
  const [a, b] = [momentOf(stored), momentOf(sent)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) && isSameText(stored, sent);
  const isCutTo = (unit: number): boolean => Math.floor(b / unit) * unit === a;
  if (/^\d{4}-\d{2}-\d{2}$/u.test(plain(stored))) return isCutTo(86_400_000);
  return Math.floor(a / 1000) === Math.floor(b / 1000) || isCutTo(60_000);
}

/** The same labels, in whatever order. */
export const isSameSet = (stored: unknown, sent: unknown): boolean => {
  const [a, b] = [stored, sent].map((list) => (Array.isArray(list) ? list.map(plain).sort() : []));
  return isSameValue(a, b);
};

/** The same JSON: texts as above, objects in whatever order. */
export function isSameValue(stored: unknown, sent: unknown): boolean {
  if (Array.isArray(stored) && Array.isArray(sent)) {
    return stored.length === sent.length && stored.every((one, at) => isSameValue(one, sent[at]));
  }
  if (isRecord(stored) || isRecord(sent)) {
    // Absent, null and empty are the same, also the empty list that PHP answers with in place of an empty object.
    const [a, b] = [fieldsOrNone(stored), fieldsOrNone(sent)];
    if (!a || !b) return false;
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
      isSameValue(ownOf(a, key), ownOf(b, key)),
    );
  }
  if (typeof stored === 'number' || typeof stored === 'boolean') return stored === sent;
  if (typeof sent === 'number' || typeof sent === 'boolean') return false;
  return isTextOrNone(stored) && isTextOrNone(sent) && isSameText(stored, sent);
}

const isTextOrNone = (value: unknown): boolean => value === null || value === undefined || typeof value === 'string';

function fieldsOrNone(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (isRecord(value)) return value;
  const isEmpty = value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return isEmpty ? {} : undefined;
}

/** Absent, null and empty are the same: services store one for the other. */
const plain = (value: unknown): string =>
  typeof value === 'string' ? value.normalize('NFC').replaceAll(/\s+/gu, ' ').trim() : '';

const inline = 'a|abbr|b|code|del|em|font|i|ins|mark|s|small|span|strike|strong|sub|sup|u';
const block = 'blockquote|body|br|div|h[1-6]|hr|html|li|ol|p|pre|table|tbody|td|th|tr|ul';
const tag = (names: string): RegExp => new RegExp(`</?(?:${names})(?:\\s[^<>]*)?/?>`, 'giu');
const [inlineTags, blockTags] = [tag(inline), tag(block)];
const entities = /&(?:(?<name>[a-z]+)|#(?:x(?<hex>[\da-f]{1,6})|(?<code>\d{1,7})));/giu;

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The text in HTML that was made of a plain one: without tags, each character as itself. */
const unmarked = (value: unknown): string =>
  plain(
    plain(value)
      .replaceAll(inlineTags, '')
      .replaceAll(blockTags, ' ')
      .replaceAll(entities, (entity, name, hex, code) => {
        if (name !== undefined) return ownOf(characters, name) ?? entity;
        const point = hex === undefined ? Number(code) : Number.parseInt(hex, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
      }),
  );

const digits = (value: unknown): string => plain(value).replaceAll(/\D/gu, '');

/** In milliseconds; NaN where it is no time. */
export function momentOf(value: unknown): number {
  const text = plain(value).replace(' ', 'T');
  const isBare = /T\d/u.test(text) && !/(?:Z|[+-]\d{2}:?\d{2})$/iu.test(text);
  return Date.parse(isBare ? `${text}Z` : text);
}

/** The address that a text means. */
export const address = (value: unknown): string => {
  const text = plain(value);
  return URL.canParse(text) ? new URL(text).href : text;
};

/** The same for texts that agree, whatever is compared of them. */
export const likeness = (...texts: readonly unknown[]): string =>
  JSON.stringify(texts.map((text) => unmarked(text).toLowerCase()));
