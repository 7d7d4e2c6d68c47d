import { Failure } from '../errors.ts';
import { shellWord } from '../text/shell-word.ts';

/** The id, number or email that stands in what people paste: in an address of a page, in quotes, behind a name. */
export function nameIn(record: string | undefined, text: string): string | undefined {
  const isAddress = /^https?:/iu.test(text);
  if (record === 'contacts' && text.includes('@') && !isAddress)
    return /(?<=^|[\s<>"(),;:]|^')[^\s<>"(),;:']([^\s<>"(),;:]*[^\s<>"(),;:'])?@[^\s<>"'(),;:]+/u.exec(text)?.[0];
  // `8.0` is 8, as spreadsheets write it; of any other fraction the digits are other records'.
  const path = isAddress ? text.replace(/[?#].*$/su, '') : text.replaceAll(/(?<=\d)\.0+(?!\d)/gu, '');
  const [, letters, digits] = isAddress ? (numbersIn(path).at(-1) ?? []) : (onlyOf(numbersIn(path)) ?? []);
  if (digits === undefined || (letters && record !== 'tickets')) return undefined;
  if (!letters && Number(digits) === 0) return undefined;
  // Of `acme-report-2` the digits alone are another record's, and so are those of `-2`.
  if (!letters && !isAddress && /(?:\p{L}.*|(?<!\d))-\d+$/u.test(path)) return undefined;
  return letters ? `${letters.toUpperCase()}-${digits}` : digits;
}

const numbersIn = (text: string): RegExpExecArray[] => [
  ...text.matchAll(/(?<![\p{L}\d])([a-z]{0,4}(?=-?\d))-?(\d{1,16})(?![\p{L}\d])/giu),
];

/** What stands there by itself, or as the one with letters: of two numbers nobody can say which is meant. */
function onlyOf(found: readonly RegExpExecArray[]): RegExpExecArray | undefined {
  const lettered = found.filter(([, letters]) => letters);
  const [only, ...others] = lettered.length > 0 ? lettered : found;
  return others.length > 0 ? undefined : only;
}

/** `#T-1008` is T-1008. */
export const withoutSign = (number: string): string => number.replace(/^#(?=\D)/u, '');

/** The same for each way to write one number. */
export const numberKey = (number: string): string => withoutSign(number.trim().toLowerCase());

const phone = /^\+[\d\s().-]{7,}$/u;

/** A phone would be read as an id that nobody has. */
export function refusePhone(texts: readonly string[]): void {
  const text = texts.map((one) => one.trim()).find((one) => /^\+\d{7,}$/u.test(one));
  if (text === undefined) return;
  throw new Failure('not-found', `No contact has the id ${text}, which looks like a phone.`, byPhone(text));
}

const byPhone = (text: string) => ({ hint: `To find it by phone: svc contacts find ${shellWord(text)}` });

/** The failure of a text that is no id, with what may be meant. */
export function withMeant(error: unknown, record: string, texts: readonly string[]): unknown {
  if (!(error instanceof Failure) || error.hint !== undefined) return error;
  for (const text of texts.map((one) => one.trim())) {
    const meant = nameIn(record, text);
    if (record === 'contacts' && phone.test(text)) return new Failure(error.kind, error.message, byPhone(text));
    if (meant !== undefined && meant !== text)
      return new Failure(error.kind, error.message, { hint: `Did you mean ${meant}?` });
  }
  const words = texts.map((one) => one.trim()).find((one) => /^\p{L}/u.test(one));
  const search = searches[record];
  if (words === undefined || search === undefined) return error;
  return new Failure(error.kind, error.message, { hint: `To look for it: svc ${search} ${shellWord(words)}` });
}

/** What finds a record by words that are no name of it. */
const searches: Readonly<Record<string, string>> = { contacts: 'contacts find', tickets: 'tickets list --search' };
