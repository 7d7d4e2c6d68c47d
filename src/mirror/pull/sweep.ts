import {
  isSweeping,
  type KindState,
  later,
  minus,
  overlapMs,
  readState,
  type Sweeping,
  saveState,
} from '../store/state.ts';
import { livingCount } from '../store/status.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { maybeTime } from '../tables/seed-values.ts';
import { tableOf } from '../tables/tables.ts';
import { askFailing } from './ask-failing.ts';
import { checkClock } from './clock-step.ts';
import { settleAnswers } from './failing.ts';
import { begin, finish, isReadAgain, save, sweepsAtMost, wholeList, withdrawn } from './finish.ts';
import { countNow, type Page, readPage } from './page.ts';
import type { Present } from './present.ts';
import { expectPages, tell } from './progress.ts';
import { notWhole, type Pulling, tallyOf } from './pulling.ts';
import { isFollowing, readingOf, storeRecords } from './reading.ts';
import { storeTexts } from './texts.ts';

const oftenestMs = 3_600_000;

/** Brings one kind up to date, and asks once more for what could not be read before. */
export async function pullKind(pulling: Pulling, name: KindName): Promise<void> {
  await readKind(pulling, name);
  await askFailing(pulling, name);
}

/** First what an earlier pull left unfinished, then what is new. */
async function readKind(pulling: Pulling, name: KindName): Promise<void> {
  const { wishes, store, account } = pulling;
  const { incremental } = kindOf(name);
  let state = await checkedOnce(pulling, name, await store.read((sql) => readState(sql, account, name)));
  const isFollowed = isFollowing(pulling, state);
  if (wishes.full && !state.sweep?.forced) state = begin(pulling, state, { whole: true, forced: true, since: null });
  else if (!state.sweep && !state.complete && !isFollowed && wantsWhole(pulling, state))
    state = begin(pulling, state, wholeList);
  let isFresh = false;
  if (isSweeping(state) && !(isFollowed && state.sweep.whole)) {
    isFresh = state.sweep.whole && state.sweep.page === 1;
    state = await sweepToEnd(pulling, name, state);
  }
  if (isFresh || tallyOf(pulling, name).doubt !== undefined) return;
  if (isFollowed) state = followed(pulling, state);
  const whole = incremental === 'whole list' || (wantsWhole(pulling, state) && !isFollowed);
  const since = incremental === 'updates' && !whole ? minus(state.cursor, overlapMs) : null;
  await sweepToEnd(pulling, name, begin(pulling, state, { whole, forced: false, since }));
}

/** Whoever pulls every few seconds does not read a list that was read whole before each time. */
function wantsWhole({ ctx, wishes }: Pulling, state: KindState): boolean {
  const { wholeWantedAt: at } = state;
  if (!isReadAgain(state)) return !state.complete;
  return !wishes.isOften || at === null || Math.abs(ctx.clock.now().getTime() - Date.parse(at)) >= oftenestMs;
}

/** A copy that an earlier version calls complete, of a kind that is read by its updates, which tell no count: it is counted once. */
async function checkedOnce(pulling: Pulling, name: KindName, state: KindState): Promise<KindState> {
  const { store, account } = pulling;
  if (!state.complete || state.isCounted || kindOf(name).incremental !== 'updates' || pulling.wishes.full) return state;
  const total = await countNow(pulling, name);
  const living = await store.read((sql) => livingCount(sql, account, name));
  if (total === null || living >= total) return { ...state, isCounted: total !== null };
  return save(pulling, name, begin(pulling, withdrawn(pulling, name, state), wholeList));
}

/** From now on, by the service's clock, or from `--since` on; the whole reading of a later pull has no part in it. */
function followed({ serviceTime, now, wishes }: Pulling, state: KindState): KindState {
  const time = serviceTime() ?? now();
  const wanted = wishes.sinceMsAgo === undefined ? time : (minus(time, wishes.sinceMsAgo) ?? time);
  const isEarlier = state.followedFrom !== null && Date.parse(wanted) < Date.parse(state.followedFrom);
  const from = state.followedFrom === null || isEarlier ? wanted : state.followedFrom;
  return { ...state, followedFrom: from, cursor: isEarlier ? from : (state.cursor ?? from), sweep: null };
}

/** Page after page until the reading is finished. Where it ends early, what it has stored is kept, and how far it was. */
async function sweepToEnd(pulling: Pulling, name: KindName, begun: Sweeping): Promise<KindState> {
  let state: KindState = begun;
  let sweeps = 1;
  try {
    while (isSweeping(state)) {
      const { sweep }: Sweeping = state;
      const read = await readPage(pulling, name, {
        ...sweep,
        isFirst: sweep.whole && !state.complete && sweep.page === 1,
      });
      const again = checkClock(pulling, name, state);
      if (again && sweeps++ < sweepsAtMost) {
        state = await save(pulling, name, begin(pulling, again.state, again.wanted));
        continue;
      }
      if (read.doubt !== undefined) {
        const kept: Sweeping = read.isShort ? { ...(await storePage(pulling, name, state, read)), sweep } : state;
        await pulling.writer.done();
        state = doubted(pulling, name, kept, read, sweeps++);
        state = await save(pulling, name, state);
        if (tallyOf(pulling, name).doubt !== undefined) return state;
        continue;
      }
      const stored = await storePage(pulling, name, state, read);
      state = stored;
      if (!read.isLast && !read.isKnown) continue;
      await pulling.writer.done();
      state = await finish(pulling, name, stored, sweeps++);
    }
  } finally {
    await pulling.writer.done();
  }
  return state;
}

/**
 * A list that became shorter is read again from its first page. Any other page that cannot be trusted is left to the next
 * pull, and if that has no more luck, to the whole list once more.
 */
function doubted(
  pulling: Pulling,
  name: KindName,
  state: Sweeping,
  { doubt = '', hasMoved }: Page,
  sweeps: number,
): KindState {
  const { whole, forced, since, number, isDoubted } = state.sweep;
  if (hasMoved && sweeps < 3) {
    const again = begin(pulling, { ...state, sweep: null }, { whole, forced, since: whole ? null : since });
    // A reading of everything keeps its number: texts that it has read are not read twice.
    return forced ? { ...again, begun: number, sweep: { ...again.sweep, number } } : again;
  }
  notWhole(pulling, name, doubt);
  return { ...state, isDoubted: true, sweep: hasMoved || isDoubted ? null : { ...state.sweep, isDoubted: true } };
}

async function storePage(pulling: Pulling, name: KindName, before: Sweeping, page: Page): Promise<Sweeping> {
  const { writer, account } = pulling;
  const kind = kindOf(name);
  const reading = readingOf(pulling, before, before.sweep);
  const { sweep } = before;
  // A page of nothing but what is there ends a reading of what is new, so it has to be looked at before the next one.
  const looksBack = kind.incremental === 'newest first' && (!sweep.whole || sweep.isTail);
  const latest = page.records.reduce((found, { updated_at: at }) => later(found, maybeTime(at)), sweep.latest);
  let { notFound = [], dropped = 0, failed = 0 } = sweep;
  let kept = before;
  // The tail looks at what was counted already.
  dropped = sweep.isTail ? Math.max(dropped, page.dropped) : dropped + page.dropped;
  const after = (): Sweeping => {
    const started = sweep.started ?? pulling.serviceTime();
    const { isDoubted: _, ...rest } = sweep;
    const counts = { total: page.total, notFound, dropped, failed };
    // What came of a short page is there, and the reading is no further by it, also for a kill right here.
    return { ...kept, sweep: { ...rest, page: sweep.page + (page.isShort ? 0 : 1), latest, started, ...counts } };
  };
  expectPages(pulling, name, after(), page.records.length);
  if (kind.one?.for === 'text') {
    const { one } = kind;
    const { records } = page;
    const texts = await storeTexts(pulling, name, { one, reading, sweep, records, state: before });
    notFound = [...new Set([...notFound, ...texts.notFound])];
    dropped += texts.dropped;
    // The tail counts what the service counted before it.
    failed = sweep.isTail ? Math.max(failed, texts.lacking) : failed + texts.lacking;
    kept = await settleAnswers(pulling, name, before, texts);
    const state = after();
    void writer.write((sql) => saveState(sql, account, name, state));
  } else {
    const written = writer.write(async (sql) => {
      const present = await storeRecords(sql, pulling, name, { reading, records: page.records });
      await saveState(sql, account, name, after());
      return present;
    });
    if (looksBack) {
      const { followedFrom } = before;
      page.isKnown =
        isFollowing(pulling, before) && followedFrom !== null
          ? page.records.some(({ created_at: at }) => Date.parse(String(at)) < Date.parse(followedFrom))
          : allKnown(page, await written, before, tableOf(name).id);
    }
  }
  tell(pulling);
  await writer.room();
  return after();
}

/** Rows of a reading that was never finished do not count: below them there may be others that are not stored. */
function allKnown({ records }: Page, present: ReadonlyMap<string, Present>, state: KindState, id: string): boolean {
  const { sweep, finished } = state;
  return records.every((record) => {
    const row = present.get(String(record[id]));
    if (!row || row.isDeleted) return false;
    return sweep?.isTail ? row.lastSweep >= sweep.number : row.firstSweep <= finished;
  });
}
