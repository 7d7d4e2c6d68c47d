import { column, numberColumn, textColumn } from '../../text/column.ts';
import { someOf } from '../../text/each.ts';
import { type RowTable, rowTable } from '../rows/row-table.ts';
import type { RowStatus } from './lines.ts';
import { partsOf, type RowStatuses } from './row-status-table.ts';

/** What became of a row of the file, over all runs. */
export type Ended =
  | Extract<RowStatus, { status: 'done' | 'rejected' }>
  | { readonly status: 'unknown'; readonly line: number; readonly error: string }
  | { readonly status: 'unsent'; readonly line: number; readonly error?: string };

/** What became of the rows of the file over all runs, by position. About 9 bytes for a row that is done. */
export type EndedRows = RowTable<Ended>;

type Status = Ended['status'];

/** As people are told it: where what was to follow may or may not be done, nobody knows of the whole row whether it is. */
export const toldStatus = (ended: Ended): Status => (isInDoubt(ended) ? 'unknown' : ended.status);

/** The record is there, and what was to follow may be. No run sends it again. */
export const isInDoubt = (row: Ended | RowStatus): boolean => row.status === 'done' && row.doubt === true;

/** How a row has ended that an earlier run settled, at its line in the file as it is now; else undefined. */
export const endedEarlier = (row: RowStatus | undefined, line: number): Ended | undefined =>
  row?.status === 'done' || row?.status === 'rejected' ? { ...row, line } : undefined;

/** It left, and nobody knows what came of it. */
export const isUnsettled = (row: RowStatus | undefined): row is Extract<RowStatus, { status: 'sent' | 'unknown' }> =>
  row?.status === 'sent' || row?.status === 'unknown';

/** Whether nobody knows of some row whether it is done. */
export const isAnyUnsettled = (rowStatuses: Pick<RowStatuses, 'standing'>): boolean =>
  someOf(rowStatuses.standing('sent', 'unknown'), () => true);

/** Sent again it might be there twice. */
export const isUnsure = (row: RowStatus): boolean => isUnsettled(row) || isInDoubt(row);

const statuses: readonly Status[] = ['done', 'rejected', 'unknown', 'unsent'];

export function endedRows(): EndedRows {
  const statusAt = column(8);
  const [lines, ids, errors] = [numberColumn(), numberColumn(), textColumn()];
  const rare = new Map<number, ReturnType<typeof partsOf>>();
  const get = (index: number): Ended | undefined => {
    const status = statuses[statusAt.get(index) - 1];
    if (status === undefined) return undefined;
    const line = lines.get(index) ?? 0;
    const error = errors.get(index);
    const told = error === undefined ? {} : { error };
    if (status === 'rejected' || status === 'unknown') return { status, line, error: error ?? '' };
    if (status === 'unsent') return { status, line, ...told };
    return { status, line, id: ids.get(index) ?? null, ...rare.get(index), ...told };
  };
  return rowTable(get, (index, ended) => {
    statusAt.set(index, statuses.indexOf(ended.status) + 1);
    lines.set(index, ended.line);
    ids.set(index, ended.status === 'done' ? (ended.id ?? undefined) : undefined);
    errors.set(index, ended.error);
    const few = ended.status === 'done' ? partsOf(ended) : undefined;
    if (few) rare.set(index, few);
    else if (rare.size > 0) rare.delete(index);
  });
}
