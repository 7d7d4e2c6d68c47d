import { readState, saveState } from '../store/state.ts';
import { type KindName, kindOf, type ReadsOne } from '../tables/kinds.ts';
import { tableOf } from '../tables/tables.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import { readingOf } from './reading.ts';
import { storeSome, together } from './texts.ts';

/** Whoever watches asks every few seconds. */
const watchPauseMs = 300_000;

/**
 * Asks once more for records that could not be read before: those first that were asked for longest ago, and on to the next
 * ones for as long as the service shows some.
 */
export async function askFailing(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, wishes, ctx } = pulling;
  const { one } = kindOf(name);
  const state = await store.read((sql) => readState(sql, account, name));
  const waited = ctx.clock.now().getTime() - Date.parse(state.failingAskedAt ?? '');
  if (!one || state.sweep !== null || (wishes.follow && Math.abs(waited) < watchPauseMs)) return;
  const asked = new Set(tallyOf(pulling, name).failing.keys());
  const left = state.failing.filter((id) => !asked.has(id));
  for (let isShown = true; isShown && left.length > 0; )
    isShown = await askSome(pulling, name, one, left.splice(0, together));
}

/** Whether one of them is there, or surely not. */
async function askSome(pulling: Pulling, name: KindName, one: ReadsOne, ids: readonly number[]): Promise<boolean> {
  const { store, account, writer } = pulling;
  const state = await store.read((sql) => readState(sql, account, name));
  const records = ids.map((id) => ({ [tableOf(name).id]: id }));
  const reading = readingOf(pulling, state, { number: state.begun });
  const { absent, failed } = await storeSome(pulling, name, one, { reading, records });
  const failing = [...state.failing.filter((id) => !ids.includes(id)), ...failed];
  // Whether one with a 404 is gone, the next reading of the whole list tells.
  const unshown = absent.length > 0 ? (state.unshown ?? '') : state.unshown;
  const kept = { ...state, failing, failingAskedAt: pulling.now(), unshown };
  await writer.write((sql) => saveState(sql, account, name, kept));
  return failed.length < ids.length;
}
