import { type KindState, lacking, type Sweeping } from '../store/state.ts';
import { livingCount } from '../store/status.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { countRows, owned, ownerOf } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import { digestOfIds, forgetRecords, isAbsent, markMissing } from './deleted.ts';
import { settleAnswers } from './failing.ts';
import { idsWhere, presentRows } from './present.ts';
import { notWhole, type Pulling } from './pulling.ts';
import { droppedWords } from './usable.ts';

/** `again`: the same once more; `withdraw`: it is not complete, and is read whole; `leave`: to the next pull. */
type Next = 'finish' | 'again' | 'withdraw' | 'leave';

type Compared = { readonly state: Sweeping; readonly next: Next };

/** More looks of the same pull would find no more. */
const looksAtMost = 3;
/** A second look at the list is for what was deleted meanwhile, which is not much. */
const lookedForAtMost = 100;

/**
 * Compares a reading that came to its end with the service's own count. Only one that found as many is whole; records
 * that it did not find are gone then, where that is proven.
 */
export async function compareCounts(
  pulling: Pulling,
  name: KindName,
  before: Sweeping,
  sweeps: number,
): Promise<Compared> {
  const { whole, dropped = 0, again } = before.sweep;
  if (dropped > 0) return leftOut(pulling, name, before);
  const state = await withoutUnlisted(pulling, name, before);
  const open = newlyMissed(pulling, state).length;
  if (open > 0 && open <= lookedForAtMost && again === undefined && sweeps === 1) return { state, next: 'again' };
  // A list of what changed counts that alone.
  if (!whole && (kindOf(name).incremental === 'updates' || !state.complete)) return { state, next: 'finish' };
  return whole ? compareWhole(pulling, name, state, sweeps) : compareIncremental(pulling, name, state, sweeps);
}

/**
 * Listed records whose own address answers 404, and did not in an earlier pull. They may have been deleted in between, which a
 * second look at the list tells. If not, a service in trouble is likelier: only what answers so for long enough is gone.
 */
export function newlyMissed({ began }: Pulling, { notFound, sweep: { notFound: met = [] } }: Sweeping): number[] {
  const ids = new Set(met);
  const isNew = (since: string) => Date.parse(since) >= Date.parse(began);
  return notFound.flatMap(({ id, since, isGone }) => (ids.has(id) && !isGone && isNew(since) ? [id] : []));
}

/**
 * Of records that were not found those are gone that the same list does not name any more, and whose address answers 404
 * again: of a second look those that the first one met. A whole list leaves them to the proof that all that it misses needs.
 */
async function withoutUnlisted(pulling: Pulling, name: KindName, state: Sweeping): Promise<Sweeping> {
  const { whole, again = [], notFound = [] } = state.sweep;
  const listed = new Set([...notFound, ...state.failing]);
  const metFirst = new Set(again);
  const unlisted = state.notFound.filter(({ id }) => !listed.has(id) && (whole || metFirst.has(id)));
  const { one } = kindOf(name);
  const gone: number[] = [];
  const over = new Set<number>();
  for (const { id } of unlisted) {
    const isGone = metFirst.has(id) && one !== undefined && (await isAbsent(pulling, one.operation, id)) === true;
    if (isGone) gone.push(id);
    if (isGone || whole) over.add(id);
  }
  if (over.size === 0) return state;
  await pulling.writer.write((sql) => forgetRecords(sql, pulling, { name, state }, gone));
  return { ...state, notFound: state.notFound.filter(({ id }) => !over.has(id)) };
}

/** What was dropped was not read: nothing is whole or gone by such a reading. What the copy was before, it stays. */
async function leftOut(pulling: Pulling, name: KindName, state: Sweeping): Promise<Compared> {
  const { whole, total, listed, dropped = 0 } = state.sweep;
  notWhole(pulling, name, droppedWords(dropped, name, tableOf(name).id));
  const counted = whole || kindOf(name).incremental !== 'updates' ? (listed ?? total) : null;
  const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
  if (!state.complete || living >= (counted ?? living)) return { state, next: 'leave' };
  return { state: lacking(state), next: 'leave' };
}

/** Every record that the service counts has to be in the copy once what is new is read. */
async function compareIncremental(
  pulling: Pulling,
  name: KindName,
  state: Sweeping,
  sweeps: number,
): Promise<Compared> {
  const { total } = state.sweep;
  const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
  if (living >= (total ?? living)) return { state, next: 'finish' };
  // A record that came between two pages is found by a second look.
  return { state, next: sweeps === 1 ? 'again' : 'withdraw' };
}

/** Records that are not shown and of which the copy has nothing. One that moved while the list was read was met twice. */
async function lackingIn({ store, account }: Pulling, name: KindName, state: KindState): Promise<number> {
  const unread = [...new Set([...state.failing, ...state.notFound.map(({ id }) => id)])];
  if (unread.length === 0) return 0;
  const present = await store.read((sql) => presentRows(sql, account, tableOf(name), unread));
  return unread.length - [...present.values()].filter(({ isDeleted }) => !isDeleted).length;
}

async function compareWhole(pulling: Pulling, name: KindName, state: Sweeping, sweeps: number): Promise<Compared> {
  const { number, total, listed, failed = 0 } = state.sweep;
  const counted = listed ?? total;
  const read = `${name} WHERE ${owned} AND last_sweep >= $3`;
  const met = await pulling.store.read((sql) => countRows(sql, read, [...ownerOf(pulling.account), number]));
  const seen = met + Math.min(failed, await lackingIn(pulling, name, state));
  if (counted !== null && seen < counted) {
    if (sweeps < looksAtMost) return { state, next: 'again' };
    notWhole(pulling, name, `The service counts ${counted} ${name}, and lists ${seen} different ones.`);
    const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
    return { state: living < counted ? lacking(state) : state, next: 'leave' };
  }
  const found = await markMissing(pulling, { name, state });
  const seenNow = await digestOfSeen(pulling, name, state);
  const left = { ...state, missed: found.missed, seen: seenNow };
  const kept = await settleAnswers(pulling, name, left, { shown: [], absent: [], failed: found.failed ?? [] });
  const isSame = seenNow === null || seenNow === state.seen;
  if (found.next === 'finish' && isSame) return { state: { ...kept, seen: null }, next: 'finish' };
  if (found.next !== 'leave' && sweeps < looksAtMost) return { state: kept, next: 'again' };
  notWhole(pulling, name, isSame ? found.why : `The list of ${name} changed each time while it was read.`);
  // Of what could not be asked nobody knows whether it is gone.
  return { state: { ...kept, ...(found.failed?.length && { wholeWantedAt: pulling.now() }) }, next: 'leave' };
}

/**
 * A list without an order of its own can change while its pages are read: a record that moves past the reader is missing, and
 * where another one went and a third one came the count is right. So the first whole reading has to be confirmed by a second
 * one. Null where it need not be.
 */
async function digestOfSeen(pulling: Pulling, name: KindName, { complete, sweep }: Sweeping): Promise<string | null> {
  const isOnePage = sweep.page <= 2;
  if (complete || isOnePage || kindOf(name).incremental !== 'whole list') return null;
  return digestOfIds(await idsWhere(pulling, tableOf(name), 'last_sweep >= $3 ORDER BY 1', [sweep.number]));
}
