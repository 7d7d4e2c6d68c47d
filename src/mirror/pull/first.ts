import { type KindState, readState } from '../store/state.ts';
import { type KindName, kindNames, kindOf } from '../tables/kinds.ts';
import { settleAnswers } from './failing.ts';
import { save } from './finish.ts';
import { countNow, readPage } from './page.ts';
import { costOf, expectFirst, leftOf, spent, tell } from './progress.ts';
import type { Guarded, Pulling } from './pulling.ts';
import { readingOf } from './reading.ts';
import { storeTexts } from './texts.ts';

/**
 * Before the first reading of a kind: how many there are, said as requests and minutes, and then, before everything else, the
 * threads that people look at first, the unresolved.
 */
export async function beginFirst(pulling: Pulling, guarded: Guarded): Promise<void> {
  const { wishes, store, account } = pulling;
  if (wishes.follow) return;
  const states = new Map<KindName, KindState>();
  for (const name of kindNames.filter((one) => wishes.only.includes(one))) {
    const state = await store.read((sql) => readState(sql, account, name));
    if (!state.complete && state.repairsFrom === null) states.set(name, state);
  }
  if (states.size === 0) return;
  const totals = new Map<KindName, number>();
  for (const [name, state] of states) {
    await guarded(name, async () => {
      const total = await countOnce(pulling, name, state);
      if (total !== null) totals.set(name, total);
    });
  }
  expectFirst(pulling, totals);
  const urgent = [...states.keys()].filter((name) => kindOf(name).incremental === 'updates');
  pulling.left.set('unresolved', urgent.length);
  const isNew = [...states.values()].every(({ sweep, front }) => sweep === null && front === 1);
  if (isNew && totals.size > 0) {
    // What was counted with was asked for as well.
    const cost = costOf(pulling.requests() + leftOf(pulling));
    pulling.ctx.notice(`The first pull needs ${cost}. You can end it at any time; the next one goes on.`);
  }
  for (const name of urgent) {
    await guarded(name, () => readUnresolved(pulling, name));
    spent(pulling, 'unresolved');
  }
}

/** Asked once, however often the first reading is interrupted. */
async function countOnce(pulling: Pulling, name: KindName, state: KindState): Promise<number | null> {
  if (!kindOf(name).list.answer.paged) return null;
  const known = state.sweep ? (state.sweep.listed ?? state.sweep.total) : state.expected;
  if (known !== null) return known;
  const expected = await countNow(pulling, name);
  await save(pulling, name, { ...state, expected });
  return expected;
}

/** Newest first, as the service lists them. The whole reading that follows reads no text of them twice. */
async function readUnresolved(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account } = pulling;
  const { one } = kindOf(name);
  let state = await store.read((sql) => readState(sql, account, name));
  while (one && state.front !== null && state.sweep === null) {
    const { front } = state;
    const { isLast, doubt, records } = await readPage(pulling, name, {
      page: front,
      since: null,
      status: 'unresolved',
    });
    if (doubt === undefined) {
      const sweep = { number: state.begun, forced: false };
      const reading = readingOf(pulling, state, sweep);
      state = await settleAnswers(
        pulling,
        name,
        state,
        await storeTexts(pulling, name, { one, reading, sweep, records, state }),
      );
    }
    state = { ...state, front: isLast || doubt !== undefined ? null : front + 1 };
    await save(pulling, name, state);
    tell(pulling);
  }
}
