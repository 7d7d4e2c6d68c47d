import type { Seen, View } from './lookups.ts';
import { askedTwice } from './sweeps.ts';

/** What was seen of a list. `isWhole`: nothing that could be ours was left out. `total`: as the last page counts. */
export type Seeing = { readonly seen: readonly Seen[]; readonly isWhole: boolean; readonly total?: number };

export type PageAt = (number: number) => Promise<View>;

const pagesAtMost = 50;

/** Whether records have left the list since the page before: then others stand on that one now, which was read already. */
function leaving(): (view: View) => boolean {
  let counted = 0;
  return ({ total = counted }) => {
    const before = counted;
    counted = total;
    return total < before;
  };
}

/**
 * Of a list that is sorted newest first: the pages down to one with a record that is known. Two of one second may stand
 * there either way round, so what is new need not be above all that is known.
 */
export async function newestUntil(page: PageAt, isKnown: (id: number) => boolean): Promise<Seeing> {
  const seen: Seen[] = [];
  let isWhole = true;
  const hasLost = leaving();
  for (let number = 1; number <= pagesAtMost; number++) {
    const view = await askedTwice(page, number);
    isWhole &&= !hasLost(view) && !view.isOdd;
    seen.push(...view.seen);
    const isOver = view.isLast || view.seen.length === 0 || view.seen.some(({ id }) => isKnown(id));
    if (isOver) return { seen, isWhole, total: view.total };
  }
  return { seen, isWhole: false };
}

const sweepsAtMost = 3;

/**
 * A list in whatever order, all of it. What changes while it is read may move a record past the reader: so of several
 * pages it is read again until nothing is missing, or nothing more is found.
 */
export async function wholeList(page: PageAt): Promise<Seeing> {
  const all = new Map<number, Seen>();
  for (let sweep = 1; sweep <= sweepsAtMost; sweep++) {
    const known = all.size;
    const { pages, total, isOdd } = await sweepInto(all, page);
    if (pages > pagesAtMost) break;
    if (isOdd) continue;
    const isComplete = pages === 1 || (total !== undefined && all.size >= total) || (sweep > 1 && all.size === known);
    if (isComplete) return { seen: [...all.values()], isWhole: true };
  }
  return { seen: [...all.values()], isWhole: false };
}

async function sweepInto(all: Map<number, Seen>, page: PageAt) {
  let isOdd = false;
  const hasLost = leaving();
  for (let number = 1; ; number++) {
    const view = await askedTwice(page, number);
    const { seen, isLast, total } = view;
    isOdd = hasLost(view) || isOdd || view.isOdd === true;
    for (const one of seen) all.set(one.id, one);
    if (isLast || seen.length === 0 || number > pagesAtMost) return { pages: number, total, isOdd };
  }
}
