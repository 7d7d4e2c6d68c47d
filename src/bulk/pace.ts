import { counted, number } from '../text/number.ts';
import type { Progress } from './course.ts';

export const rowsInWords = (count: number): string => counted(count, 'row');

/** How fast it goes, and how long it will last; nothing before the first row of this run. */
function paceText({ done, total, resumed, ms }: Progress): string {
  if (done <= resumed) return '';
  const perSecond = (done - resumed) / Math.max(ms / 1000, 0.001);
  const left = (total - done) / Math.max(perSecond, 0.001);
  const rate =
    perSecond >= 10 ? `${number(Math.round(perSecond))} rows/s` : `${number(Math.round(perSecond * 60))} rows/min`;
  return ` · ${rate} · ${duration(left)} left`;
}

export const progressText = (progress: Progress): string =>
  `${number(progress.done)} of ${rowsInWords(progress.total)}${paceText(progress)}`;

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
