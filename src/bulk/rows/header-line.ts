import { columnNames, idNameOf, nameKey, type RowOf } from '../../command/row.ts';
import { judgeBy, sayColumns } from '../../tabular/header-line.ts';
import type { TableOptions } from '../../tabular/table.ts';
import { idNames } from './columns.ts';
import type { FileFlags } from './flags.ts';

type Known = {
  readonly row: RowOf;
  readonly flags: FileFlags;
  /** Of the template. */
  readonly placeholders: readonly string[];
};

type HeaderLine = Pick<TableOptions, 'judge' | 'wayOut'> & { readonly isName: (line: string) => boolean };

/** How a line of a file is told to be its header: by the fields that the command has. */
export function headerLine({ row, flags, placeholders }: Known): HeaderLine {
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
    isName: (line) =>
      needsId && isOfTickets && flags.map.length === 0 && !flags.id_map?.length && /^[a-z]+-\d+$/iu.test(line),
    judge: judgeBy((cells) => cells.some((cell) => cell.trim() !== '' && isKnown(cell))),
    wayOut: (cells, line) => sayColumns(cells, line, { field: fields.has('email') || flags.match ? 'email' : 'FIELD' }),
  };
}
