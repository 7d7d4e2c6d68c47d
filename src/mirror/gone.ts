import type { Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import { type KindName, kindOf } from './kinds.ts';
import { owned, ownerOf } from './owner.ts';
import { presentRows } from './present.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import { readingOf } from './reading.ts';
import { markGone } from './records.ts';
import type { KindState, Sweeping } from './state.ts';
import type { Sql } from './store.ts';
import { tableOf } from './tables.ts';

/** A kind, and how far its copy is. */
type Known = { readonly name: KindName; readonly state: KindState };

/** `isSure`: as many were found as the service counts. A record that can be asked for is asked for first. */
export async function markMissing(
  pulling: Pulling,
  { name, state }: Known & { readonly state: Sweeping },
  { isSure }: { readonly isSure: boolean },
): Promise<void> {
  const { store, account, writer } = pulling;
  const { one } = kindOf(name);
  const table = tableOf(name);
  const { number } = state.sweep;
  const text = `SELECT ${table.id} AS id FROM ${name} WHERE ${owned} AND gone_at IS NULL AND last_sweep < $3`;
  const missing = (await store.read((sql) => sql.all(text, [...ownerOf(account), number]))).map(({ id }) => Number(id));
  const gone: number[] = [];
  for (const id of missing) {
    if (one ? await isAbsent(pulling, one.operation, id) : isSure) gone.push(id);
  }
  if (gone.length > 0) await writer.write((sql) => forgetRecords(sql, pulling, { name, state }, gone));
}

/** Marks them gone, and what belongs to them. */
export async function forgetRecords(
  sql: Sql,
  pulling: Pulling,
  { name, state }: Known,
  ids: readonly number[],
): Promise<void> {
  const { parts, members } = kindOf(name);
  const reading = readingOf(pulling, state, { number: state.begun });
  for (const tableName of [name, parts?.table, members?.table]) {
    if (tableName === undefined) continue;
    const table = tableOf(tableName);
    const rows = [...(await presentRows(sql, pulling.account, table, ids)).values()].map((row) => ({
      ...row,
      ...(tableName !== name && { parent: Number(row.key.split(':')[0]) }),
    }));
    const count = await markGone(sql, reading, table, rows);
    if (tableName === name) tallyOf(pulling, name).gone += count;
  }
}

/** A record of its own that answers 404 is not there. */
export async function isAbsent(pulling: Pulling, operation: Operation, id: number): Promise<boolean> {
  try {
    await pulling.ask(operation, { params: { id } });
    return false;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not-found') return true;
    throw error;
  }
}
