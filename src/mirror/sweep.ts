import type { Input, Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { Failure } from '../errors.ts';
import type { Fields } from './cells.ts';
import { type Kind, type KindName, kindOf } from './kinds.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import {
  applyRecords,
  type Entry,
  markGone,
  owned,
  ownerOf,
  type Present,
  presentRows,
  type Reading,
} from './records.ts';
import { beginSweep, earlier, type KindState, later, readState, type Sweep, saveState } from './state.ts';
import type { Sql } from './store.ts';
import { tableOf } from './tables.ts';
import { storeTexts } from './texts.ts';

const perPage = 100;
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
  if (state.sweep && !(isFollowed && state.sweep.whole)) {
    isFresh = state.sweep.whole && state.sweep.page === 1;
    state = await sweepToEnd(pulling, name, state);
  }
  if (isFresh) return;
  if (isFollowed) state = followed(pulling, state);
  const since = news === 'updates' ? minus(state.cursor, overlapMs) : null;
  await sweepToEnd(pulling, name, begin(pulling, state, { whole: news === 'whole list', forced: false, since }));
}

const wholeList = { whole: true, forced: false, since: null };

const begin = (pulling: Pulling, state: KindState, wanted: Pick<Sweep, 'whole' | 'forced' | 'since'>): KindState =>
  beginSweep(state, wanted, pulling.serviceTime());

/** From now on, by the service's clock; the whole reading of a later pull has no part in it. */
function followed({ serviceTime, now }: Pulling, state: KindState): KindState {
  const from = state.followedFrom ?? serviceTime() ?? now();
  return { ...state, followedFrom: from, cursor: state.cursor ?? from, sweep: null };
}

const minus = (time: string | null, ms: number): string | null =>
  time === null ? null : new Date(Date.parse(time) - ms).toISOString();

/** Page after page until the reading is finished. Where it ends early, what it has stored is kept, and how far it was. */
async function sweepToEnd(pulling: Pulling, name: KindName, begun: KindState): Promise<KindState> {
  let state = begun;
  let sweeps = 1;
  try {
    while (state.sweep) {
      const read = await readPage(pulling, name, state.sweep);
      state = await storePage(pulling, name, state, read);
      if (!read.isLast && !read.isKnown) continue;
      await pulling.writer.done();
      state = await finish(pulling, name, state, sweeps++);
    }
  } finally {
    await pulling.writer.done();
  }
  return state;
}

type Page = {
  readonly records: readonly Fields[];
  readonly isLast: boolean;
  readonly total: number | null;
  /** Nothing in it is new to the reading. */
  isKnown?: boolean;
};

export async function readPage(pulling: Pulling, name: KindName, { page, since }: Pick<Sweep, 'page' | 'since'>) {
  const { list } = kindOf(name);
  const { key, paged } = list.answer as Extract<Operation['answer'], { shape: 'list' }>;
  const query = paged ? { page, per_page: perPage, ...(since !== null && { updated_since: since }) } : undefined;
  // What the query may hold follows from the list, which only the run knows.
  const body = await pulling.ask(list, (query ? { query } : {}) as Input<Operation>);
  const records = (Array.isArray(body[key]) ? body[key] : []) as readonly Fields[];
  const { last_page: last, total } = (body.meta ?? {}) as { last_page?: unknown; total?: unknown };
  return {
    records,
    isLast: records.length === 0 || page >= (typeof last === 'number' ? last : page),
    total: typeof total === 'number' ? total : null,
  } as Page;
}

async function storePage(pulling: Pulling, name: KindName, before: KindState, page: Page): Promise<KindState> {
  const { writer, account } = pulling;
  const kind = kindOf(name);
  const sweep = before.sweep as Sweep;
  const reading = readingOf(pulling, before, sweep);
  // A page of nothing but what is there ends a reading of news, so it has to be looked at before the next one.
  const looksBack = kind.news === 'newest first' && (!sweep.whole || sweep.isTail);
  const latest = page.records.reduce((found, { updated_at: at }) => later(found, timeOf(at)), sweep.latest);
  const total = sweep.isTail && kind.news === 'updates' ? sweep.total : (page.total ?? sweep.total);
  const state: KindState = { ...before, sweep: { ...sweep, page: sweep.page + 1, latest, total } };
  if (kind.one?.for === 'text') {
    await storeTexts(pulling, name, { reading, sweep, records: page.records });
    void writer.write((sql) => saveState(sql, account, name, state));
  } else {
    const written = writer.write(async (sql) => {
      const present = await storeRecords(sql, pulling, name, reading, page.records);
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

export const idFieldOf = ({ list }: Kind): string => resources[list.resource].idField ?? 'id';

const timeOf = (value: unknown): string | null =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null;

export function readingOf(pulling: Pulling, state: KindState, { number }: Pick<Sweep, 'number'>): Reading {
  const { account, wishes } = pulling;
  const isFollowed = wishes.follow && !state.complete;
  return {
    account,
    now: pulling.now(),
    readAt: null,
    sweep: number,
    isNews: state.complete || isFollowed,
    ...(isFollowed && state.followedFrom !== null && { newSince: state.followedFrom }),
  };
}

/** Records of a list that holds them whole. Returns what was there before. */
export async function storeRecords(
  sql: Sql,
  pulling: Pulling,
  name: KindName,
  reading: Reading,
  records: readonly Fields[],
): Promise<ReadonlyMap<string, Present>> {
  const table = tableOf(name);
  const ids = records.map((record) => record[table.id]).filter((id): id is number => Number.isSafeInteger(id));
  const present = await presentRows(sql, pulling.account, table, ids);
  const entries: Entry[] = records
    .filter((record) => Number.isSafeInteger(record[table.id]))
    .map((record) => ({ record }));
  add(tallyOf(pulling, name), await applyRecords(sql, reading, table, entries, present));
  return present;
}

function add(tally: { created: number; updated: number; gone: number }, more: typeof tally): void {
  tally.created += more.created;
  tally.updated += more.updated;
  tally.gone += more.gone;
}

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
async function finish(pulling: Pulling, name: KindName, before: KindState, sweeps: number): Promise<KindState> {
  const { news } = kindOf(name);
  const sweep = before.sweep as Sweep;
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
  state: KindState,
): Promise<{ readonly state: KindState; readonly again: boolean }> {
  const { store, account } = pulling;
  const { news } = kindOf(name);
  const { whole, number, total } = state.sweep as Sweep;
  // A list of what changed counts that alone.
  if ((!whole && news === 'updates') || (!whole && !state.complete)) return { state, again: false };
  const count = async (condition: string, ...values: number[]): Promise<number> => {
    const text = `SELECT count(*) AS n FROM ${name} WHERE ${owned} AND ${condition}`;
    return Number((await store.read((sql) => sql.all(text, [...ownerOf(account), ...values])))[0]?.n);
  };
  const seen = whole ? await count('last_sweep >= $3', number) : await count('gone_at IS NULL');
  const short = Math.max(0, (total ?? seen) - seen);
  if (short > 0 && short !== state.short) return { state: { ...state, short }, again: true };
  if (whole) await markMissing(pulling, name, state, short === 0);
  return { state: { ...state, short }, again: false };
}

/** `isSure`: as many were found as the service counts. A record that can be asked for is asked for first. */
async function markMissing(pulling: Pulling, name: KindName, state: KindState, isSure: boolean): Promise<void> {
  const { store, account, writer } = pulling;
  const { one } = kindOf(name);
  const table = tableOf(name);
  const { number } = state.sweep as Sweep;
  const text = `SELECT ${table.id} AS id FROM ${name} WHERE ${owned} AND gone_at IS NULL AND last_sweep < $3`;
  const missing = (await store.read((sql) => sql.all(text, [...ownerOf(account), number]))).map(({ id }) => Number(id));
  const gone: number[] = [];
  for (const id of missing) {
    if (one ? await isAbsent(pulling, one.operation, id) : isSure) gone.push(id);
  }
  if (gone.length > 0) await writer.write((sql) => forgetRecords(sql, pulling, name, state, gone));
}

/** Marks them gone, and what belongs to them. */
export async function forgetRecords(
  sql: Sql,
  pulling: Pulling,
  name: KindName,
  state: KindState,
  ids: readonly number[],
): Promise<void> {
  const { parts, members } = kindOf(name);
  const reading = readingOf(pulling, state, { number: state.begun });
  for (const tableName of [name, parts?.table, members?.table]) {
    if (tableName === undefined) continue;
    const table = tableOf(tableName);
    const rows = [...(await presentRows(sql, pulling.account, table, ids)).values()].map((row) => ({
      ...row,
      ...(tableName !== name && { parent: Number(row.key.split(':')[0]) }),
    }));
    const count = await markGone(sql, reading, table, rows);
    if (tableName === name) tallyOf(pulling, name).gone += count;
  }
}

/** A record of its own that answers 404 is not there. */
export async function isAbsent(pulling: Pulling, operation: Operation, id: number): Promise<boolean> {
  try {
    await pulling.ask(operation, { params: { id } } as unknown as Input<Operation>);
    return false;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not-found') return true;
    throw error;
  }
}

const spoken = new WeakMap<Pulling, number>();

/** On a terminal at every page, else a line every ten seconds. */
export function tell(pulling: Pulling, name: KindName, { sweep }: KindState): void {
  const { ctx } = pulling;
  const total = sweep?.total;
  const read = Math.min(((sweep?.page ?? 1) - 1) * perPage, total ?? Number.POSITIVE_INFINITY);
  const text = `Pulling ${name}: ${read.toLocaleString('en')}${total ? ` of ${total.toLocaleString('en')}` : ''}`;
  ctx.progress(text);
  const now = ctx.clock.ticks();
  const last = spoken.get(pulling) ?? spoken.set(pulling, now).get(pulling) ?? now;
  if (ctx.stderr.isTTY || now - last < 10_000) return;
  spoken.set(pulling, now);
  ctx.notice(`${text}.`);
}
