import { columnNames, nameKey, type RowOf } from '../../command/row.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { firstOf } from '../../text/first-of.ts';
import { listed } from '../../text/listed.ts';
import { nearest } from '../../text/near.ts';
import { sanitize } from '../../text/sanitize.ts';
import { short } from '../../text/short.ts';
import type { Reading } from './cells.ts';
import type { Columns } from './columns.ts';

type Parts = { readonly row: RowOf; readonly columns: Columns; readonly reading: Pick<Reading, 'isJson'> };

/** Why a row changes nothing: its fields are empty, or what it has is no field of the command, or it has nothing. */
export function noChange({ cells }: FileRow, { row, columns, reading }: Parts): string {
  const strange = columns.names.filter(
    (name, at) => columns.unused.includes(name) && !columns.ignored.has(at) && !isBlank(cells[at]),
  );
  if (strange.length === 0)
    return `changes nothing: ${reading.isJson ? 'no field of it has a value' : 'every cell is empty'}`;
  const empty = columns.names.filter(
    (_, at) => columns.targets[at]?.field && (!reading.isJson || cells[at] !== undefined),
  );
  if (empty.length > 0) return `changes nothing: ${namesOf(empty)} ${empty.length === 1 ? 'is' : 'are'} empty`;
  const fields = [...new Set(columnNames(row).values())];
  const near = strange.flatMap((name) => nearest(nameKey(name), fields) ?? []);
  const meant = near.length > 0 ? `; did you mean ${listed([...new Set(near)])}?` : '';
  const are = strange.length === 1 ? 'is no field' : 'are no fields';
  return `changes nothing: ${namesOf(strange)} ${are} of this command${meant}`;
}

const namesOf = (names: readonly string[]): string =>
  firstOf(
    names.map((name) => sanitize(short(name))),
    3,
  );

export const isBlank = (cell: unknown): boolean => cell === undefined || cell === null || String(cell).trim() === '';
