import type { Input, Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import type { Fields } from './cells.ts';
import { forgetRecords } from './gone.ts';
import { type Kind, type KindName, kindOf } from './kinds.ts';
import { owned, ownerOf } from './owner.ts';
import { readPage, tell } from './page.ts';
import type { Pulling } from './pulling.ts';
import { idFieldOf, readingOf, storeRecords } from './reading.ts';
import { beginSweep, type KindState, readState, type Sweep, saveState } from './state.ts';
import type { Sql } from './store.ts';
import { tableOf } from './tables.ts';
import { storeInside } from './texts.ts';

/** A list of lists: it is whole in one answer, and each of them has another for its members. */
export async function pullLists(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, writer, wishes } = pulling;
  const kind = kindOf(name);
  const before = await store.read((sql) => readState(sql, account, name));
  // Members that were read before a stop are not read again.
  const begun =
    before.sweep && !wishes.full
      ? before
      : beginSweep(before, { whole: true, forced: false, since: null }, pulling.now());
  const { records } = await readPage(pulling, name, { page: 1, since: null });
  const ids = records.map((record) => Number(record[idFieldOf(kind)]));
  await writer.write((sql) => storeLists(sql, pulling, name, begun, records));
  let state = begun;
  for (const [at, list] of ids.entries()) {
    const sweep = state.sweep as Sweep;
    const done = sweep.done ?? [];
    if (done.includes(list)) continue;
    pulling.ctx.progress(`Pulling the members of ${at + 1} of ${ids.length} lists`);
    state = { ...state, sweep: { ...sweep, done: [...done, list] } };
    await pullMembers(pulling, name, list, state);
    tell(pulling, name, state);
  }
  const number = state.sweep?.number ?? state.finished;
  const finished = { ...state, complete: true, finished: number, finishedAt: pulling.now(), sweep: null };
  await writer.write((sql) => saveState(sql, account, name, finished));
  await writer.done();
}

/** A list that is not among them any more is gone, with its members. */
async function storeLists(
  sql: Sql,
  pulling: Pulling,
  name: KindName,
  state: KindState,
  records: readonly Fields[],
): Promise<void> {
  const { account } = pulling;
  const id = idFieldOf(kindOf(name));
  const present = new Set(records.map((record) => Number(record[id])));
  await storeRecords(sql, pulling, name, readingOf(pulling, state, state.sweep as Sweep), records);
  await saveState(sql, account, name, state);
  const living = await sql.all(`SELECT ${id} AS id FROM ${name} WHERE ${owned} AND gone_at IS NULL`, ownerOf(account));
  const gone = living.map((row) => Number(row.id)).filter((list) => !present.has(list));
  await forgetRecords(sql, pulling, name, state, gone);
}

async function pullMembers(pulling: Pulling, name: KindName, list: number, state: KindState): Promise<void> {
  const { account, writer } = pulling;
  const { operation, table } = kindOf(name).members as NonNullable<Kind['members']>;
  const { key } = operation.answer as Extract<Operation['answer'], { shape: 'list' }>;
  const [param = 'id'] = Object.keys(operation.ids ?? {});
  try {
    const body = await pulling.ask(operation, { params: { [param]: list } } as unknown as Input<Operation>);
    const records = (Array.isArray(body[key]) ? body[key] : []) as Fields[];
    await writer.write(async (sql) => {
      const inside = { entries: records.map((record) => ({ record, parent: list })), parents: [list] };
      await storeInside(sql, pulling, readingOf(pulling, state, state.sweep as Sweep), tableOf(table), inside);
      await saveState(sql, account, name, state);
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
    // Deleted since the lists were read.
    await writer.write((sql) => forgetRecords(sql, pulling, name, state, [list]));
  }
}
