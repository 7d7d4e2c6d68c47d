import { Failure } from '../errors.ts';
import { recordsIn } from '../text/record.ts';
import type { Fields } from './cells.ts';
import { forgetRecords } from './gone.ts';
import { type KindName, kindOf, type Members } from './kinds.ts';
import { owned, ownerOf } from './owner.ts';
import { readPage, tell } from './page.ts';
import type { Pulling } from './pulling.ts';
import { idFieldOf, readingOf, storeRecords } from './reading.ts';
import { beginSweep, isSweeping, readState, type Sweeping, saveState } from './state.ts';
import type { Sql } from './store.ts';
import { tableOf } from './tables.ts';
import { storeInside } from './texts.ts';

/** A kind that is being read. */
type Sweep = { readonly name: KindName; readonly state: Sweeping };

/** A list of lists: it is whole in one answer, and each of them has another for its members. */
export async function pullLists(pulling: Pulling, name: KindName, members: Members): Promise<void> {
  const { store, account, writer, wishes } = pulling;
  const kind = kindOf(name);
  const before = await store.read((sql) => readState(sql, account, name));
  // Members that were read before a stop are not read again.
  const begun =
    isSweeping(before) && !wishes.full
      ? before
      : beginSweep(before, { whole: true, forced: false, since: null }, pulling.now());
  const { records } = await readPage(pulling, name, { page: 1, since: null });
  const ids = records.map((record) => Number(record[idFieldOf(kind)]));
  await writer.write((sql) => storeLists(sql, pulling, { name, state: begun }, records));
  let state = begun;
  for (const [at, list] of ids.entries()) {
    const { sweep } = state;
    const done = sweep.done ?? [];
    if (done.includes(list)) continue;
    pulling.ctx.progress(`Pulling the members of ${at + 1} of ${ids.length} lists`);
    state = { ...state, sweep: { ...sweep, done: [...done, list] } };
    await pullMembers(pulling, { name, state }, members, list);
    tell(pulling, name, state);
  }
  const { number } = state.sweep;
  const finished = { ...state, complete: true, finished: number, finishedAt: pulling.now(), sweep: null };
  await writer.write((sql) => saveState(sql, account, name, finished));
  await writer.done();
}

/** A list that is not among them any more is gone, with its members. */
async function storeLists(
  sql: Sql,
  pulling: Pulling,
  { name, state }: Sweep,
  records: readonly Fields[],
): Promise<void> {
  const { account } = pulling;
  const id = idFieldOf(kindOf(name));
  const present = new Set(records.map((record) => Number(record[id])));
  await storeRecords(sql, pulling, name, { reading: readingOf(pulling, state, state.sweep), records });
  await saveState(sql, account, name, state);
  const living = await sql.all(`SELECT ${id} AS id FROM ${name} WHERE ${owned} AND gone_at IS NULL`, ownerOf(account));
  const gone = living.map((row) => Number(row.id)).filter((list) => !present.has(list));
  await forgetRecords(sql, pulling, { name, state }, gone);
}

async function pullMembers(
  pulling: Pulling,
  { name, state }: Sweep,
  { operation, table }: Members,
  list: number,
): Promise<void> {
  const { account, writer } = pulling;
  const [param = 'id'] = Object.keys(operation.ids ?? {});
  try {
    const body = await pulling.ask(operation, { params: { [param]: list } });
    const records = recordsIn(body[operation.answer.key]);
    await writer.write(async (sql) => {
      const entries = records.map((record) => ({ record, parent: list }));
      const reading = readingOf(pulling, state, state.sweep);
      await storeInside(sql, pulling, tableOf(table), { reading, entries, parents: [list] });
      await saveState(sql, account, name, state);
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
    // Deleted since the lists were read.
    await writer.write((sql) => forgetRecords(sql, pulling, { name, state }, [list]));
  }
}
