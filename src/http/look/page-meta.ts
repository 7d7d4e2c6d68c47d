import type { Fields } from '../../text/record.ts';

/** How many records a page has to hold, by what the service says beside it (Pagination meta); 0 where it does not say. */
export function leastOn({ last_page: last, total }: Fields, page: number, perPage: number): number {
  if (!isCount(last) || !isCount(total) || page > last) return 0;
  // A service that makes more pages than asked for makes smaller ones.
  if (last > Math.max(1, Math.ceil(total / perPage))) return page < last ? Math.ceil(total / last) : 1;
  return Math.min(perPage, Math.max(0, total - (page - 1) * perPage));
}

/**
 * Whether a page does not say how many records there are in all, as every page of the service does, or says what its own
 * records contradict: something else has answered, or has cut it. So it shows neither that nothing is there nor that this is all.
 */
export const isUncounted = ({ last_page: last, total }: Fields, shown: number): boolean =>
  !isCount(total) || total < shown || (!isCount(last) && total > shown) || (total === 0 && Number(last) > 1);

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
