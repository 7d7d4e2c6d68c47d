import { stringify } from 'csv-stringify/sync';
import { flat } from './cells.ts';

/** A line of RFC 4180. An empty cell alone is quoted: an empty line would be no record at all. */
export function csvLine(values: readonly unknown[], safe: boolean): string {
  // The separator that `contacts sync` splits tags at by default.
  const texts = values.map((value) => flat(value, ';')).map((text) => (safe ? inert(text) : text));
  return stringify([texts], { record_delimiter: '\r\n', quoted_match: /[\r\n]/u, quoted_empty: texts.length === 1 });
}

/**
 * How a cell begins that a spreadsheet takes for a formula: also in the fullwidth form, and behind what some drop when
 * they read it: blanks, and signs that cannot be seen.
 */
const formula = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Z}]*[=+\-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF1D\uFF0B\uFF0D\uFF20])/u;
/** Phones and plain numbers begin so as well, and run nothing. */
const phoneOrNumber = /^[\p{Z}]*[+\-\u2212]?[\d().\- ]+$/u;

const inert = (text: string): string => (formula.test(text) && !phoneOrNumber.test(text) ? `'${text}` : text);
