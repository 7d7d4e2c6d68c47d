import { type About, heldIn, isOver, likeIn, type Named, type RowLine, type RowStatus, rowsOf } from './lines.ts';
import type { OpenRowStatuses } from './row-status-table.ts';

/** What was known of a row before it went once more, by which run, and which one had sent it. */
export type Before = { readonly rowStatus: RowStatus; readonly run: number; readonly sent: number };

/** `again`: what earlier runs call the row. `run`: the one that it goes with. */
export type Going = { readonly again: readonly Named[]; readonly run: number; readonly before: Before | undefined };

/**
 * Rows that go once more.
 *
 * What earlier runs say of a row that goes once more counts until it has gone, and again where it comes back or the service
 * refuses it: a run that is stopped frees no row that it has not sent. `onGone`: what does not count any more.
 */
export function goingRows(rowStatuses: OpenRowStatuses, onGone: (row: string, going: Going) => void) {
  const going = new Map<string, Going>();
  const hasGone = (row: string) => {
    const gone = going.get(row);
    if (!gone) return;
    going.delete(row);
    onGone(row, gone);
  };
  const putsBack = (row: string) => {
    const before = going.get(row)?.before;
    going.delete(row);
    if (before) putBack(rowStatuses, row, before);
  };
  /** What may be done by an earlier attempt is told of here from now on: of one doubt there are never two. */
  const comesBack = (row: string) => (rowStatuses.get(row)?.status === 'unknown' ? hasGone(row) : putsBack(row));
  /** What was sent before stays sent. */
  const isRejected = (row: string) => {
    if (going.get(row)?.before?.rowStatus.status === 'done') putsBack(row);
    else going.delete(row);
  };
  return {
    /** To be told of each line before what it says is taken down, and behind that. `run`: the one that wrote it. */
    leaves(line: RowLine, run: number) {
      for (const { row, again = [] } of leavingIn(line)) {
        const known = going.get(row);
        // Of the row itself more is known than of one that is only meant to go. A draft that a person rejected had not gone.
        if (known?.run === run && again.length > 0) going.set(row, { ...known, again });
        else if (known) going.set(row, { ...known, again: [...known.again, ...again], run });
        if (known) continue;
        const before = standingAs(rowStatuses, row);
        if (before || again.length > 0) going.set(row, { again, run, before });
      }
    },
    ends(line: RowLine) {
      if ('back' in line) return comesBack(line.back.row);
      if ('rejected' in line) return isRejected(line.rejected.row);
      if ('done' in line && isDraft(rowStatuses.get(line.done.row))) return undefined;
      for (const row of 'done' in line || 'unknown' in line ? rowsOf(line) : []) hasGone(row);
    },
    /** The journal has another name for it from now on. */
    renames(was: string, row: string) {
      const known = going.get(was);
      if (!known || going.has(row)) return;
      going.delete(was);
      going.set(row, known);
    },
    /** The row has not gone: it is what it was before. */
    comesBack,
    /** The run is over: what it has left on its way has gone, or may have. */
    over() {
      for (const row of [...going.keys()]) if (!isDraft(rowStatuses.get(row))) hasGone(row);
    },
    /** Those of which the journal does not tell whether they have gone: drafts are made of them, which a person may reject. */
    left: () => going,
  };
}

/** Or is about to become one. */
const isDraft = (rowStatus: RowStatus | undefined): boolean =>
  rowStatus?.status === 'drafting' || (rowStatus?.status === 'done' && rowStatus.drafted !== undefined);

/** Takes out what is said by a name that counts no more. */
export function forgetNamed(rowStatuses: Pick<OpenRowStatuses, 'get' | 'delete'>, [, row, is]: Named): void {
  if (is === undefined || rowStatuses.get(row)?.is === is) rowStatuses.delete(row);
}

/**
 * What was sent for a row before it went as another request stays sent, under a name that no row of a file has: another
 * form of the file may ask for it. Where twice is once, what went last stands alone.
 */
export function keepFormer(rowStatuses: OpenRowStatuses, row: string, before: Before | undefined): void {
  const { status, is } = before?.rowStatus ?? {};
  if (!before || status !== 'done' || is === undefined || rowStatuses.get(row)?.is === is) return;
  putBack(rowStatuses, formerName(row, is), before);
}

/**
 * A row in doubt that goes as another request, which is not like it, stays in doubt as what it was: another form of the file
 * may ask for that. `leaves` and `ends`: to be told of each line before what it says is taken down, and behind that.
 */
export function otherDoubts(rowStatuses: OpenRowStatuses) {
  const kept = new Map<string, string>();
  const nameOf = (row: string, is: string | undefined) => `${row}${formerly}${is}`;
  const comesBack = (row: string) => {
    const name = kept.get(row) ?? '';
    const before = knownAs(rowStatuses, name);
    if (before) putBack(rowStatuses, row, before);
    rowStatuses.delete(name);
    kept.delete(row);
  };
  return {
    leaves(line: RowLine): void {
      if ('run' in line) kept.clear();
      for (const about of leavingIn(line)) {
        const { row, is } = about;
        const before = knownAs(rowStatuses, row);
        if (!before) continue;
        const known = before.rowStatus;
        if (known.status !== 'unknown' || known.is === undefined || is === undefined || is === known.is) continue;
        if (likeIn(known) === heldIn(about).like) continue;
        const name = nameOf(row, known.is);
        putBack(rowStatuses, name, before);
        kept.set(row, name);
      }
    },
    ends(line: RowLine): void {
      if ('back' in line) comesBack(line.back.row);
      for (const row of 'unknown' in line || 'done' in line ? rowsOf(line) : []) kept.delete(row);
      const done = 'done' in line ? nameOf(line.done.row, rowStatuses.get(line.done.row)?.is) : '';
      if (rowStatuses.get(done)?.status === 'unknown') rowStatuses.delete(done);
    },
  };
}

const formerly = ' as ';

export const formerName = (row: string, is: string): string => `${row}${formerly}${is}`;

/** Whether it is none of a row, but of what a row was sent as before. */
export const isFormerName = (name: string): boolean => name.includes(formerly);

/** By which runs the rows of a line were sent, as it is read: to be told of it before what it says is taken down, and behind that. */
export function sendings(rowStatuses: OpenRowStatuses) {
  const before = new Map<string, number>();
  return {
    leaves(line: RowLine): void {
      before.clear();
      for (const row of rowsOf(line)) before.set(row, rowStatuses.sentBy(row));
    },
    ends(line: RowLine, run: number): void {
      const hasLeft = 'meant' in line || 'drafting' in line || 'sent' in line;
      // Builds between releases did not write down which run had sent what was renamed.
      if ('renamed' in line) for (const { row, sent = run } of line.renamed.rows) rowStatuses.setRun(row, run, sent);
      else for (const row of rowsOf(line)) rowStatuses.setRun(row, run, hasLeft ? run : (before.get(row) ?? 0));
    },
  };
}

export function standingAs(rowStatuses: OpenRowStatuses, row: string): Before | undefined {
  const known = knownAs(rowStatuses, row);
  return isOver(known?.rowStatus) ? known : undefined;
}

function knownAs(rowStatuses: OpenRowStatuses, row: string): Before | undefined {
  const rowStatus = rowStatuses.get(row);
  return rowStatus && { rowStatus, run: rowStatuses.runOf(row), sent: rowStatuses.sentBy(row) };
}

export function putBack(rowStatuses: OpenRowStatuses, row: string, { rowStatus, run, sent }: Before): void {
  rowStatuses.set(row, rowStatus);
  rowStatuses.setRun(row, run, sent);
}

/** The rows that a line says to be on their way. */
function leavingIn(line: RowLine): readonly About[] {
  if ('meant' in line) return line.meant.rows;
  if ('drafting' in line) return [line.drafting];
  return 'sent' in line ? [line.sent] : [];
}
