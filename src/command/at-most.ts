import { Failure } from '../errors.ts';
import { number } from '../text/number.ts';
import type { Param } from './command.ts';
import { param } from './param.ts';

/** The flag, with a hint of one's own for a text that it refuses; undefined leaves the refusal as it is. */
export const hinted = <T>(flag: Param<T>, hintFor: (text: string) => string | undefined): Param<T> => ({
  ...flag,
  parse(texts, ...rest) {
    try {
      return flag.parse(texts, ...rest);
    } catch (error) {
      const hint = hintFor(texts.at(-1) ?? '');
      if (!(error instanceof Failure) || hint === undefined) throw error;
      throw new Failure(error.kind, error.message, { hint });
    }
  },
});

/** Of a number of records beside which there is --all: `--limit all` is told so. */
export const orAll = (limit: Param<number | undefined>): Param<number | undefined> =>
  hinted(limit, () => 'For all of them: --all');

/** For a list that is whole in memory. */
export const limitFlag = { limit: param.integer('At most N of them', { min: 1 }) };

/** How every list that has both says that there are more. */
export const forMore = 'For more: --limit N, or --all.';

/** `--limit N` beside `--all`. */
export const limitOrAllFlags = (limit: string, all: string) => ({
  limit: orAll(param.integer(limit, { min: 1, conflicts: ['all'] })),
  all: param.toggle(all),
});

/** Of a list that is whole anyway: `--all`, which others need, changes nothing. */
export const wholeListFlags = (limit = 'At most N of them') => limitOrAllFlags(limit, 'All of them (default)');

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
