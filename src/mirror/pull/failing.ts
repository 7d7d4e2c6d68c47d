import type { Failure } from '../../errors.ts';
import { number } from '../../text/number.ts';
import { type KindState, type NotFound, readState, saveState } from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import type { Sql } from '../tables/store.ts';
import { forgetRecords } from './deleted.ts';
import { notWhole, type Pulling, tallyOf } from './pulling.ts';
import { showsOthers } from './shows-others.ts';

/** So many are remembered that are not settled. Where there are more, the kind is read whole again. */
const rememberedAtMost = 10_000;
/** What fails for a moment is over by then. */
const settledMs = 600_000;
/** Of the only one of its kind. */
const settledAloneMs = 86_400_000;

/** What records' own addresses have answered: of those that were shown, answered 404, or could not be read. */
export type Answers = {
  readonly shown: readonly number[];
  readonly absent: readonly number[];
  readonly failed: readonly number[];
};

/** There may be more of them. */
export const forgetsSome = ({ failing, notFound }: KindState): boolean =>
  Math.max(failing.length, openOf(notFound).length) >= rememberedAtMost;

export const openOf = (all: readonly NotFound[]): NotFound[] => all.filter(({ isGone }) => !isGone);
export const goneOf = (all: readonly NotFound[]): NotFound[] => all.filter(({ isGone }) => isGone);

/**
 * The state with more records that have to be asked for apart, those last that were asked for last. That one answered 404
 * before counts no more: a service that fails at it is in trouble.
 */
function withFailing<S extends KindState>(state: S, ids: readonly number[]): S {
  if (ids.length === 0) return state;
  const these = new Set(ids);
  return {
    ...state,
    failing: [...without(state.failing, these), ...ids].slice(0, rememberedAtMost),
    notFound: state.notFound.filter(({ id, isGone }) => isGone || !these.has(id)),
  };
}

const without = (all: readonly number[], some: ReadonlySet<number>): number[] => all.filter((id) => !some.has(id));

/**
 * The state with what was answered. A record that is not found for as long as a service may be in trouble is marked as gone,
 * though a list may name it; before that some others are asked for, where none was shown.
 */
export async function settleAnswers<S extends KindState>(
  pulling: Pulling,
  name: KindName,
  state: S,
  { shown, absent, failed }: Answers,
): Promise<S> {
  const now = pulling.ctx.clock.now();
  const known = new Map(state.notFound.map((one) => [one.id, one]));
  const met = absent.map((id) => known.get(id) ?? { id, since: now.toISOString(), isGone: false });
  // A clock that was set meanwhile settles it too.
  const olderThan = (ms: number) =>
    openOf(met).flatMap(({ id, since }) => (Math.abs(now.getTime() - Date.parse(since)) >= ms ? [id] : []));
  const isOld = olderThan(settledMs).length > 0;
  const neededMs = !isOld || shown.length > 0 ? settledMs : await untilSettled(pulling, name);
  const gone = new Set(olderThan(neededMs));
  if (gone.size > 0) await pulling.writer.write((sql) => forgetRecords(sql, pulling, { name, state }, [...gone]));
  const answered = new Set([...shown, ...absent]);
  const others = state.notFound.filter(({ id }) => !answered.has(id));
  const these = met.map((one) => (gone.has(one.id) ? { ...one, isGone: true } : one));
  const all = [...others, ...these];
  const notFound = [...goneOf(all), ...openOf(all).slice(0, rememberedAtMost)];
  return withFailing({ ...state, notFound, failing: without(state.failing, answered) }, failed);
}

/**
 * How long it takes until a 404 counts: for ever in a service that shows no record of the kind any more, for those that are not
 * found are no more gone than others. Where the copy has no other that could be asked for, only time tells.
 */
async function untilSettled(pulling: Pulling, name: KindName): Promise<number> {
  const { one } = kindOf(name);
  if (!one) return settledMs;
  try {
    const shows = await showsOthers(pulling, name, one);
    if (shows === 'unknown') return settledAloneMs;
    tallyOf(pulling, name).showsNone = !shows;
    return shows ? settledMs : Number.POSITIVE_INFINITY;
  } catch (error) {
    // No request is left for it: the next pull decides, and what was answered so far is kept.
    if (error === pulling.stop) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Of a kind that is not being read. */
export const rememberFailing = (pulling: Pulling, name: KindName, ids: readonly number[]): Promise<void> =>
  pulling.writer.write(async (sql) => {
    const state = await readState(sql, pulling.account, name);
    await saveState(sql, pulling.account, name, withFailing(state, ids));
  });

/** Beside other writes: records that have to be read again, as those that could not be. Those that answer 404 are asked for anyway. */
export async function noteDue(sql: Sql, { account }: Pulling, name: KindName, ids: readonly number[]): Promise<void> {
  const state = await readState(sql, account, name);
  const known = new Set(state.notFound.map(({ id }) => id));
  const due = ids.filter((id) => !known.has(id));
  if (due.length > 0) await saveState(sql, account, name, withFailing(state, due));
}

/** Says of a kind what could not be read of it, unless more is said already. */
export async function tellFailing(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, wishes, tally } = pulling;
  const { doubt, refused, showsNone, failing: asked = new Map<number, Failure>() } = tally.get(name) ?? {};
  if (doubt !== undefined || refused !== undefined || (!wishes.only.includes(name) && asked.size === 0)) return;
  const { failing, notFound } = await store.read((sql) => readState(sql, account, name));
  const open = openOf(notFound);
  if (failing.length > 0) {
    const id = failing.find((one) => asked.has(one)) ?? failing[0] ?? 0;
    const reason = asked.get(id)?.message;
    const why = reason === undefined ? '.' : `: ${reason}`;
    return notWhole(pulling, name, such(failing.length, 'could not be read', id) + why);
  }
  const [first] = open;
  if (first === undefined) return;
  const answers = such(open.length, open.length === 1 ? 'answers 404' : 'answer 404', first.id);
  const until = showsNone
    ? 'and the service shows no other one: until it does, svc cannot tell whether they are gone.'
    : 'and may be gone, which takes ten minutes or more to tell.';
  notWhole(pulling, name, `${answers}, ${until}`);
}

const such = (count: number, what: string, id: number): string =>
  count === 1 ? `1 of its records (${id}) ${what}` : `${number(count)} of its records ${what}, such as ${id}`;
