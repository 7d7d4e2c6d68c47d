import { Failure } from '../../errors.ts';
import { number } from '../../text/number.ts';
import { type KindState, readState, saveState } from '../store/state.ts';
import type { KindName } from '../tables/kinds.ts';
import { notWhole, type Pulling } from './pulling.ts';

/** More is no matter of single records. */
export const failingAtMost = 1_000;

/** The state with more records that cannot be read. */
export function withFailing<S extends KindState>(name: KindName, state: S, ids: readonly number[]): S {
  if (ids.length === 0) return state;
  const failing = [...new Set([...state.failing, ...ids])];
  if (failing.length <= failingAtMost) return { ...state, failing };
  throw new Failure('partial', `The service fails at more than ${number(failingAtMost)} ${name}.`);
}

/** Of a kind that is not being read. */
export const rememberFailing = ({ writer, account }: Pulling, name: KindName, ids: readonly number[]): Promise<void> =>
  writer.write(async (sql) =>
    saveState(sql, account, name, withFailing(name, await readState(sql, account, name), ids)),
  );

/** Says of a kind what could not be read of it, unless more is said already. */
export async function tellFailing(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, wishes, tally } = pulling;
  const { doubt, failing: asked = new Map<number, Failure>() } = tally.get(name) ?? {};
  const isAsked = wishes.only.includes(name) || asked.size > 0;
  const { failing } = await store.read((sql) => readState(sql, account, name));
  if (!isAsked || failing.length === 0 || doubt !== undefined) return;
  const id = failing.find((one) => asked.has(one));
  const such = id === undefined ? '.' : `, such as ${id}: ${asked.get(id)?.message}`;
  notWhole(pulling, name, `${number(failing.length)} of its records could not be read${such}`);
}
