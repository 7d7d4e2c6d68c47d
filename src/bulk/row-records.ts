import { resources } from '../api/resources.ts';
import type { RowOf } from '../command/row.ts';
import type { FileRow } from '../tabular/rows.ts';
import { short } from './cells.ts';
import type { Columns } from './columns.ts';

/** Which record a row of that line is about, as the file names it: a line of standard input leads nowhere. */
export type RowRecords = ReadonlyMap<number, { readonly noun: string; readonly name: string }>;

export function rowRecords({ operation }: RowOf, { targets }: Columns) {
  const all = new Map<number, { readonly noun: string; readonly name: string }>();
  const at = targets.findIndex((target) => target?.kind === 'id' || target?.kind === 'email');
  const resource = Object.values(operation.ids ?? {})[0];
  const see = ({ line, cells }: Pick<FileRow, 'line' | 'cells'>): void => {
    const name = String(cells[at] ?? '').trim();
    if (resource !== undefined && name !== '') all.set(line, { noun: resources[resource].noun, name: short(name) });
  };
  return { see, all };
}

/** The problem with its record in front, where it does not name that itself. */
export function withRecord(error: string, record: ReturnType<RowRecords['get']>): string {
  if (!record || error.split(/[\s:,]+/u).includes(record.name)) return error;
  return `${record.noun} ${record.name}: ${error}`;
}
