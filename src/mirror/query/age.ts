import type { KindStatus } from '../store/status.ts';

/** How long it is since then at least, in the largest unit that says enough. */
export function ageOf(time: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time)) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.floor(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** For people: how long ago in place of when. */
export const withoutTimes = ({ kind, rows, oldest, newest, complete }: KindStatus, now: Date) => ({
  kind,
  rows,
  oldest: oldest === null ? '' : `${ageOf(oldest, now)} ago`,
  newest: newest === null ? '' : `${ageOf(newest, now)} ago`,
  complete,
});
