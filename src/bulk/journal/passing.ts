import { likeIn, type RowLine } from './lines.ts';
import type { RowStatuses } from './row-status-table.ts';

/** Rows that left all the same, or became drafts: what they are like, and by which run. Earlier rows in doubt like them hold up no more. */
export type PassedOver = ReadonlyMap<string, { readonly like: string; readonly run: number }>;

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
      const rowStatus = row === undefined ? undefined : rowStatuses.get(row);
      const like = rowStatus && 'unsure' in rowStatus && rowStatus.unsure ? undefined : likeIn(rowStatus);
      if (row !== undefined && like !== undefined && wanted.has(like)) gone.set(row, { like, run });
      const back = 'back' in line ? line.back.row : 'rejected' in line ? line.rejected.row : undefined;
      if (back !== undefined && gone.get(back)?.run === run) gone.delete(back);
    },
    passedOver: (): PassedOver => gone,
  };
}

/** One that may be done itself goes beside none but that: what is said of its row tells. */
function leftIn(line: RowLine): string | undefined {
  if ('sent' in line) return line.sent.row;
  return 'done' in line && line.done.drafted !== undefined ? line.done.row : undefined;
}
