import { type Context, withContext } from '../context.ts';
import { counted, number } from '../text/number.ts';

export type Progress = { readonly done: number; readonly total: number; readonly resumed: number; readonly ms: number };

export const rowsInWords = (count: number): string => counted(count, 'row');

/**
 * How fast it goes, and how long it will last; nothing before the first row of this run. While it waits the seconds of
 * the wait stand in place of the rate: both have no room on 80 columns.
 */
function paceText({ done, total, resumed, ms }: Progress, waitMs?: number): string {
  const waiting = waitMs === undefined ? '' : ` · continuing in ${Math.ceil(waitMs / 1000)} s`;
  if (done <= resumed) return waiting;
  const perSecond = (done - resumed) / Math.max(ms / 1000, 0.001);
  const left = (total - done) / Math.max(perSecond, 0.001);
  if (waitMs !== undefined) return ` · ${duration(left)} left${waiting}`;
  const rate =
    perSecond >= 10 ? `${number(Math.round(perSecond))} rows/s` : `${number(Math.round(perSecond * 60))} rows/min`;
  return ` · ${rate} · ${duration(left)} left`;
}

/** `waitMs`: so long the rate limit still makes it wait. */
export const progressText = (progress: Progress, waitMs?: number): string =>
  `${number(progress.done)} of ${rowsInWords(progress.total)}${paceText(progress, waitMs)}`;

/** A text for each of 10,000 rows would cost more than writing the rows down. */
const betweenTellingsMs = 100;

export type Telling = { readonly ctx: Context; readonly onProgress: (progress: Progress) => void };

/** Progress that is told while the rate limit makes it wait, too: the pause counts in how long the rest will last. */
export function tellingProgress(ctx: Context, inWords: (progress: Progress, waitMs?: number) => string): Telling {
  let last: { readonly progress: Progress; readonly at: number } | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  const limitWait = (leftMs: number) => {
    if (!last) return undefined;
    const ms = last.progress.ms + ctx.clock.ticks() - last.at + leftMs;
    return inWords({ ...last.progress, ms }, leftMs);
  };
  return {
    ctx: withContext(ctx, { limitWait }),
    onProgress(progress) {
      const at = ctx.clock.ticks();
      last = { progress, at };
      if (at - toldAt < betweenTellingsMs && progress.done < progress.total) return;
      toldAt = at;
      ctx.progress(inWords(progress), 'work');
    },
  };
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
