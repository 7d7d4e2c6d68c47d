import { stringify } from 'csv-stringify/sync';
import { flat } from './cells.ts';

/** A line of RFC 4180. An empty cell alone is quoted: an empty line would be no record at all. */
export function csvLine(values: readonly unknown[], safe: boolean): string {
  const texts = values.map(cellText).map((text) => (safe ? inert(text) : text));
  const quoted_match = safe ? /[\r\n;\t]/u : /[\r\n]/u;
  return stringify([texts], { record_delimiter: '\r\n', quoted_match, quoted_empty: texts.length === 1 });
}

/** Lists as `contacts sync` reads tags: with `;` between, and in quotes where that would not tell them apart. */
function cellText(value: unknown): string {
  const needsQuotes =
    Array.isArray(value) && value.some((item) => typeof item === 'string' && /[;,|]|:::|^\s*["[]/u.test(item));
  if (!needsQuotes) return flat(value, ';');
  return value.map((item) => `"${flat(item, ';').replaceAll('"', '""')}"`).join(';');
}

/**
 * How a cell begins that a spreadsheet takes for a formula: also in the fullwidth form, and behind what some drop when
 * they read it: blanks, and signs that cannot be seen.
 */
const formula = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Z}]*[=+\-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF1D\uFF0B\uFF0D\uFF20])/u;
/** Phones and plain numbers begin so as well, and run nothing. */
const phoneOrNumber = /^[\p{Z}]*[+\-\u2212]?[\d().\- ]+$/u;

/** What a spreadsheet makes a cell of that splits at `;` or tabs: it takes no quote for one that is not the first of its part. */
const laterPart = /(?<=[;\t\r\n])[^;\t\r\n]+/gu;

const inert = (text: string): string => inertPart(text.replaceAll(laterPart, inertPart));

const inertPart = (text: string): string => (formula.test(text) && !phoneOrNumber.test(text) ? `'${text}` : text);
