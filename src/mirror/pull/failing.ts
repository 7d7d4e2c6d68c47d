import type { Failure } from '../../errors.ts';
import { number } from '../../text/number.ts';
import { type KindState, readState, saveState } from '../store/state.ts';
import type { KindName } from '../tables/kinds.ts';
import { notWhole, type Pulling } from './pulling.ts';

/** So many are remembered. Where there are more, the kind is not complete, and is read whole again. */
export const failingAtMost = 1_000;

/** The state with more records that cannot be read. */
export function withFailing<S extends KindState>(state: S, ids: readonly number[]): S {
  if (ids.length === 0) return state;
  return { ...state, failing: [...new Set([...state.failing, ...ids])].slice(0, failingAtMost) };
}

/** Of a kind that is not being read. */
export const rememberFailing = ({ writer, account }: Pulling, name: KindName, ids: readonly number[]): Promise<void> =>
  writer.write(async (sql) => saveState(sql, account, name, withFailing(await readState(sql, account, name), ids)));

/** Says of a kind what could not be read of it, unless more is said already. */
export async function tellFailing(pulling: Pulling, name: KindName): Promise<void> {
  const { store, account, wishes, tally } = pulling;
  const { doubt, failing: asked = new Map<number, Failure>() } = tally.get(name) ?? {};
  const isAsked = wishes.only.includes(name) || asked.size > 0;
  const { failing, unshown } = await store.read((sql) => readState(sql, account, name));
  if (!isAsked || doubt !== undefined) return;
  if (failing.length === 0 && unshown === null) return;
  if (failing.length === 0) return notWhole(pulling, name, 'Records of it answer 404, and may be gone.');
  const id = failing.find((one) => asked.has(one));
  const such = id === undefined ? '.' : `, such as ${id}: ${asked.get(id)?.message}`;
  notWhole(pulling, name, `${number(failing.length)} of its records could not be read${such}`);
}
