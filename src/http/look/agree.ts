import { type Fields, isRecord, ownOf } from '../../text/record.ts';
import { decoded, escaped, isLaidOut, lettersOf, lined, spelled, unwrapped } from './html.ts';

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

/**
 * The same of a message, a note or a description, which a service may keep as HTML: of what was sent as text it makes a
 * page that shows it as it was typed, what was sent as HTML it may put into paragraphs, and spell otherwise.
 */
export function isSameRendered(stored: unknown, sent: unknown): boolean {
  if (isSameText(stored, sent)) return true;
  const text = plain(stored);
  const page = spelled(text);
  const typed = typeof sent === 'string' ? lined(sent) : '';
  // What is kept as text holds no tag and no entity: there `Q&amp;A` is no `Q&A`.
  const isHtml = page !== escaped(text);
  return isHtml && [escaped(typed), unwrapped(spelled(typed))].some((wanted) => isLaidOut(unwrapped(page), wanted));
}

/** The same to whoever reads over it: in letters alone, however it is marked. */
export const isAlikeRendered = (stored: unknown, sent: unknown): boolean =>
  isSameRendered(stored, sent) || lettersOf(plain(stored)) === lettersOf(plain(sent));

export const isSameEmail = (stored: unknown, sent: unknown): boolean =>
  plain(stored).toLowerCase() === plain(sent).toLowerCase();

export const isSamePhone = (stored: unknown, sent: unknown): boolean => digits(stored) === digits(sent);

/** The same number, whatever prefix the service has put before it. What holds letters it may have read in its own way. */
export function isStoredPhone(stored: unknown, sent: unknown): boolean {
  const typed = plain(sent)
    .replace(/(?:ext|x|#|;).*$/isu, '')
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

/** The same labels, which the service may keep in another case, and each once. */
export const isSameLabels = (stored: unknown, sent: unknown): boolean => isSameSet(lowered(stored), lowered(sent));

/** Without case, and each once. */
export const lowered = (value: unknown): unknown => {
  if (Array.isArray(value)) return [...new Set(value.map(lowered))];
  return typeof value === 'string' ? value.toLowerCase() : value;
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

function fieldsOrNone(value: unknown): Fields | undefined {
  if (isRecord(value)) return value;
  const isEmpty = value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return isEmpty ? {} : undefined;
}

/** Absent, null and empty are the same: services store one for the other. */
const plain = (value: unknown): string =>
  typeof value === 'string' ? value.normalize('NFC').replaceAll(/\s+/gu, ' ').trim() : '';

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

/** The same for texts that agree, and for all that one record may agree with, whatever is compared of them. */
export const likeness = (...texts: readonly unknown[]): string =>
  JSON.stringify(texts.map((text) => bare(plain(text)).toLowerCase()));

/** Nobody wraps a text more often. Each round reads it whole, so a text that is made for it would take minutes. */
const roundsAtMost = 20;

/** Without any spelling of HTML, however often it was put around the text. */
function bare(text: string): string {
  let held = text;
  for (let round = 0; round < roundsAtMost && /[&<]/u.test(held); round++) {
    const barer = plain(decoded(unwrapped(spelled(held))));
    if (barer === held) break;
    held = barer;
  }
  return held;
}
