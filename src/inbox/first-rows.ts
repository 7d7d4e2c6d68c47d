import { firstRows, keepFirstRows } from '../mirror/store/first-rows.ts';
import { isRecord, recordsIn } from '../text/record.ts';
import type { Row } from './row.ts';
import type { Reading, Rows } from './source.ts';

/** More than a screen shows. */
const kept = 60;

/** Views whose rows take long where there are very many. */
const views = new Set(['waiting', 'open']);

/** What the view began with when it was last looked at; undefined where that is not known. */
export async function lastRows({ store, account }: Reading, view: string): Promise<Rows | undefined> {
  if (!views.has(view)) return undefined;
  try {
    const read: unknown = JSON.parse((await store.read((sql) => firstRows(sql, account, view))) ?? 'null');
    if (!isRecord(read) || typeof read.total !== 'number') return undefined;
    return { rows: recordsIn(read.rows).filter(isRow), total: read.total };
  } catch {
    // It is a help and no more: the rows themselves come.
    return undefined;
  }
}

const isRow = (value: unknown): value is Row =>
  isRecord(value) && typeof value.id === 'number' && (value.kind === 'ticket' || value.kind === 'conversation');

/** Remembers it for the next start, where it is another one. Who may not write there does without. */
export async function rememberRows(
  { store, account }: Reading,
  view: string,
  { rows, total }: Rows,
  last: Rows | undefined,
): Promise<void> {
  if (!views.has(view)) return;
  const data = JSON.stringify({ rows: rows.slice(0, kept), total });
  if (last && JSON.stringify({ rows: last.rows, total: last.total }) === data) return;
  await keepFirstRows(store, account, view, data).catch(() => {});
}
