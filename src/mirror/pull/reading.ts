import type { Fields } from '../../text/record.ts';
import type { KindState, Sweep } from '../store/state.ts';
import type { KindName } from '../tables/kinds.ts';
import type { Sql } from '../tables/store.ts';
import { type Table, tableOf } from '../tables/tables.ts';
import { type Present, presentRows } from './present.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import { applyRecords, type Reading } from './records.ts';

export function readingOf(pulling: Pulling, state: KindState, { number }: Pick<Sweep, 'number'>): Reading {
  const { account } = pulling;
  // Whoever follows is told of what happened since, whichever reading finds it.
  const newSince = state.repairsFrom ?? state.followedFrom;
  return {
    account,
    now: pulling.now(),
    readAt: null,
    sweep: number,
    notesChanges: state.complete || newSince !== null,
    ...(!state.complete && newSince !== null && { newSince }),
    ...(state.complete && state.first !== null && { first: state.first }),
  };
}

/** Its first whole reading is left for later. One that was whole before is read whole again even so. */
export const isFollowing = ({ wishes }: Pulling, { complete, repairsFrom }: KindState): boolean =>
  wishes.follow && !complete && repairsFrom === null;

/** Records that were read together. */
export type Read = { readonly reading: Reading; readonly records: readonly Fields[] };

export const idIn =
  (table: Table) =>
  (record: Fields): number =>
    Number(record[table.id]);

/** Records of a list that holds them whole. Returns what was there before. */
export async function storeRecords(
  sql: Sql,
  pulling: Pulling,
  name: KindName,
  { reading, records }: Read,
): Promise<ReadonlyMap<string, Present>> {
  const table = tableOf(name);
  const present = await presentRows(sql, pulling.account, table, records.map(idIn(table)));
  const entries = records.map((record) => ({ record }));
  const { created, updated } = await applyRecords(sql, reading, table, { entries, present });
  const tally = tallyOf(pulling, name);
  tally.created += created;
  tally.updated += updated;
  return present;
}
