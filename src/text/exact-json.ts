import { hexDigestOf } from './digest.ts';
import { jsonIn, parseJson } from './json.ts';
import { endOfString } from './json-depth.ts';
import { isRecord } from './record.ts';

/** Strings are passed over; of the numbers only those with so many digits can lose one. */
const longNumber = /\d{16}|[eE]/u;
const quoteOrNumber = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;
const whole = /^(-?\d+)(?:\.0+)?$/u;

/** A number with a fraction or an exponent that would be sent as another one; as JSON and as a text it is what was written. */
class LongNumber {
  readonly #written: string;
  constructor(written: string) {
    this.#written = written;
  }
  toString(): string {
    return this.#written;
  }
  toJSON(): string {
    return this.#written;
  }
}

/** A number that keeps its digits where a number of JSON would not. */
export const isLong = (value: unknown): value is bigint | LongNumber =>
  typeof value === 'bigint' || value instanceof LongNumber;

/**
 * JSON whose large numbers keep all of their digits: a whole one that a number would round is a bigint, which no writer of
 * JSON takes by mistake, any other beyond 2^53 is its text. Throws a SyntaxError for what is no JSON, and for a number beyond all that a number can be.
 */
export function parseExactly(text: string): unknown {
  const value = parseJson(text);
  if (!longNumber.test(text)) return value;
  const mark = `${hexDigestOf(text)} `;
  let isExact = true;
  const marked = withNumbers(text, (token) => {
    if (isKept(token)) return token;
    isExact = false;
    return `"${mark}${whole.exec(token)?.[1] ?? token}"`;
  });
  if (isExact) return value;
  return JSON.parse(marked, (_, held: unknown) =>
    typeof held === 'string' && held.startsWith(mark) ? carried(held.slice(mark.length)) : held,
  );
}

/** What an answer has little of: digits in such a row, or an exponent of two and more. A quick look, which may be wrong. */
const mayBeLong = /\d{16}|\d[eE]\+?\d\d/u;

/**
 * JSON of the service, to be shown and kept: a number that would be rounded is a text, as it was written. Throws a
 * SyntaxError for what is no JSON.
 */
export function parseUnrounded(text: string): unknown {
  const value = parseJson(text);
  if (!mayBeLong.test(text)) return value;
  const quoted = withNumbers(text, (token) => (Number.isFinite(Number(token)) && isKept(token) ? token : `"${token}"`));
  return quoted === text ? value : JSON.parse(quoted);
}

/**
 * The JSON that `change` makes of a document's value, with each number as the document writes it; a number is at times a
 * text in that value. Undefined where the text is no JSON, or `change` has nothing for it.
 */
export function changedJson(text: string, change: (value: unknown) => object | undefined): string | undefined {
  if (jsonIn(text) === undefined) return undefined;
  const mark = `${hexDigestOf(text)} `;
  const marked = withNumbers(text, (token) => (JSON.stringify(Number(token)) === token ? token : `"${mark}${token}"`));
  const changed = change(JSON.parse(marked));
  return changed && JSON.stringify(changed, undefined, 2).replaceAll(new RegExp(`"${mark}([^"]+)"`, 'gu'), '$1');
}

/** The text of a JSON document with its numbers in another form. Strings are walked over: a pattern of them would not hold one of 20 MB. */
function withNumbers(text: string, form: (number: string) => string): string {
  const pieces: string[] = [];
  let done = 0;
  quoteOrNumber.lastIndex = 0;
  for (let found = quoteOrNumber.exec(text); found; found = quoteOrNumber.exec(text)) {
    const [token] = found;
    if (token === '"') {
      quoteOrNumber.lastIndex = endOfString(text, found.index);
      continue;
    }
    pieces.push(text.slice(done, found.index), form(token));
    done = found.index + token.length;
  }
  return pieces.join('') + text.slice(done);
}

const carried = (written: string) => (whole.test(written) ? BigInt(written) : new LongNumber(written));

/** Of fractions below 2^53 a number keeps what it can, as everywhere; a larger number may be an id or a sum. */
export function isKept(literal: string): boolean {
  const digits = whole.exec(literal)?.[1];
  if (digits !== undefined) return digits === '-0' || String(Number(digits)) === digits;
  const value = Number(literal);
  if (!Number.isFinite(value)) throw new SyntaxError(`${literal} is larger than any number`);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || inDigits(literal) === inDigits(String(value));
}

/** Digits and exponent without zeros that say nothing: the same for all ways to write one number. */
function inDigits(literal: string): string {
  const [, sign = '', before = '', after = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(literal) ?? [];
  const digits = `${before}${after}`.replace(/^0+/u, '');
  const short = digits.replace(/(?<!0)0+$/u, '');
  return `${sign}${short}e${Number(exponent) - after.length + digits.length - short.length}`;
}

/** The first number in it that would be rounded where it is sent. */
export function roundedIn(value: unknown): bigint | LongNumber | undefined {
  if (isLong(value)) return value;
  for (const one of Array.isArray(value) || isRecord(value) ? Object.values(value) : []) {
    const found = roundedIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Behind the name of the place where it stands. */
export const quoteIt = (number: bigint | LongNumber): string =>
  `holds ${number}, and a number keeps no more than 16 digits: write it in quotes`;

/** As JSON, each such number as its text. */
export const exactText = (value: unknown): string =>
  JSON.stringify(value, (_, held: unknown) => (typeof held === 'bigint' ? String(held) : held));
