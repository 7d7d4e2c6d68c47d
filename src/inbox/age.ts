import { ageOf } from '../mirror/query/age.ts';

/** How long ago, in words that are true for as long as they stand: seconds would have to be drawn one after the other. */
export const ageWords = (time: string, now: number): string =>
  now - Date.parse(time) < 60_000 ? '<1 min' : ageOf(time, new Date(now));
