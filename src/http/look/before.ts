import type { Input, Operation } from '../../api/operation.ts';
import { Failure } from '../../errors.ts';
import { isGatewayTimeout, readBody } from '../../retry/own-word.ts';
import { madeAt } from './age.ts';
import { lookingFor } from './looking.ts';
import type { Read, Seen } from './lookups.ts';
import { askedTwice } from './sweeps.ts';
import { type Seeing, wholeList } from './views.ts';

/**
 * What was there before a write, as plain data: a journal can hold it. A record is known by its id, or by one that is
 * not larger than `upTo`, for whoever wrote down no more than the newest id. (Ids need not grow: service.md#records-1.)
 */
export type Before = {
  readonly ids: readonly number[];
  readonly upTo: number;
  /** No record was left out, so whatever is not known is new. */
  readonly isWhole: boolean;
  /** They fall from the newest to the oldest, so they grow with time. */
  readonly grows?: boolean;
  /** Of the newest page: what was made later, in milliseconds, and is not among them was not there. */
  readonly sinceMs?: number;
  /** The latest time at which one of them was made, in milliseconds. */
  readonly newestMs?: number;
  /** How many there were in all, where the service said so. */
  readonly total?: number;
  /**
   * Known as well, wherever they stand: that this list is without them shows nothing. Of one that begins with the newest
   * svc made them before this write left, so what stands behind any of them is no newer.
   */
  readonly elsewhere?: readonly number[];
  /** When the write left, by the service's clock, in milliseconds; undefined where that is not known. */
  readonly leftMs?: number;
  /** When the latest record was made that svc had made before the write left, in milliseconds. */
  readonly ownMs?: number;
};

/** The largest id that was there; 0 where nothing was. */
export const largestOf = ({ ids, upTo }: Before): number => ids.reduce((most, id) => Math.max(most, id), upTo);

/**
 * Reads what is there, before the first attempt: the first page of a list that the document promises to be sorted newest
 * first, all of any other. Undefined where the service does not show it.
 */
export async function readBefore<Op extends Operation>(
  read: Read,
  operation: Pick<Op, 'id'>,
  input: Input<Op>,
): Promise<Before | undefined> {
  const { page, newestFirst } = lookingFor<Op>(operation);
  // What a page leaves out is told from ours by its time; a page that is asked for twice would cost each write a request.
  const pageAt = async (number: number) => {
    const view = await page(read, input, number);
    return { ...view, isOdd: view.isUncounted === true };
  };
  const known = ({ seen, isWhole, total }: Seeing): Before => {
    const newestMs = seen.reduce(
      (most, { record }) => Math.max(most, madeAt(record) ?? most),
      Number.NEGATIVE_INFINITY,
    );
    return { ids: seen.map(({ id }) => id), upTo: 0, isWhole, newestMs, ...(total !== undefined && { total }) };
  };
  try {
    if (newestFirst) {
      const { seen, isLast, isOdd, total } = await askedTwice(pageAt, 1);
      return isOdd ? undefined : { ...known({ seen, isWhole: isLast, total }), ...orderOf(seen) };
    }
    const all = await wholeList(pageAt);
    return all.isWhole ? known(all) : undefined;
  } catch (failure) {
    // Other failures end the write before it is sent.
    if (failure instanceof Failure && isBlind(failure)) return undefined;
    throw failure;
  }
}

/** So many ids do not fall by chance. */
const enoughToTell = 12;

/** What a page shows of a list that begins with the newest: whether ids grow, and from when on it holds all there are. */
function orderOf(seen: readonly Seen[]): Pick<Before, 'grows' | 'sinceMs'> {
  const times = seen.map(({ record }) => madeAt(record) ?? Number.NaN);
  const isFalling = (numbers: readonly number[], falls: (above: number, below: number) => boolean): boolean =>
    numbers.every((below, at) => at === 0 || falls(numbers[at - 1] ?? 0, below));
  const ids = seen.map(({ id }) => id);
  const oldest = times.at(-1);
  return {
    grows: ids.length >= enoughToTell && isFalling(ids, (above, below) => above > below),
    ...(oldest !== undefined && isFalling(times, (above, below) => above >= below) && { sinceMs: oldest }),
  };
}

/** The read is refused, or the service fails at it, or answers with other JSON: that says nothing about the write. */
function isBlind({ kind, status = 0, answer, isStranger }: Failure): boolean {
  if (isStranger) return false;
  if (kind === 'forbidden' || status >= 500 || isGatewayTimeout(status)) return true;
  return status >= 200 && status < 300 && answer !== undefined && readBody(answer.body).form !== 'none';
}

/**
 * Tells a record, none of those that are known, that was made since: where only the newest page was read, by the service's
 * own times, or by its id where ids grow. A service might sort by something else than it says. `list`: what stands in a
 * list that begins with the newest; of another one nothing.
 */
export function newIn(before: Before | undefined, list: readonly Seen[]): (seen: Seen) => boolean {
  if (before === undefined) return () => false;
  const { isWhole, grows = false, sinceMs = Number.POSITIVE_INFINITY, elsewhere = [] } = before;
  const largest = elsewhere.reduce((most, id) => Math.max(most, id), largestOf(before));
  const last = list.findIndex(({ id }) => elsewhere.includes(id));
  const behind = new Set(last < 0 ? [] : list.slice(last + 1).map(({ id }) => id));
  return ({ id, record }) =>
    (grows && id > largest) || (!behind.has(id) && (isWhole || (madeAt(record) ?? 0) > sinceMs));
}
