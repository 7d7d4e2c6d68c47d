export const acme = 1;
export const globex = 2;

/** The demo data's now: everything in it happened some days before, so that it never looks stale. */
export type Moment = { readonly now: number };

const dayMs = 86_400_000;

/** A time that many days and minutes before now. */
export const ago = ({ now }: Moment, days: number, minutes = 0): string =>
  new Date(Math.floor((now - days * dayMs - minutes * 60_000) / 1000) * 1000).toISOString();

export const pick = <T>(items: readonly T[], at: number): T => items[at % items.length] as T;
