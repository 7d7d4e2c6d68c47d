import { hexDigestOf } from './digest.ts';
import { isRecord } from './record.ts';

/** Strings are passed over; of the numbers only those with so many digits can lose one. */
const longNumber = /\d{16}|[eE]/u;
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;
const whole = /^(-?\d+)(?:\.0+)?$/u;

/**
 * JSON whose whole numbers keep all of their digits: one that a number would round is a bigint, which no writer of JSON
 * takes by mistake. Throws a SyntaxError for what is no JSON, and for a number beyond all that a number can be.
 */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  const mark = `${hexDigestOf(text)} `;
  let isExact = true;
  const marked = text.replaceAll(tokens, (token) => {
    if (token.startsWith('"') || isKept(token)) return token;
    isExact = false;
    return `"${mark}${whole.exec(token)?.[1]}"`;
  });
  if (isExact) return value;
  return JSON.parse(marked, (_, held: unknown) =>
    typeof held === 'string' && held.startsWith(mark) ? BigInt(held.slice(mark.length)) : held,
  );
}

/** Of fractions a number keeps what it can, as everywhere; a whole number may be an id. */
export function isKept(literal: string): boolean {
  const digits = whole.exec(literal)?.[1];
  if (digits !== undefined) return digits === '-0' || String(Number(digits)) === digits;
  if (Number.isFinite(Number(literal))) return true;
  throw new SyntaxError(`${literal} is larger than any number`);
}

/** The first number in it that would be rounded where it is sent. */
export function roundedIn(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  for (const one of Array.isArray(value) || isRecord(value) ? Object.values(value) : []) {
    const found = roundedIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Behind the name of the place where it stands. */
export const quoteIt = (number: bigint): string =>
  `holds ${number}, and a number keeps no more than 16 digits: write it in quotes`;

/** As JSON, each such number as its text. */
export const exactText = (value: unknown): string =>
  JSON.stringify(value, (_, held: unknown) => (typeof held === 'bigint' ? String(held) : held));
