import type { Fields } from '../../text/record.ts';
import { momentOf } from './agree.ts';

/** When a record says that it was made, in milliseconds; undefined where it does not say. */
export function madeAt({ created_at }: Fields): number | undefined {
  const at = momentOf(created_at);
  return Number.isNaN(at) ? undefined : at;
}

/** What a record's time is held against, in milliseconds of the service's clock. */
export type Sent = {
  /** When the write left; undefined where that is not known. */
  readonly at: number | undefined;
  /** The latest time of a record that was there before. */
  readonly newestBefore: number | undefined;
  /** The same of a record that svc itself had made by then: so the service's clock for records was past it. */
  readonly newestOwn: number | undefined;
};

/**
 * The clocks of one service may be apart by so much. `fromAnswers`: those of the machines that answer from those that say
 * when a record was made. `amongRecords`: the latter from each other, where two records of one run are of two machines.
 */
export const clocksApartMs = { fromAnswers: 60_000, amongRecords: 4_000 } as const;

/** `Date` and `created_at` that are further apart are of two clocks that have nothing to do with each other. */
const farthestMs = 12 * 60 * 60 * 1000;

/**
 * Whether a record was made before the write left, although the list did not show it then: a list may come from a store.
 * Further back than half a day, or where nobody knows when that was, it counts as older only if it is older than a record
 * that was there before, too. What was made well before a record of svc's own is older in any case.
 */
export function isOlder(record: Fields, { at, newestBefore, newestOwn }: Sent): boolean {
  const made = madeAt(record);
  if (made === undefined) return false;
  if (newestOwn !== undefined && made + clocksApartMs.amongRecords < newestOwn) return true;
  const isBelow = newestBefore !== undefined && made + clocksApartMs.fromAnswers < newestBefore;
  if (at === undefined) return isBelow;
  const ageMs = at - made;
  return ageMs > clocksApartMs.fromAnswers && (ageMs < farthestMs || isBelow);
}
