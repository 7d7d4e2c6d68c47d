import { Failure } from '../errors.ts';
import { listedColumns, oneColumn } from '../tabular/columns.ts';

export type FilterFlags = { readonly skip: readonly string[]; readonly only: readonly string[] };

/**
 * Says whether a row is left out. `--skip COLUMN=VALUE` leaves out the rows with that value. `--only` keeps those: several
 * of one column are alternatives, and of several columns each has to hold. Undefined without any.
 */
export function filterOf({ skip, only }: FilterFlags, headers: readonly string[]) {
  if (skip.length + only.length === 0) return undefined;
  const skipped = valuesByColumn(skip, '--skip', headers);
  const kept = valuesByColumn(only, '--only', headers);
  return (cells: readonly string[]): boolean =>
    skipped.some(([index, values]) => values.has(keyOf(cells[index]))) ||
    kept.some(([index, values]) => !values.has(keyOf(cells[index])));
}

/** The places of the columns that say which rows are sent. */
export const filterColumns = ({ skip, only }: FilterFlags, headers: readonly string[]): ReadonlySet<number> =>
  new Set([skip, only].flatMap((texts) => valuesByColumn(texts, '--skip', headers).map(([index]) => index)));

/** Nobody means another value by another case, or by an accent of its own. */
export const keyOf = (cell = ''): string => cell.normalize('NFC').trim().toLowerCase();

function valuesByColumn(texts: readonly string[], flag: string, headers: readonly string[]) {
  const columns = new Map<number, Set<string>>();
  for (const text of texts) {
    const { index, value } = readFilter(text, flag, headers);
    const values = columns.get(index) ?? new Set();
    columns.set(index, values.add(keyOf(value)));
  }
  return [...columns];
}

/** A header may hold "=", and so may a value: the first that leaves a column in front of it is meant. */
function readFilter(text: string, flag: string, headers: readonly string[]) {
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', at + 1)) {
    const value = text.slice(at + 1);
    const index = oneColumn(headers, text.slice(0, at).trim(), (column) => `${flag} "${column}=${value}"`);
    if (index !== undefined) return { index, value };
  }
  if (text.indexOf('=') < 1) {
    throw new Failure('usage', `${flag} takes COLUMN=VALUE, not "${text}".`, {
      hint: `For example: ${flag} "Status=${flag === '--skip' ? 'unsubscribed' : 'active'}"`,
    });
  }
  const column = text.slice(0, text.indexOf('=')).trim();
  throw new Failure('usage', `${flag} "${text}": the file has no column "${column}".`, {
    hint: listedColumns(headers),
  });
}
