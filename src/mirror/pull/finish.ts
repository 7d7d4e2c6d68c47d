import {
  beginSweep,
  earlier,
  type KindState,
  lacking,
  later,
  minus,
  overlapMs,
  type Sweep,
  type Sweeping,
  saveState,
} from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { compareCounts, newlyMissed } from './count.ts';
import { forgetsSome } from './failing.ts';
import type { Pulling } from './pulling.ts';

/** In one pull, of one kind: a second look where something was missing, and a third where the list moved meanwhile. */
export const sweepsAtMost = 4;

/** It was whole before, and is to be read whole again. */
export const isReadAgain = ({ complete, repairsFrom, wholeWantedAt }: KindState): boolean =>
  complete ? wholeWantedAt !== null : repairsFrom !== null;

export const wholeList = { whole: true, forced: false, since: null };

export function begin(pulling: Pulling, state: KindState, wanted: Pick<Sweep, 'whole' | 'forced' | 'since'>): Sweeping {
  const begun = beginSweep({ ...state, expected: null }, wanted, {
    started: pulling.serviceTime(),
    asked: pulling.now(),
  });
  if (!wanted.whole) return begun;
  return {
    ...begun,
    // However this one ends, the next one begins not much sooner.
    ...(isReadAgain(state) && { wholeWantedAt: pulling.now() }),
    // Before the first reading the service was asked for its count: fewer would be a part.
    ...(state.expected !== null && { sweep: { ...begun.sweep, total: state.expected } }),
  };
}

/** It was called complete, and is not: it is read again, and what was made before that is no news. */
export function withdrawn({ ctx }: Pulling, name: KindName, state: KindState): KindState {
  ctx.notice(`The copy lacks ${name} that the service counts. Reading all of them again.`);
  return { ...lacking(state), sweep: null };
}

/** The last page is stored: now the cursor may move. */
export async function finish(pulling: Pulling, name: KindName, before: Sweeping, sweeps: number): Promise<KindState> {
  const { incremental } = kindOf(name);
  const { sweep } = before;
  const { whole, started, latest, isTail, page, total } = sweep;
  // What came to the front, or changed, while the rest was read.
  if (whole && !isTail && page > 2 && incremental !== 'whole list') {
    const tail = { ...sweep, isTail: true, page: 1, asked: pulling.now() };
    const since = minus(earlier(started, latest), overlapMs);
    return save(pulling, name, {
      ...before,
      sweep: incremental === 'updates' ? { ...tail, since, listed: total, total: null } : tail,
    });
  }
  const compared = await compareCounts(pulling, name, before, sweeps);
  const { next, state } = compared;
  if (next !== 'finish') {
    const kept = next === 'withdraw' ? withdrawn(pulling, name, state) : { ...state, sweep: null };
    const wanted = next === 'again' ? { whole, forced: false, since: whole ? null : sweep.since } : wholeList;
    if (next === 'leave' || sweeps >= sweepsAtMost) return save(pulling, name, kept);
    const begun = begin(pulling, kept, wanted);
    const again = next === 'again' ? newlyMissed(pulling, state) : undefined;
    return save(pulling, name, { ...begun, sweep: { ...begun.sweep, again } });
  }
  const isFull = forgetsSome(state);
  const isRead = whole && !isFull;
  const cursor = latest === null ? (before.cursor ?? started) : later(before.cursor, earlier(latest, started));
  const service = pulling.serviceTime();
  return save(pulling, name, {
    ...state,
    complete: state.complete || isRead,
    isCounted: state.isCounted || whole,
    ...(isRead && { repairsFrom: null, front: null, wholeWantedAt: null }),
    ...(isRead && !state.complete && state.repairsFrom === null && { first: firstOf(state, started) }),
    ...(isFull && { wholeWantedAt: state.wholeWantedAt ?? pulling.now() }),
    cursor: incremental === 'updates' ? cursor : null,
    clock: service === null ? state.clock : { service, local: pulling.now() },
    ...ended(pulling, before),
  });
}

/** What holds of every reading that came to its end. */
export const ended = ({ now }: Pulling, { sweep }: Sweeping) => ({
  finished: sweep.number,
  finishedAt: now(),
  wholeUntil: sweep.asked ?? null,
  isRefused: false,
  isDoubted: false,
  sweep: null,
});

/** What the first whole reading could not read, though it was there: before that began, or before anybody followed. */
function firstOf({ failing, notFound, followedFrom }: KindState, started: string | null): KindState['first'] {
  const began = earlier(started, followedFrom);
  return began === null ? null : { began, unread: [...failing, ...notFound.map(({ id }) => id)] };
}

export async function save<S extends KindState>(pulling: Pulling, name: KindName, state: S): Promise<S> {
  await pulling.writer.write((sql) => saveState(sql, pulling.account, name, state));
  return state;
}
