type Fields = Readonly<Record<string, unknown>>;

/** How many records a page has to hold, by what the service says beside it (Pagination meta); 0 where it does not say. */
export function leastOn({ last_page: last, total }: Fields, page: number, perPage: number): number {
  if (!isCount(last) || !isCount(total) || page > last) return 0;
  // A service that makes more pages than asked for makes smaller ones.
  if (last > Math.max(1, Math.ceil(total / perPage))) return page < last ? Math.ceil(total / last) : 1;
  return Math.min(perPage, Math.max(0, total - (page - 1) * perPage));
}

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
