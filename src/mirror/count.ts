import { markMissing } from './gone.ts';
import { type KindName, kindOf } from './kinds.ts';
import { owned, ownerOf } from './owner.ts';
import { notWhole, type Pulling } from './pulling.ts';
import type { KindState, Sweeping } from './state.ts';
import { livingCount } from './status.ts';

/** `again`: the same once more; `withdraw`: it is not complete, and is read whole; `leave`: to the next pull. */
type Next = 'finish' | 'again' | 'withdraw' | 'leave';

type Compared = { readonly state: KindState; readonly next: Next };

/** More looks of the same pull would find no more. */
const looksAtMost = 3;

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
  const { whole } = state.sweep;
  // A list of what changed counts that alone.
  if (!whole && (kindOf(name).news === 'updates' || !state.complete)) return { state, next: 'finish' };
  return whole ? compareWhole(pulling, name, state, sweeps) : compareNews(pulling, name, state, sweeps);
}

/** Every record that the service counts has to be in the copy once its news are read. */
async function compareNews(pulling: Pulling, name: KindName, state: Sweeping, sweeps: number): Promise<Compared> {
  const { total } = state.sweep;
  const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
  const unusable = state.isCounted ? state.short : 0;
  if (living + unusable >= (total ?? living)) return { state, next: 'finish' };
  // A record that came between two pages is found by a second look.
  return { state, next: sweeps === 1 ? 'again' : 'withdraw' };
}

async function compareWhole(pulling: Pulling, name: KindName, state: Sweeping, sweeps: number): Promise<Compared> {
  const { number, total, listed, unusable = 0 } = state.sweep;
  const counted = listed ?? total;
  const text = `SELECT count(*) AS n FROM ${name} WHERE ${owned} AND last_sweep >= $3`;
  const rows = await pulling.store.read((sql) => sql.all(text, [...ownerOf(pulling.account), number]));
  const seen = Number(rows[0]?.n) + unusable;
  if (counted !== null && seen < counted) {
    if (sweeps < looksAtMost) return { state, next: 'again' };
    notWhole(pulling, name, `The service counts ${counted} ${name}, and lists ${seen} different ones.`);
    const living = await pulling.store.read((sql) => livingCount(sql, pulling.account, name));
    return { state: { ...state, complete: state.complete && living >= counted }, next: 'leave' };
  }
  const found = await markMissing(pulling, { name, state });
  const kept = { ...state, short: unusable, missed: found.missed };
  if (found.next === 'finish') return { state: kept, next: 'finish' };
  if (found.next === 'again' && sweeps < looksAtMost) return { state: kept, next: 'again' };
  notWhole(pulling, name, found.why);
  return { state: kept, next: 'leave' };
}
