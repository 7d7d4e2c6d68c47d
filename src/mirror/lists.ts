import type { Input, Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import type { Fields } from './cells.ts';
import { type KindName, kindOf } from './kinds.ts';
import type { Pulling } from './pulling.ts';
import { owned, ownerOf } from './records.ts';
import { beginSweep, readState, type Sweep, saveState } from './state.ts';
import { forgetRecords, idFieldOf, readingOf, readPage, storeRecords, tell } from './sweep.ts';
import { tableOf } from './tables.ts';
import { storeInside } from './texts.ts';

/** A list of lists: it is whole in one answer, and each of them has another for its members. */
export async function pullLists(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, writer, wishes } = pulling;
  const kind = kindOf(name);
  const { members } = kind;
  if (!members) return;
  const before = await store.read((sql) => readState(sql, account, name));
  // Members that were read before a stop are not read again.
  const state =
    before.sweep && !wishes.full
      ? before
      : beginSweep(before, { whole: true, forced: false, since: null }, pulling.now());
  const sweep = state.sweep as Sweep;
  const { records } = await readPage(pulling, name, { page: 1, since: null });
  const id = idFieldOf(kind);
  const ids = records.map((record) => Number(record[id]));
  const read = await writer.write(async (sql) => {
    await storeRecords(sql, pulling, name, readingOf(pulling, state, sweep), records);
    await saveState(sql, account, name, state);
    const rows = await sql.all(`SELECT ${id} AS id, read_at, gone_at FROM ${name} WHERE ${owned}`, ownerOf(account));
    const gone = rows
      .filter((row) => row.gone_at === null && !ids.includes(Number(row.id)))
      .map((row) => Number(row.id));
    await forgetRecords(sql, pulling, name, state, gone);
    return new Map(rows.map((row) => [Number(row.id), String(row.read_at ?? '')]));
  });
  for (const [at, list] of ids.entries()) {
    if ((read.get(list) ?? '') >= (sweep.started ?? '')) continue;
    tell(pulling, name, { ...state, sweep: { ...sweep, page: 1, total: null } });
    pulling.ctx.progress(`Pulling the members of ${at + 1} of ${ids.length} lists`);
    await pullMembers(pulling, name, list, async (entries) => {
      await writer.write(async (sql) => {
        const reading = readingOf(pulling, state, sweep);
        const inside = { entries: entries.map((record) => ({ record, parent: list })), parents: [list] };
        await storeInside(sql, pulling, reading, tableOf(members.table), inside);
        const [owner, key] = ownerOf(account);
        await sql.run(`UPDATE ${name} SET read_at = $1 WHERE service = $2 AND account_id = $3 AND ${id} = $4`, [
          pulling.now(),
          owner,
          key,
          list,
        ]);
      });
    });
  }
  const finished = { ...state, complete: true, finished: sweep.number, finishedAt: pulling.now(), sweep: null };
  await writer.write((sql) => saveState(sql, account, name, finished));
  await writer.done();

  async function pullMembers(
    { ask }: Pulling,
    of: KindName,
    list: number,
    keep: (records: readonly Fields[]) => Promise<void>,
  ): Promise<void> {
    const { operation } = members as { readonly operation: Operation };
    const { key } = operation.answer as Extract<Operation['answer'], { shape: 'list' }>;
    const [param = 'id'] = Object.keys(operation.ids ?? {});
    try {
      const body = await ask(operation, { params: { [param]: list } } as unknown as Input<Operation>);
      await keep((Array.isArray(body[key]) ? body[key] : []) as Fields[]);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
      // Deleted since the lists were read.
      await writer.write((sql) => forgetRecords(sql, pulling, of, state, [list]));
    }
  }
}
