type PageQuery = { readonly page?: number; readonly per_page?: number };

const perPageDefault = 50;

/** One page of rows that are kept oldest first, newest first; and the meta beside it (Pagination meta). */
export function pageNewestFirst<T>(oldestFirst: readonly T[], query: PageQuery) {
  const { first, last, meta } = bounds(oldestFirst.length, query);
  const total = oldestFirst.length;
  return { rows: oldestFirst.slice(total - last, total - first).reverse(), meta };
}

/** One page of rows in the order that they are in. */
export function pageInOrder<T>(all: readonly T[], query: PageQuery) {
  const { first, last, meta } = bounds(all.length, query);
  return { rows: all.slice(first, last), meta };
}

function bounds(total: number, { page = 1, per_page = perPageDefault }: PageQuery) {
  const first = Math.min(total, (page - 1) * per_page);
  return {
    first,
    last: Math.min(total, first + per_page),
    // An empty list has one page, the empty one.
    meta: { current_page: page, last_page: Math.max(1, Math.ceil(total / per_page)), total },
  };
}
