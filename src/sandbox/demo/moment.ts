export const acme = 1;
export const globex = 2;

/** The demo data's now: everything in it happened some days before, so that it never looks stale. */
export type Moment = { readonly now: number };

const dayMs = 86_400_000;

/** A time that many days and minutes before now. */
export const ago = ({ now }: Moment, days: number, minutes = 0): string =>
  new Date(Math.floor((now - days * dayMs - minutes * 60_000) / 1000) * 1000).toISOString();

/** One of some items, by a number of any size. */
export function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length];
  if (item === undefined) throw new RangeError('There is nothing to pick from.');
  return item;
}
