import type { OutFile } from '../../disk/draft/out-file.ts';
import { csvLine } from '../../output/csv-out.ts';
import type { Column } from '../tables/tables.ts';
import type { RowsFile } from './rows-file.ts';

export type ExportFormat = 'parquet' | 'csv' | 'jsonl';

type Wanted = { readonly columns: readonly Column[]; readonly out: OutFile; readonly isSafe: boolean };

/** `isSafe`: cells of CSV that a spreadsheet would run are made inert. */
export async function openRows(format: ExportFormat, wanted: Wanted): Promise<RowsFile> {
  if (format === 'parquet') return (await import('./export-parquet.ts')).parquetFile(wanted.columns, wanted.out);
  return format === 'csv' ? csvFile(wanted) : jsonLines(wanted);
}

async function csvFile({ columns, out, isSafe }: Wanted): Promise<RowsFile> {
  const names = columns.map(({ name }) => name);
  await out.write(csvLine(names, false));
  return { put: (row) => out.write(csvLine(row, isSafe)), end: out.close };
}

/** Objects and lists stand in it as they are. */
function jsonLines({ columns, out }: Wanted): RowsFile {
  const fields = columns.map(({ name, type }) => ({ start: `${JSON.stringify(name)}:`, isJson: type === 'json' }));
  return {
    put: (row) => {
      const values = fields.map(
        ({ start, isJson }, at) => start + (isJson && row[at] !== null ? row[at] : JSON.stringify(row[at] ?? null)),
      );
      return out.write(`{${values.join(',')}}\n`);
    },
    end: out.close,
  };
}
