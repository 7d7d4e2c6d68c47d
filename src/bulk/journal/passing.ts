import { likeIn, type RowLine } from './lines.ts';
import type { RowStatuses } from './row-status-table.ts';

/** What rows in doubt are like that hold up no more, by the last run that sent others all the same. */
export type PassedOver = ReadonlyMap<string, number>;

/**
 * A row in doubt is passed over from when one like it has left, with --retry-unknown: a run that is refused, or stopped
 * before, has passed over nothing.
 */
export function passing(rowStatuses: Pick<RowStatuses, 'get'>) {
  const wanted = new Set<string>();
  const gone = new Map<string, { readonly like: string; readonly run: number }>();
  return {
    /** What a run may pass over. */
    wants(likes: unknown): void {
      for (const one of Array.isArray(likes) ? likes : []) wanted.add(one);
    },
    /** Behind each line, once what it says is taken down. */
    take(line: RowLine, run: number): void {
      const row = leftIn(line);
      const like = row === undefined ? undefined : likeIn(rowStatuses.get(row));
      if (row !== undefined && like !== undefined && wanted.has(like)) gone.set(row, { like, run });
      const back = 'back' in line ? line.back.row : 'rejected' in line ? line.rejected.row : undefined;
      if (back !== undefined && gone.get(back)?.run === run) gone.delete(back);
    },
    passedOver(): PassedOver {
      const last = new Map<string, number>();
      for (const { like, run } of gone.values()) last.set(like, Math.max(run, last.get(like) ?? 0));
      return last;
    },
  };
}

/** One that may be done itself goes beside none but that. */
function leftIn(line: RowLine): string | undefined {
  if ('sent' in line) return line.sent.unsure === undefined ? line.sent.row : undefined;
  return 'done' in line && line.done.drafted !== undefined ? line.done.row : undefined;
}
