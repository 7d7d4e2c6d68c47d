import { resources } from '../../api/resources.ts';
import type { RowOf } from '../../command/row.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { short } from '../../text/short.ts';
import type { Columns } from './columns.ts';

/** Which record a row of that line is about, as the file names it: a line of standard input leads nowhere. */
export type RowRecords = ReadonlyMap<number, { readonly noun: string; readonly name: string }>;

/** What a row says of the record that it is about. */
export function recordReader({ operation }: RowOf, { targets }: Columns) {
  const at = targets.findIndex((target) => target?.kind === 'id' || target?.kind === 'email');
  const resource = Object.values(operation.ids ?? {})[0];
  return ({ cells }: Pick<FileRow, 'cells'>) => {
    const name = String(cells[at] ?? '').trim();
    return resource !== undefined && name !== '' ? { noun: resources[resource].noun, name: short(name) } : undefined;
  };
}

/** Of the rows of these lines alone: few are ever shown. */
export async function recordsIn(
  batches: AsyncIterable<readonly FileRow[]>,
  recordOf: ReturnType<typeof recordReader>,
  lines: ReadonlySet<number>,
): Promise<RowRecords> {
  const records = new Map<number, { readonly noun: string; readonly name: string }>();
  for await (const batch of batches) {
    for (const row of batch) {
      const record = lines.has(row.line) ? recordOf(row) : undefined;
      if (record) records.set(row.line, record);
    }
  }
  return records;
}

/** The problem with its record in front, where it does not name that itself. */
export function withRecord(error: string, record: ReturnType<RowRecords['get']>): string {
  if (!record || error.split(/[\s:,]+/u).includes(record.name)) return error;
  return `${record.noun} ${record.name}: ${error}`;
}
