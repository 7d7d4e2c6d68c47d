import type { Item } from './plan.ts';

type Slugged = Pick<Item, 'id' | 'title' | 'slug'>;

/** Nobody has so many entries of one title; a larger number is no count of them. */
const largestCount = 50;

/**
 * Whether an entry's slug shows that the portal had its title already, in an entry that the list leaves out: slugs are
 * unique in the portal, and the service makes this one's so by a number (`release-1-2-0-2`).
 */
export function hidesAnother(entry: Slugged, items: readonly Slugged[]): boolean {
  const shown = new Set(items.map(({ slug }) => slug));
  return slugsBefore(entry).some((slug) => !shown.has(slug));
}

/** The slugs that must have been taken before this one was; none where it is its title's own, or of another kind. */
function slugsBefore({ id, title, slug }: Slugged): readonly string[] {
  const base = slugsOf(title).find((one) => slug?.startsWith(`${one}-`));
  const number = base === undefined ? '' : slug.slice(base.length + 1);
  const count = Number(number);
  if (base === undefined || !/^[1-9]\d*$/u.test(number) || count === id || count > largestCount) return [];
  return [base, ...Array.from({ length: Math.max(0, count - 2) }, (_, at) => `${base}-${at + 2}`)];
}

/** A title as services write it into an address: a point is a dash to some, and nothing to others. */
function slugsOf(title: string): readonly string[] {
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const dashed = plain.replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  const joined = plain.replaceAll(/[^\p{L}\p{N}\s_-]+/gu, '').replaceAll(/[\s_-]+/gu, '-');
  return [dashed, joined].map((slug) => slug.replaceAll(/^-|-$/gu, '')).filter((slug) => slug !== '');
}
