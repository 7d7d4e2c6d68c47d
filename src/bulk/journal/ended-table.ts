import { column, numberColumn, textColumn } from '../../text/column.ts';
import type { RowStatus } from './lines.ts';
import { partsOf } from './row-status-table.ts';

/** What became of a row of the file, over all runs. */
export type Ended =
  | Exclude<RowStatus, { status: 'sent' | 'meant' }>
  | { readonly status: 'unsent'; readonly line: number; readonly error?: string };

/** What became of the rows of the file over all runs, by position. About 9 bytes for a row that is done. */
export type EndedRows = Iterable<readonly [index: number, ended: Ended]> & {
  readonly size: number;
  has(index: number): boolean;
  get(index: number): Ended | undefined;
  values(): Iterable<Ended>;
  set(index: number, ended: Ended): void;
};

type Status = Ended['status'];

/** As people are told it: where what was to follow may or may not be done, nobody knows of the whole row whether it is. */
export const toldStatus = (ended: Ended): Status => (isInDoubt(ended) ? 'unknown' : ended.status);

/** The record is there, and what was to follow may be. No run sends it again. */
export const isInDoubt = (row: Ended | RowStatus): boolean => row.status === 'done' && row.doubt === true;

/** It left, and nobody knows what came of it. */
export const isUnsettled = (row: RowStatus | undefined): row is Extract<RowStatus, { status: 'sent' | 'unknown' }> =>
  row?.status === 'sent' || row?.status === 'unknown';

/** Sent again it might be there twice. */
export const isUnsure = (row: RowStatus): boolean => isUnsettled(row) || isInDoubt(row);

const statuses: readonly Status[] = ['done', 'rejected', 'unknown', 'unsent'];

export function endedRows(): EndedRows {
  const statusAt = column(8);
  const [lines, ids, errors] = [numberColumn(), numberColumn(), textColumn()];
  const rare = new Map<number, ReturnType<typeof partsOf>>();
  let [size, end] = [0, 0];
  const get = (index: number): Ended | undefined => {
    const status = statuses[statusAt.get(index) - 1];
    if (status === undefined) return undefined;
    const line = lines.get(index) ?? 0;
    const error = errors.get(index);
    const told = error === undefined ? {} : { error };
    if (status === 'rejected') return { status, line, error: error ?? '' };
    if (status === 'unknown') return { status, line, error: error ?? '', before: null };
    if (status === 'unsent') return { status, line, ...told };
    return { status, line, id: ids.get(index) ?? null, ...rare.get(index), ...told };
  };
  function* pairs() {
    for (let index = 0; index < end; index++) {
      const ended = get(index);
      if (ended) yield [index, ended] as const;
    }
  }
  return {
    get size() {
      return size;
    },
    has: (index) => statusAt.get(index) !== 0,
    get,
    *values() {
      for (const [, ended] of pairs()) yield ended;
    },
    [Symbol.iterator]: pairs,
    set(index, ended) {
      if (statusAt.get(index) === 0) size++;
      end = Math.max(end, index + 1);
      statusAt.set(index, statuses.indexOf(ended.status) + 1);
      lines.set(index, ended.line);
      ids.set(index, ended.status === 'done' ? (ended.id ?? undefined) : undefined);
      errors.set(index, ended.error);
      const few = ended.status === 'done' ? partsOf(ended) : undefined;
      if (few) rare.set(index, few);
      else if (rare.size > 0) rare.delete(index);
    },
  };
}
