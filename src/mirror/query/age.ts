import type { KindStatus } from '../store/status.ts';

/** How long it is since then, in the largest unit that says enough. */
export function ageOf(time: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(time)) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** For people: how long ago in place of when. */
export const withoutTimes = ({ kind, rows, oldest, newest, complete }: KindStatus, now: Date) => ({
  kind,
  rows,
  oldest: oldest === null ? '' : `${ageOf(oldest, now)} ago`,
  newest: newest === null ? '' : `${ageOf(newest, now)} ago`,
  complete,
});
