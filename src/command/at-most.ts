import { number } from '../text/number.ts';
import { param } from './param.ts';

/** For a list that is whole in memory. */
export const limitFlag = { limit: param.integer('At most N of them', { min: 1 }) };

/** The first of them, and a note where some are left out. */
export function atMost<T>(all: readonly T[], limit: number | undefined): { records: readonly T[]; notes: string[] } {
  const records = all.slice(0, limit);
  const isCut = records.length < all.length;
  return {
    records,
    notes: isCut ? [`Showing ${number(records.length)} of ${number(all.length)}. For more: leave out --limit.`] : [],
  };
}
