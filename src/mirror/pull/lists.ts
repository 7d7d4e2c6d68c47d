import { Failure } from '../../errors.ts';
import type { Fields } from '../../text/record.ts';
import { beginSweep, isSweeping, type KindState, readState, type Sweeping, saveState } from '../store/state.ts';
import type { KindName, Members } from '../tables/kinds.ts';
import { tableOf } from '../tables/tables.ts';
import { failedAtMost, forgetRecords } from './deleted.ts';
import { ended, save } from './finish.ts';
import { readPage } from './page.ts';
import { idsWhere } from './present.ts';
import { spent, tell } from './progress.ts';
import { isOfOne, notWhole, type Pulling, tallyOf } from './pulling.ts';
import { idIn, readingOf, storeRecords } from './reading.ts';
import { storeInside } from './texts.ts';
import { droppedWords, type Usable, usableIn } from './usable.ts';

/** A kind that is being read. */
type Sweep = { readonly name: KindName; readonly state: Sweeping };

/** A list of lists: it is whole in one answer, and each of them has another for its members. */
export async function pullLists(pulling: Pulling, name: KindName, members: Members): Promise<void> {
  const { store, account, writer } = pulling;
  const idOf = idIn(tableOf(name));
  const before = await store.read((sql) => readState(sql, account, name));
  const begun = sweepOf(pulling, before);
  const { records, dropped } = await readPage(pulling, name, { page: 1, since: null, isFirst: !before.complete });
  await writer.write(async (sql) => {
    await storeRecords(sql, pulling, name, { reading: readingOf(pulling, begun, begun.sweep), records });
    await saveState(sql, account, name, begun);
  });
  const listed = records.map(idOf);
  // A list that is not among them any more is gone once its own address says so.
  const others = dropped > 0 ? [] : (await livingIds(pulling, name)).filter((list) => !listed.includes(list));
  if (dropped > 0) notWhole(pulling, name, droppedWords(dropped, name, tableOf(name).id));
  const all = [...listed, ...others];
  pulling.left.set(name, all.length);
  // Of a list that is not there any more nothing is to be read.
  const known = dropped > 0 ? begun : { ...begun, failing: begun.failing.filter((list) => all.includes(list)) };
  const { state, failed, asked } = await pullEach(pulling, { name, state: known }, members, { listed, others });
  const isRefused = failed.size === asked && (state.sweep.done ?? []).length === 0;
  tellFailed(pulling, name, { failed, isRefused });
  if (tallyOf(pulling, name).doubt !== undefined) {
    // The next pull reads all of them: the others change meanwhile, too.
    await save(pulling, name, { ...state, isDoubted: failed.size > 0, sweep: null });
    return writer.done();
  }
  await save(pulling, name, { ...state, complete: true, isCounted: true, ...ended(pulling, state) });
  await writer.done();
}

/** `listed`: by the list of lists, which leaves out the others. */
type Known = { readonly listed: readonly number[]; readonly others: readonly number[] };

/** The members of one list after the other. Of how many it asked, and at which the service failed. */
async function pullEach(pulling: Pulling, { name, state: begun }: Sweep, members: Members, { listed, others }: Known) {
  let state = begun;
  const failed = new Map<number, Failure>();
  let [asked, failedInARow] = [0, 0];
  for (const list of failingLast([...listed, ...others], state.failing)) {
    const { sweep } = state;
    const done = sweep.done ?? [];
    if (done.includes(list)) continue;
    const failing = state.failing.filter((one) => one !== list);
    const read = { ...state, failing, sweep: { ...sweep, done: [...done, list] } };
    const isNamed = listed.includes(list);
    const became = await pullMembers(pulling, { name, state: read }, members, { list, isNamed });
    asked++;
    if (became === 'read') state = read;
    failedInARow = became instanceof Failure ? failedInARow + 1 : 0;
    if (became instanceof Failure) {
      failed.set(list, became);
      // Whatever ends this pull, the next one begins with others.
      state = await save(pulling, name, { ...state, failing: [...failing, list] });
    }
    // The service is in trouble, and each takes its time.
    if (failedInARow >= failedAtMost) break;
    spent(pulling, name);
    tell(pulling);
    if (others.includes(list) && (await livingIds(pulling, name)).includes(list)) {
      notWhole(pulling, name, `The list of ${name} leaves out ${list}, which is there.`);
    }
  }
  return { state, failed, asked };
}

/** Members that were read before a stop are not read again. */
function sweepOf(pulling: Pulling, before: KindState): Sweeping {
  if (isSweeping(before) && !pulling.wishes.full) return before;
  const began = { started: pulling.now(), asked: pulling.now() };
  return beginSweep(before, { whole: true, forced: false, since: null }, began);
}

/** Those at which the service failed come last, and of these first the one that was asked for longest ago. */
const failingLast = (all: readonly number[], failing: readonly number[]): number[] => {
  const known = new Set(all);
  const last = new Set(failing);
  return [...all.filter((list) => !last.has(list)), ...failing.filter((list) => known.has(list))];
};

const livingIds = (pulling: Pulling, name: KindName): Promise<number[]> =>
  idsWhere(pulling, tableOf(name), 'gone_at IS NULL');

/** `isRefused`: no list was read, now or before. */
type Failed = { readonly failed: ReadonlyMap<number, Failure>; readonly isRefused: boolean };

/** @throws Failure where members are refused as such, as without a scope: then that is said of the kind. */
function tellFailed(pulling: Pulling, name: KindName, { failed, isRefused }: Failed): void {
  const [first] = failed;
  if (!first) return;
  const [list, failure] = first;
  if (failure.kind === 'forbidden' && isRefused) throw failure;
  const what = failed.size === 1 ? `list ${list}` : `${failed.size} lists, such as ${list},`;
  notWhole(pulling, name, `The members of ${what} could not be read: ${failure.message}`);
}

/** Where its members are not read nothing is gone, and the next pull reads them. */
async function pullMembers(
  pulling: Pulling,
  { name, state }: Sweep,
  members: Members,
  { list, isNamed }: { readonly list: number; readonly isNamed: boolean },
): Promise<'read' | 'doubtful' | Failure> {
  const { account, writer } = pulling;
  const { table } = members;
  try {
    const read = await readMembers(pulling, { name, state }, members, list);
    if (!read) return 'doubtful';
    const { records, dropped } = read;
    await writer.write(async (sql) => {
      const entries = records.map((record) => ({ record, parent: list }));
      const reading = readingOf(pulling, state, state.sweep);
      await storeInside(sql, pulling, tableOf(table), { reading, entries, parents: [list], isWhole: dropped === 0 });
      if (dropped === 0) await saveState(sql, account, name, state);
    });
    if (dropped === 0) return 'read';
    notWhole(pulling, name, droppedWords(dropped, `the members of list ${list}`, tableOf(table).id));
    return 'doubtful';
  } catch (error) {
    if (isOfOne(pulling, error)) return error;
    if (!(error instanceof Failure) || error.kind !== 'not-found') throw error;
    if (isNamed && (await isStillNamed(pulling, name, list))) return error;
    // Deleted since the lists were read.
    await writer.write((sql) => forgetRecords(sql, pulling, { name, state }, [list]));
  }
  return 'read';
}

/** An answer that holds nothing, or what has no id, says of none that it is not there. */
async function isStillNamed(pulling: Pulling, name: KindName, list: number): Promise<boolean> {
  const { records, dropped } = await readPage(pulling, name, { page: 1, since: null, isFirst: false });
  const ids = records.map(idIn(tableOf(name)));
  return dropped > 0 || ids.length === 0 || ids.includes(list);
}

/** The service neither counts them nor tells one: whoever is missing is missing from two answers that agree. */
async function readMembers(
  pulling: Pulling,
  { name, state }: Sweep,
  { operation, table, parent }: Members,
  list: number,
): Promise<Usable | undefined> {
  const of = tableOf(table);
  const [param = 'id'] = Object.keys(operation.ids ?? {});
  const ask = async () => {
    const body = await pulling.ask(operation, { params: { [param]: list } });
    return usableIn(body[operation.answer.key], of.id);
  };
  const known = await idsWhere(pulling, of, `gone_at IS NULL AND ${parent} = $3`, [list]);
  const idsOf = (records: readonly Fields[]) => new Set(records.map(idIn(of)));
  const first = await ask();
  const ids = idsOf(first.records);
  const isEmptyFirst = first.records.length === 0 && !state.complete;
  if (!isEmptyFirst && first.dropped === 0 && known.every((one) => ids.has(one))) return first;
  const second = await ask();
  const again = idsOf(second.records);
  const isSame = ids.size === again.size && [...ids].every((one) => again.has(one));
  if (isSame || (!isEmptyFirst && known.every((one) => again.has(one)))) return second;
  notWhole(pulling, name, `Two answers for the members of list ${list} differ.`);
  return undefined;
}
