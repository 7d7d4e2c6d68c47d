import { someOf } from '../text/each.ts';
import type { Header, Line, RowStatus, RunLine } from './journal-lines.ts';
import type { RowStatuses } from './row-status-table.ts';

const markLength = 12;

/** The first line: how many bytes are surely on disk. */
export const mark = {
  text: (end: number) => `{"svc_bulk_bytes":"${String(end).padStart(markLength, '0')}"}\n`,
  read: (first: string) => {
    const digits = /^\{"svc_bulk_bytes":"(\d{12})"\}\n$/u.exec(first)?.[1];
    return digits === undefined ? undefined : Number(digits);
  },
};

export const lineText = (line: Line): string => `${JSON.stringify(line)}\n`;

/** A journal that is on disk as a whole. */
export function journalText(lines: readonly Line[]): string {
  const text = lines.map(lineText).join('');
  return mark.text(mark.text(0).length + Buffer.byteLength(text)) + text;
}

type Told = {
  readonly header: Header;
  readonly run: RunLine;
  readonly rowStatuses: Iterable<readonly [row: string, rowStatus: RowStatus]>;
  readonly others?: readonly Line[];
};

/** What a journal says of rows, as short as it can be said and without secrets. */
export function shortLines({ header, run, rowStatuses, others = [] }: Told): Line[] {
  const cost = { requests: 0, ms: 0 };
  const lines = [...rowStatuses].flatMap(([row, rowStatus]): Line[] => {
    const { status, line } = rowStatus;
    const about = { row, line, ...(rowStatus.is !== undefined && { is: rowStatus.is }) };
    if (status === 'done')
      return [
        {
          done: {
            ...about,
            id: rowStatus.id,
            ...partOf(rowStatus),
            ...(rowStatus.of && { of: rowStatus.of }),
            ...cost,
          },
        },
      ];
    if (status === 'rejected') return [{ rejected: { ...about, error: rowStatus.error, ...cost } }];
    const keys = 'keys' in rowStatus && rowStatus.keys ? { keys: rowStatus.keys } : {};
    const sent: Line = { sent: { ...about, before: rowStatus.before, ...keys } };
    return status !== 'unknown' ? [sent] : [sent, { unknown: { row, line, error: rowStatus.error, ...cost } }];
  });
  return [header, { run }, ...others, ...lines];
}

type Part = { readonly error?: string; readonly rest?: true; readonly step?: number; readonly drafted?: number };

/** Of a row that is done in part: what was not; of one that waits for a person, its draft. */
export const partOf = ({ error, rest, step, drafted }: Part) => ({
  ...(step !== undefined && { step }),
  ...(drafted !== undefined && { drafted }),
  ...(error !== undefined && { error }),
  ...(rest === true && { rest }),
});

/** Whether no row is on its way. */
export const isSettled = (rowStatuses: Pick<RowStatuses, 'standing'>): boolean =>
  !someOf(rowStatuses.standing('sent', 'meant'), () => true);
