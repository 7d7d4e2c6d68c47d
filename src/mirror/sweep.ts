import { markMissing } from './gone.ts';
import { type KindName, kindOf } from './kinds.ts';
import { owned, ownerOf } from './owner.ts';
import { type Page, readPage, tell } from './page.ts';
import type { Present } from './present.ts';
import type { Pulling } from './pulling.ts';
import { idFieldOf, readingOf, storeRecords } from './reading.ts';
import {
  beginSweep,
  earlier,
  isSweeping,
  type KindState,
  later,
  readState,
  type Sweep,
  type Sweeping,
  saveState,
} from './state.ts';
import { storeTexts } from './texts.ts';

/** A change may become visible a little later than its time says. */
const overlapMs = 120_000;
const sweepsAtMost = 3;

/** Brings one kind up to date: first what an earlier pull left unfinished, then what is new. */
export async function pullKind(pulling: Pulling, name: KindName): Promise<void> {
  const { wishes, store, account } = pulling;
  const { news } = kindOf(name);
  let state = await store.read((sql) => readState(sql, account, name));
  const isFollowed = wishes.follow && !state.complete;
  if (wishes.full && !state.sweep?.forced) state = begin(pulling, state, { whole: true, forced: true, since: null });
  else if (!state.sweep && !state.complete && !isFollowed) state = begin(pulling, state, wholeList);
  let isFresh = false;
  if (isSweeping(state) && !(isFollowed && state.sweep.whole)) {
    isFresh = state.sweep.whole && state.sweep.page === 1;
    state = await sweepToEnd(pulling, name, state);
  }
  if (isFresh) return;
  if (isFollowed) state = followed(pulling, state);
  const since = news === 'updates' ? minus(state.cursor, overlapMs) : null;
  await sweepToEnd(pulling, name, begin(pulling, state, { whole: news === 'whole list', forced: false, since }));
}

const wholeList = { whole: true, forced: false, since: null };

const begin = (pulling: Pulling, state: KindState, wanted: Pick<Sweep, 'whole' | 'forced' | 'since'>): Sweeping =>
  beginSweep(state, wanted, pulling.serviceTime());

/** From now on, by the service's clock; the whole reading of a later pull has no part in it. */
function followed({ serviceTime, now }: Pulling, state: KindState): KindState {
  const from = state.followedFrom ?? serviceTime() ?? now();
  return { ...state, followedFrom: from, cursor: state.cursor ?? from, sweep: null };
}

const minus = (time: string | null, ms: number): string | null =>
  time === null ? null : new Date(Date.parse(time) - ms).toISOString();

/** Page after page until the reading is finished. Where it ends early, what it has stored is kept, and how far it was. */
async function sweepToEnd(pulling: Pulling, name: KindName, begun: Sweeping): Promise<KindState> {
  let state: KindState = begun;
  let sweeps = 1;
  try {
    while (isSweeping(state)) {
      const read = await readPage(pulling, name, state.sweep);
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

async function storePage(pulling: Pulling, name: KindName, before: Sweeping, page: Page): Promise<Sweeping> {
  const { writer, account } = pulling;
  const kind = kindOf(name);
  const { sweep } = before;
  const reading = readingOf(pulling, before, sweep);
  // A page of nothing but what is there ends a reading of news, so it has to be looked at before the next one.
  const looksBack = kind.news === 'newest first' && (!sweep.whole || sweep.isTail);
  const latest = page.records.reduce((found, { updated_at: at }) => later(found, timeOf(at)), sweep.latest);
  const total = sweep.isTail && kind.news === 'updates' ? sweep.total : (page.total ?? sweep.total);
  const state: Sweeping = { ...before, sweep: { ...sweep, page: sweep.page + 1, latest, total } };
  if (kind.one?.for === 'text') {
    await storeTexts(pulling, name, { one: kind.one, reading, sweep, records: page.records });
    void writer.write((sql) => saveState(sql, account, name, state));
  } else {
    const written = writer.write(async (sql) => {
      const present = await storeRecords(sql, pulling, name, { reading, records: page.records });
      await saveState(sql, account, name, state);
      return present;
    });
    if (looksBack) {
      page.isKnown =
        reading.newSince === undefined
          ? allKnown(page, await written, before, idFieldOf(kind))
          : page.records.some(({ created_at: at }) => Date.parse(String(at)) < Date.parse(reading.newSince ?? ''));
    }
  }
  tell(pulling, name, state);
  await writer.room();
  return state;
}

const timeOf = (value: unknown): string | null =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null;

/** Rows of a reading that was never finished do not count: below them there may be others that are not stored. */
function allKnown({ records }: Page, present: ReadonlyMap<string, Present>, state: KindState, id: string): boolean {
  const { sweep, finished } = state;
  return records.every((record) => {
    const row = present.get(String(record[id]));
    if (!row || row.isGone) return false;
    return sweep?.isTail ? row.lastSweep >= sweep.number : row.firstSweep <= finished;
  });
}

/** The last page is stored: now the cursor may move. */
async function finish(pulling: Pulling, name: KindName, before: Sweeping, sweeps: number): Promise<KindState> {
  const { news } = kindOf(name);
  const { sweep } = before;
  const { whole, started, latest, isTail, page } = sweep;
  // What came to the front, or changed, while the rest was read.
  if (whole && !isTail && page > 2 && news !== 'whole list') {
    const since = news === 'updates' ? minus(earlier(started, latest), overlapMs) : null;
    return save(pulling, name, { ...before, sweep: { ...sweep, isTail: true, page: 1, since } });
  }
  const { state, again } = await counted(pulling, name, before);
  if (again && sweeps < sweepsAtMost) return save(pulling, name, begin(pulling, { ...state, sweep: null }, wholeList));
  const cursor = latest === null ? (before.cursor ?? started) : later(before.cursor, earlier(latest, started));
  return save(pulling, name, {
    ...state,
    complete: state.complete || whole,
    cursor: news === 'updates' ? cursor : null,
    finished: sweep.number,
    finishedAt: pulling.now(),
    sweep: null,
  });
}

async function save(pulling: Pulling, name: KindName, state: KindState): Promise<KindState> {
  await pulling.writer.write((sql) => saveState(sql, pulling.account, name, state));
  return state;
}

/**
 * Compares with the service's own count. Records that were missed because the list moved are found by reading it
 * again; those that are not in it any more are gone.
 */
async function counted(
  pulling: Pulling,
  name: KindName,
  state: Sweeping,
): Promise<{ readonly state: KindState; readonly again: boolean }> {
  const { store, account } = pulling;
  const { news } = kindOf(name);
  const { whole, number, total } = state.sweep;
  // A list of what changed counts that alone.
  if ((!whole && news === 'updates') || (!whole && !state.complete)) return { state, again: false };
  const count = async (condition: string, ...values: number[]): Promise<number> => {
    const text = `SELECT count(*) AS n FROM ${name} WHERE ${owned} AND ${condition}`;
    return Number((await store.read((sql) => sql.all(text, [...ownerOf(account), ...values])))[0]?.n);
  };
  const seen = whole ? await count('last_sweep >= $3', number) : await count('gone_at IS NULL');
  const short = Math.max(0, (total ?? seen) - seen);
  if (short > 0 && short !== state.short) return { state: { ...state, short }, again: true };
  if (whole) await markMissing(pulling, { name, state }, { isSure: short === 0 });
  return { state: { ...state, short }, again: false };
}
