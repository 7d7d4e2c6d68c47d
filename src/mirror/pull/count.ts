import { hexDigestOf } from '../../text/digest.ts';
import { number } from '../../text/number.ts';
import { asOfState, type KindState, minus, overlapMs, type Sweeping } from '../store/state.ts';
import { livingCount } from '../store/status.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { owned, ownerOf } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import { markMissing } from './deleted.ts';
import { presentRows } from './present.ts';
import { notWhole, type Pulling } from './pulling.ts';
import { droppedWords } from './usable.ts';

/** `again`: the same once more; `withdraw`: it is not complete, and is read whole; `leave`: to the next pull. */
type Next = 'finish' | 'again' | 'withdraw' | 'leave';

type Compared = { readonly state: KindState; readonly next: Next };

/** More looks of the same pull would find no more. */
const looksAtMost = 3;
/** What fails for a moment is over by then. */
const settledMs = 600_000;

/**
 * Compares a reading that came to its end with the service's own count. Only one that found as many is whole; records
 * that it did not find are gone then, where that is proven.
 */
export async function compareCounts(
  pulling: Pulling,
  name: KindName,
  state: Sweeping,
  sweeps: number,
): Promise<Compared> {
  const { whole, dropped = 0, isAgain = false } = state.sweep;
  const unshown = unshownIn(state);
  const isBelieved = unshown === state.believed || (unshown === state.unshown && isSettled(pulling, state));
  if (unshown !== null && !isBelieved) {
    if (unshown !== state.unshown && sweeps === 1 && !isAgain) return { state, next: 'again' };
    return unsettled(pulling, name, state, unshown);
  }
  if (dropped > 0) return leftOut(pulling, name, state);
  // A list of what changed counts that alone.
  if (!whole && (kindOf(name).incremental === 'updates' || !state.complete)) return { state, next: 'finish' };
  return whole ? compareWhole(pulling, name, state, sweeps) : compareIncremental(pulling, name, state, sweeps);
}

/** Which ones they are only a whole reading knows. What else a reading of changes has found is whole. */
function unsettled(pulling: Pulling, name: KindName, state: Sweeping, unshown: string): Promise<Compared> | Compared {
  const { whole, absent = 0, dropped = 0 } = state.sweep;
  notWhole(pulling, name, `The service lists ${number(absent)} of ${name} whose own address answers 404.`);
  if (whole) {
    const unshownSince = unshown === state.unshown ? state.unshownSince : pulling.now();
    return { state: { ...state, unshown, unshownSince }, next: 'leave' };
  }
  const marked = { ...state, unshown: state.unshown ?? '' };
  return dropped > 0 ? leftOut(pulling, name, marked) : { state: marked, next: 'finish' };
}

/**
 * Listed records whose own address answers 404. They may have been deleted in between, which a second look at the list tells.
 * If not, a service in trouble is likelier than records that are gone: only where a later pull meets the same ones they are.
 */
export const unshownIn = ({ sweep: { absent = 0, absentIds = 0 } }: Sweeping): string | null =>
  absent === 0 ? null : `${absent} ${absentIds}`;

/** Met long enough ago. Earlier versions kept no time. A clock that was set meanwhile settles it too. */
const isSettled = ({ ctx }: Pulling, { unshownSince }: KindState): boolean =>
  unshownSince === null || Math.abs(ctx.clock.now().getTime() - Date.parse(unshownSince)) >= settledMs;

/** What was dropped was not read: nothing is whole or gone by such a reading. What the copy was before, it stays. */
async function leftOut(pulling: Pulling, name: KindName, state: Sweeping): Promise<Compared> {
  const { whole, total, listed, dropped = 0 } = state.sweep;
  notWhole(pulling, name, droppedWords(dropped, name, tableOf(name).id));
  const counted = whole || kindOf(name).incremental !== 'updates' ? (listed ?? total) : null;
  const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
  if (!state.complete || living >= (counted ?? living)) return { state, next: 'leave' };
  return { state: { ...state, complete: false, repairsFrom: minus(asOfState(state), overlapMs) }, next: 'leave' };
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
  const absent = state.isCounted ? state.absent : 0;
  if (living + absent >= (total ?? living)) return { state, next: 'finish' };
  // A record that came between two pages is found by a second look.
  return { state, next: sweeps === 1 ? 'again' : 'withdraw' };
}

/** Records that cannot be read and of which the copy has nothing. One that moved while the list was read was met twice. */
async function lackingIn({ store, account }: Pulling, name: KindName, { failing }: KindState): Promise<number> {
  if (failing.length === 0) return 0;
  const present = await store.read((sql) => presentRows(sql, account, tableOf(name), failing));
  return failing.length - [...present.values()].filter(({ isDeleted }) => !isDeleted).length;
}

async function compareWhole(pulling: Pulling, name: KindName, state: Sweeping, sweeps: number): Promise<Compared> {
  const { number, total, listed, absent = 0, failed = 0 } = state.sweep;
  const counted = listed ?? total;
  const text = `SELECT count(*) AS n FROM ${name} WHERE ${owned} AND last_sweep >= $3`;
  const rows = await pulling.store.read((sql) => sql.all(text, [...ownerOf(pulling.account), number]));
  const seen = Number(rows[0]?.n) + absent + Math.min(failed, await lackingIn(pulling, name, state));
  if (counted !== null && seen < counted) {
    if (sweeps < looksAtMost) return { state, next: 'again' };
    notWhole(pulling, name, `The service counts ${counted} ${name}, and lists ${seen} different ones.`);
    const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
    return { state: { ...state, complete: state.complete && living >= counted }, next: 'leave' };
  }
  const found = await markMissing(pulling, { name, state });
  const seenNow = await digestOfSeen(pulling, name, state);
  const kept = { ...state, absent, missed: found.missed, seen: seenNow };
  const isSame = seenNow === null || seenNow === state.seen;
  if (found.next === 'finish' && isSame) return { state: { ...kept, seen: null }, next: 'finish' };
  if (found.next !== 'leave' && sweeps < looksAtMost) return { state: kept, next: 'again' };
  notWhole(pulling, name, isSame ? found.why : `The list of ${name} changed each time while it was read.`);
  return { state: kept, next: 'leave' };
}

/**
 * A list without an order of its own can change while its pages are read: a record that moves past the reader is missing, and
 * where another one went and a third one came the count is right. So the first whole reading has to be confirmed by a second
 * one. Null where it need not be.
 */
async function digestOfSeen(pulling: Pulling, name: KindName, { complete, sweep }: Sweeping): Promise<string | null> {
  const isOnePage = sweep.page <= 2;
  if (complete || isOnePage || kindOf(name).incremental !== 'whole list') return null;
  const { id } = tableOf(name);
  const text = `SELECT ${id} AS id FROM ${name} WHERE ${owned} AND last_sweep >= $3 ORDER BY 1`;
  const rows = await pulling.store.read((sql) => sql.all(text, [...ownerOf(pulling.account), sweep.number]));
  return hexDigestOf(rows.map((row) => Number(row.id)).join(' ')).slice(0, 16);
}
