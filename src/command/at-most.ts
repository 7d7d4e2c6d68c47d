import { number } from '../text/number.ts';
import { orAll, param } from './param.ts';

/** For a list that is whole in memory. */
export const limitFlag = { limit: param.integer('At most N of them', { min: 1 }) };

/** How every list that has both says that there are more. */
export const forMore = 'For more: --limit N, or --all.';

/** Of a list that is whole anyway: `--all`, which others need, changes nothing. */
export const wholeListFlags = (limit = 'At most N of them') => ({
  limit: orAll(param.integer(limit, { min: 1, conflicts: ['all'] })),
  all: param.toggle('All of them (default)'),
});

/** The same of records that come one by one. */
export function firstComing<T>(all: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY) {
  let isMore = false;
  async function* records(): AsyncGenerator<T> {
    let left = limit;
    for await (const one of all) {
      isMore = left-- === 0;
      if (isMore) return;
      yield one;
    }
  }
  return { records: records(), notes: () => (isMore ? [`Showing the first ${limit}. ${forMore}`] : []) };
}

/** The first of them, and a note where some are left out. */
export function atMost<T>(
  all: readonly T[],
  limit: number | undefined,
  more = forMore,
): { records: readonly T[]; notes: string[] } {
  const records = all.slice(0, limit);
  const isCut = records.length < all.length;
  return { records, notes: isCut ? [`Showing ${number(records.length)} of ${number(all.length)}. ${more}`] : [] };
}
