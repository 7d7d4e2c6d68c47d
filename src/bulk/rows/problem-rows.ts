import { numberColumn, textColumn } from '../../text/column.ts';
import type { RowRequests } from './row-requests.ts';
import { type RowTable, rowTable, type Table } from './row-table.ts';

/** Why a row cannot be sent as it is. */
type Problem = { readonly line: number; readonly error: string; readonly ref: string };

/** Rows that cannot be sent. About 8 bytes for a row. */
export type ProblemRows = Table<number, Problem>;

/** `names`: of the rows of the file, each at its position. */
export function problemRows({ names }: Pick<RowRequests, 'names'>): RowTable<Problem, Omit<Problem, 'ref'>> {
  const [lines, errors] = [numberColumn(), textColumn()];
  return rowTable(
    (index) => {
      const error = errors.get(index);
      return error === undefined ? undefined : { line: lines.get(index) ?? 0, error, ref: names.nameAt(index) };
    },
    (index, { line, error }) => {
      lines.set(index, line);
      errors.set(index, error);
    },
  );
}
