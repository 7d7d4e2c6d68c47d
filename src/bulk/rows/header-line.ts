import { placesIn } from '../../batch/places.ts';
import { columnNames, idNameOf, nameKey, type RowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { judgeBy, sayColumns } from '../../tabular/header-line.ts';
import type { Rows } from '../../tabular/rows.ts';
import { idNames } from './columns.ts';
import type { FileFlags } from './flags.ts';

type Known = {
  readonly row: RowOf;
  readonly flags: FileFlags;
  /** Of the template. */
  readonly placeholders: readonly string[];
};

/** How a line of a file is told to be its header: by the fields that the command has. */
export function headerLine({ row, flags, placeholders }: Known) {
  const named = new Set(placeholders.map(nameKey));
  const mapped = new Set(flags.map.map((text) => nameKey(text.slice(0, text.lastIndexOf('=')))));
  const fields = columnNames(row);
  const ids = flags.match ? new Set(['email']) : idNames(row);
  const needsId = idNameOf(row) !== undefined;
  const isKnown = (name: string) => {
    const key = nameKey(name);
    if (mapped.has(key) || ids.has(key)) return true;
    return !needsId && (named.has(key) || fields.has(key) || fields.has(nameKey(name.split('.')[0] ?? '')));
  };
  const isOfTickets = Object.values(row.operation.ids ?? {})[0] === 'tickets';
  return {
    // Not every word with a digit at its end: that may be a header.
    isName: (line: string) =>
      needsId && isOfTickets && flags.map.length === 0 && !flags.id_map?.length && /^[a-z]+-\d+$/iu.test(line),
    judge: judgeBy((cells) => cells.some((cell) => cell.trim() !== '' && isKnown(cell))),
    wayOut: (cells: readonly string[], line: number) =>
      sayColumns(cells, line, { field: fields.has('email') || flags.match ? 'email' : 'FIELD' }),
  };
}

const mostSearched = 100;

/** Where --map names a column that only a line further down has, that line may be the header. */
export async function withHeaderBelow(error: unknown, rows: Rows, map: readonly string[]): Promise<unknown> {
  const named = map.map((text) => text.slice(0, text.lastIndexOf('=')).trim());
  const missing = named.find((column) => placesIn(rows.columns, column).length === 0);
  if (!(error instanceof Failure) || missing === undefined || rows.form !== 'csv') return error;
  let seen = 0;
  for await (const batch of rows.read()) {
    for (const { line, cells } of batch) {
      const isHeader = cells.some((cell) => nameKey(String(cell)) === nameKey(missing));
      const flag = line === 1 ? 'leave out --no-header' : `add --skip-lines ${line - 1}`;
      const hint = `Line ${line} has it. If that is the header, ${flag}`;
      if (isHeader) return new Failure(error.kind, error.message, { ...error, hint });
      if (++seen >= mostSearched) return error;
    }
  }
  return error;
}
