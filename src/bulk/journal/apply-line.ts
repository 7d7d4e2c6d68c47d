import { forgetNamed } from './going.ts';
import {
  type About,
  heldIn,
  isOver,
  likeIn,
  partOf,
  type RowLine,
  type RowStatus,
  type Said,
  type Unsure,
} from './lines.ts';

/** Where what became of rows is kept, by their names. */
type RowStatusStore = {
  get(row: string): RowStatus | undefined;
  set(row: string, rowStatus: RowStatus): void;
  delete(row: string): void;
};

/** What a line says of its row. */
export function applyLine(rowStatuses: RowStatusStore, line: RowLine): void {
  const set = ({ row, line: at, is = rowStatuses.get(row)?.is }: About, rowStatus: Said) =>
    rowStatuses.set(row, { ...rowStatus, line: at, ...(is !== undefined && { is }) });
  if ('meant' in line) {
    const { rows, before, there, left, made } = line.meant;
    for (const about of rows) {
      const known = rowStatuses.get(about.row);
      const unsure = unsureIn(known);
      const held = heldIn({ there, left, made, ...(unsure && { unsure, like: likeIn(known) }) });
      set(about, { status: 'meant', before, ...held });
    }
  } else if ('drafting' in line) {
    const { row, batch, unsure = unsureIn(rowStatuses.get(row)) } = line.drafting;
    set(line.drafting, { status: 'drafting', batch, ...heldIn({ ...line.drafting, unsure }) });
  } else if ('sent' in line) {
    const { row, before, unsure = unsureIn(rowStatuses.get(row)) } = line.sent;
    set(line.sent, { status: 'sent', before, ...heldIn({ ...line.sent, unsure }) });
  } else if ('back' in line) {
    // What is known of it stays: a row that became a draft never left, and still is over.
    if (!isOver(rowStatuses.get(line.back.row))) takeBack(rowStatuses, line.back.row);
  } else if ('done' in line) {
    const { row, id, secret, of, doubt, rest, drafted, keys, at } = line.done;
    const known = rowStatuses.get(row);
    const like = doubt || rest || drafted !== undefined ? likeIn(known) : undefined;
    // Of a draft that nobody sends the attempt before it is all there was.
    const unsure = drafted !== undefined && id === null ? unsureIn(known) : undefined;
    const more = { ...(secret !== undefined && { secret }), ...(of && { of }), ...heldIn({ like, keys, at, unsure }) };
    set(line.done, { status: 'done', id, ...partOf(line.done), ...more });
  } else if ('rejected' in line) {
    const { row, error } = line.rejected;
    const known = rowStatuses.get(row);
    const unsure = unsureIn(known);
    // Builds between releases wrote that of a row that may be done by an earlier attempt.
    if (known && unsure !== undefined) set(line.rejected, openAs(known, { error: thenSaid(unsure, error), unsure }));
    else set(line.rejected, { status: 'rejected', error });
  } else if ('unknown' in line) {
    const { row, error } = line.unknown;
    const known = rowStatuses.get(row);
    const before = known && 'before' in known && known.status !== 'meant' ? known.before : null;
    const held = known && known.status !== 'done' ? heldIn(known) : {};
    set(line.unknown, { status: 'unknown', error, before, ...held });
  } else if ('again' in line) for (const row of line.again.elsewhere ? [] : line.again.rows) rowStatuses.delete(row);
  else if ('renamed' in line) {
    for (const { was, fate, settings } of line.renamed.rows)
      if (settings === undefined) forgetNamed(rowStatuses, ['', was, fate.is]);
    for (const { row, fate } of line.renamed.rows) rowStatuses.set(row, fate);
  }
}

/** What is said of a row that may be done, by the attempt before the one that is under way. */
export function unsureIn(rowStatus: RowStatus | undefined): string | undefined {
  if (rowStatus?.status === 'done') return undefined;
  if (rowStatus && 'unsure' in rowStatus && rowStatus.unsure !== undefined) return rowStatus.unsure;
  return rowStatus?.status === 'unknown' ? rowStatus.error : undefined;
}

/** Of a row that may be done by an earlier attempt, and of which a later one was refused. */
export const thenSaid = (unsure: string, error: string): string => `${unsure.replace(/\.$/u, '')}; then: ${error}`;

/** Its attempt was none. By an earlier one it may be done all the same. */
export function takeBack(rowStatuses: RowStatusStore, row: string): void {
  const known = rowStatuses.get(row);
  const unsure = unsureIn(known);
  if (!known || unsure === undefined) rowStatuses.delete(row);
  else if (known.status !== 'unknown') rowStatuses.set(row, { ...known, ...openAs(known, { error: unsure }) });
}

function openAs(known: RowStatus, said: { readonly error: string } & Unsure): Said {
  const before = 'before' in known ? known.before : null;
  return { status: 'unknown', before, ...heldIn({ ...known, unsure: undefined }), ...said };
}
