import { parseLine } from './check.ts';
import { type Header, heldIn, type Line, partOf, type RowStatus, type RunLine } from './lines.ts';

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
export const journalText = (lines: readonly Line[]): string => marked(lines.map(lineText).join(''));

export const marked = (text: string): string => mark.text(mark.text(0).length + Buffer.byteLength(text)) + text;

/** A line of a journal, which says the same but for secrets; nothing of the mark. */
export function withoutSecrets(text: string): string {
  if (mark.read(text) !== undefined) return '';
  const line = parseLine(text);
  if (line && 'done' in line && line.done.secret !== undefined)
    return lineText({ done: { ...line.done, secret: undefined } });
  if (!line || !('renamed' in line)) return text;
  const rows = line.renamed.rows.map((one) => ({ ...one, fate: { ...one.fate, secret: undefined } }));
  return lineText({ renamed: { rows } });
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
    if (status === 'done') {
      const { id, of, keys, at } = rowStatus;
      return [{ done: { ...about, id, ...partOf(rowStatus), ...(of && { of }), ...heldIn({ keys, at }), ...cost } }];
    }
    if (status === 'drafting') return [{ drafting: { ...about, batch: rowStatus.batch, ...heldIn(rowStatus) } }];
    if (status === 'rejected') return [{ rejected: { ...about, error: rowStatus.error, ...cost } }];
    const sent: Line = { sent: { ...about, before: rowStatus.before, ...heldIn(rowStatus) } };
    return status !== 'unknown' ? [sent] : [sent, { unknown: { row, line, error: rowStatus.error, ...cost } }];
  });
  return [header, { run }, ...others, ...lines];
}
