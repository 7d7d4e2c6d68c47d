import { readState } from '../store/state.ts';
import type { KindName, ReadsOne } from '../tables/kinds.ts';
import { tableOf } from '../tables/tables.ts';
import { idsWhere } from './present.ts';
import { isOfOne, type Pulling, tallyOf } from './pulling.ts';
import { readWhole } from './thread.ts';

/** Of these some are asked for, beside those that are known not to be shown. */
const latestAtMost = 1_000;

/**
 * Whether the service shows records that it showed before: one of the latest, or of those behind. `unknown`: beside those
 * that are called gone there is only one of the kind, which is not shown.
 */
export async function showsOthers(pulling: Pulling, name: KindName, one: ReadsOne): Promise<boolean | 'unknown'> {
  const { store, account } = pulling;
  const { failing, notFound } = await store.read((sql) => readState(sql, account, name));
  const { failing: failed, absent } = tallyOf(pulling, name);
  const gone = new Set(notFound.flatMap((each) => (each.isGone ? [each.id] : [])));
  const missing = [...notFound.map((each) => each.id), ...absent].filter((each) => !gone.has(each));
  const open = new Set([...failing, ...failed.keys(), ...missing]);
  const unread = new Set([...open, ...gone]);
  const latest = 'gone_at IS NULL ORDER BY read_at DESC LIMIT $3';
  const ids = await idsWhere(pulling, tableOf(name), latest, [unread.size + latestAtMost]);
  const known = ids.filter((id) => !unread.has(id));
  const some = [0, Math.floor(known.length / 2), known.length - 1].flatMap((at) => known[at] ?? []);
  for (const each of new Set(some)) {
    const [answer] = await readWhole(pulling, name, one, [each]);
    if (answer?.status === 'rejected' && !isOfOne(pulling, answer.reason)) throw answer.reason;
    if (answer?.status === 'fulfilled' && answer.value) return true;
  }
  // Several that are not shown are an account that is not shown, whether the copy has them or not.
  return open.size <= 1 && known.length === 0 ? 'unknown' : false;
}
