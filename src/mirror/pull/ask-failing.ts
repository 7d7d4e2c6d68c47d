import { type KindState, readState } from '../store/state.ts';
import { type KindName, kindOf, type ReadsOne } from '../tables/kinds.ts';
import { tableOf } from '../tables/tables.ts';
import { isAbsent } from './deleted.ts';
import { goneOf, openOf, settleAnswers } from './failing.ts';
import { save } from './finish.ts';
import { notWhole, type Pulling, tallyOf } from './pulling.ts';
import { readingOf } from './reading.ts';
import { storeSome, type Texts, together } from './texts.ts';
import { droppedWords } from './usable.ts';

/** Whoever pulls every few seconds asks for them less often. */
const pauseMs = 300_000;

/**
 * Asks once more for records that could not be read before: for a few of each sort, those first that were asked for longest ago,
 * and on to the next ones for as long as that settles some. Those that are called gone, which a list names all the same, may be
 * back.
 */
export async function askFailing(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, wishes, ctx } = pulling;
  const { one } = kindOf(name);
  const state = await store.read((sql) => readState(sql, account, name));
  const waited = ctx.clock.now().getTime() - Date.parse(state.failingAskedAt ?? '');
  if (!one || state.sweep !== null || (wishes.isOften && Math.abs(waited) < pauseMs)) return;
  const { failing, absent } = tallyOf(pulling, name);
  const idsOf = (some: readonly { readonly id: number }[]) => some.map(({ id }) => id);
  const sorts = [state.failing, idsOf(openOf(state.notFound)), idsOf(goneOf(state.notFound))].map((ids) =>
    ids.filter((id) => !failing.has(id) && !absent.has(id)),
  );
  if (sorts.every((ids) => ids.length === 0)) return;
  await save(pulling, name, { ...state, failingAskedAt: pulling.now() });
  for (const left of sorts) {
    for (let settles = true; settles && left.length > 0; )
      settles = await askSome(pulling, name, one, left.splice(0, roomFor(pulling)));
  }
}

/** Reads what shows changes of another kind's records. Whatever ends this, the next pull asks as for those that failed. */
export async function readOutdated(pulling: Pulling, name: KindName): Promise<void> {
  const { one } = kindOf(name);
  const { outdated } = tallyOf(pulling, name);
  const left = [...outdated];
  outdated.clear();
  while (one && left.length > 0) await askSome(pulling, name, one, left.splice(0, roomFor(pulling)));
}

/** Of a few requests that are left one is for the proof that others are shown. What ends a batch early takes its answers. */
function roomFor({ requests, wishes: { maxRequests = Number.POSITIVE_INFINITY } }: Pulling): number {
  return Math.max(1, Math.min(together, maxRequests - requests() - 1));
}

/** Whether one of them is there, is no failing one any more, or is called gone, for which nobody who pulls often need wait. */
async function askSome(pulling: Pulling, name: KindName, one: ReadsOne, ids: readonly number[]): Promise<boolean> {
  const { store, account, wishes } = pulling;
  const before = await store.read((sql) => readState(sql, account, name));
  const these = new Set(ids);
  // Whatever ends this pull, the next one begins with others.
  const turned = <T>(all: readonly T[], idOf: (one: T) => number) => [
    ...all.filter((each) => !these.has(idOf(each))),
    ...all.filter((each) => these.has(idOf(each))),
  ];
  const state = await save(pulling, name, {
    ...before,
    failing: turned(before.failing, (id) => id),
    notFound: turned(before.notFound, ({ id }) => id),
  });
  const answers = await (one.for === 'text'
    ? readAgain(pulling, name, one, { state, ids })
    : lookAgain(pulling, one, ids));
  const kept = await save(pulling, name, await settleAnswers(pulling, name, state, answers));
  if (answers.dropped > 0)
    notWhole(pulling, name, droppedWords(answers.dropped, `the messages of ${name}`, tableOf(name).id));
  const isSettled = goneOf(kept.notFound).length > goneOf(state.notFound).length;
  const areFewer = kept.failing.length < state.failing.length;
  return answers.shown.length > 0 || areFewer || (isSettled && !wishes.isOften);
}

type Asked = { readonly state: KindState; readonly ids: readonly number[] };

function readAgain(pulling: Pulling, name: KindName, one: ReadsOne, { state, ids }: Asked): Promise<Texts> {
  const records = ids.map((id) => ({ [tableOf(name).id]: id }));
  return storeSome(pulling, name, one, { reading: readingOf(pulling, state, { number: state.begun }), records });
}

/** The list holds these whole: only whether they are there is asked. */
async function lookAgain(pulling: Pulling, one: ReadsOne, ids: readonly number[]): Promise<Texts> {
  const absent: number[] = [];
  const failed: number[] = [];
  for (const id of ids) {
    const isGone = await isAbsent(pulling, one.operation, id);
    if (isGone === undefined) failed.push(id);
    else if (isGone) absent.push(id);
  }
  const others = new Set([...absent, ...failed]);
  return { shown: ids.filter((id) => !others.has(id)), absent, failed, dropped: 0 };
}
