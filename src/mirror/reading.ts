import { resources } from '../api/resources.ts';
import type { Fields } from './cells.ts';
import type { Kind, KindName } from './kinds.ts';
import { type Present, presentRows } from './present.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import { applyRecords, type Entry, type Reading } from './records.ts';
import type { KindState, Sweep } from './state.ts';
import type { Sql } from './store.ts';
import { tableOf } from './tables.ts';

export const idFieldOf = ({ list }: Kind): string => resources[list.resource].idField ?? 'id';

export function readingOf(pulling: Pulling, state: KindState, { number }: Pick<Sweep, 'number'>): Reading {
  const { account, wishes } = pulling;
  const isFollowed = wishes.follow && !state.complete;
  return {
    account,
    now: pulling.now(),
    readAt: null,
    sweep: number,
    isNews: state.complete || isFollowed,
    ...(isFollowed && state.followedFrom !== null && { newSince: state.followedFrom }),
  };
}

/** Records of a list that holds them whole. Returns what was there before. */
export async function storeRecords(
  sql: Sql,
  pulling: Pulling,
  name: KindName,
  reading: Reading,
  records: readonly Fields[],
): Promise<ReadonlyMap<string, Present>> {
  const table = tableOf(name);
  const ids = records.map((record) => record[table.id]).filter((id): id is number => Number.isSafeInteger(id));
  const present = await presentRows(sql, pulling.account, table, ids);
  const entries: Entry[] = records
    .filter((record) => Number.isSafeInteger(record[table.id]))
    .map((record) => ({ record }));
  add(tallyOf(pulling, name), await applyRecords(sql, reading, table, entries, present));
  return present;
}

function add(tally: { created: number; updated: number; gone: number }, more: typeof tally): void {
  tally.created += more.created;
  tally.updated += more.updated;
  tally.gone += more.gone;
}
