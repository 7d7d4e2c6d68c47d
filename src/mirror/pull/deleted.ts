import type { Operation } from '../../api/operation.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { hexDigestOf } from '../../text/digest.ts';
import type { KindState, Sweeping } from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import type { Sql } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import { idsWhere, presentRows } from './present.ts';
import { isOfOne, type Pulling, tallyOf } from './pulling.ts';
import { readingOf } from './reading.ts';
import { markDeleted } from './records.ts';

/** A kind, and how far its copy is. */
type Known = { readonly name: KindName; readonly state: KindState };

type Missing = {
  /** `again`: a second reading has to miss the same ones; `leave`: the list leaves out what is there. */
  readonly next: 'finish' | 'again' | 'leave';
  readonly missed: string | null;
  readonly why: string;
  /** What could not be asked. */
  readonly failed?: readonly number[];
};

/** A list that leaves out so many records that are there, and none that is not, is no list to go by. */
const presentAtMost = 5;
/** So many in a row at which the service fails: it is in trouble. */
export const failedAtMost = 5;

/**
 * What a whole reading did not find is deleted once that is proven: by a 404 for its own address, or, of a kind that has no such
 * address, by a second reading that misses the same ones. Those at which the service failed before are asked for apart.
 */
export async function markMissing(
  pulling: Pulling,
  { name, state }: Known & { readonly state: Sweeping },
): Promise<Missing> {
  const { one } = kindOf(name);
  const unseen = 'gone_at IS NULL AND last_sweep < $3 ORDER BY 1';
  const ids = await idsWhere(pulling, tableOf(name), unseen, [state.sweep.number]);
  const failing = new Set(state.failing);
  const missing = ids.filter((id) => !failing.has(id));
  const why = `The list of ${name} leaves out records that are there, or that it held before.`;
  const forget = (ids: readonly number[]) =>
    ids.length === 0 ? undefined : pulling.writer.write((sql) => forgetRecords(sql, pulling, { name, state }, ids));
  if (!one) {
    const missed = missing.length === 0 ? null : digestOfIds(missing);
    if (missed !== null && missed !== state.missed) return { next: 'again', missed, why };
    await forget(missing);
    return { next: 'finish', missed: null, why };
  }
  const deleted: number[] = [];
  const failed: number[] = [];
  let present = 0;
  let failedInARow = 0;
  for (const id of missing) {
    const isGone = await isAbsent(pulling, one.operation, id);
    failedInARow = isGone === undefined ? failedInARow + 1 : 0;
    if (isGone) deleted.push(id);
    else if (isGone === undefined) failed.push(id);
    else if (++present >= presentAtMost && deleted.length === 0) return { next: 'leave', missed: null, why };
    if (failedInARow < failedAtMost) continue;
    await forget(deleted);
    const trouble = `Whether ${id} is gone could not be asked: the service fails there.`;
    return { next: 'leave', missed: null, why: trouble, failed };
  }
  await forget(deleted);
  return { next: 'finish', missed: null, why, failed };
}

/** Two readings that have the same one have met, or missed, the same records. */
export const digestOfIds = (ids: readonly number[]): string => hexDigestOf(ids.join(' ')).slice(0, 16);

/** Marks them deleted, and what belongs to them. */
export async function forgetRecords(
  sql: Sql,
  pulling: Pulling,
  { name, state }: Known,
  ids: readonly number[],
): Promise<void> {
  const { parts, members } = kindOf(name);
  const reading = readingOf(pulling, state, { number: state.begun });
  for (const tableName of [name, parts?.table, members?.table]) {
    if (tableName === undefined) continue;
    const table = tableOf(tableName);
    const rows = await presentRows(sql, pulling.account, table, ids);
    const count = await markDeleted(sql, reading, table, [...rows.values()]);
    if (tableName === name) tallyOf(pulling, name).gone += count;
  }
}

/** A record of its own that answers 404 is not there. Undefined where the service fails at it. */
export async function isAbsent(pulling: Pulling, operation: Operation, id: number): Promise<boolean | undefined> {
  try {
    return await pulling.ask(operation, { params: { id } }).then(() => false, insteadOf(['not-found'], true));
  } catch (error) {
    if (isOfOne(pulling, error)) return undefined;
    throw error;
  }
}
