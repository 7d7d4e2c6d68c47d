import { rm } from 'node:fs/promises';
import type { JournalFolder } from '../../batch/journal-folder.ts';
import type { Finished } from '../../batch/journal-prune.ts';
import type { Clock } from '../../context.ts';
import type { Held as Lock } from '../../disk/lock/lock.ts';
import type { Witness } from '../../disk/lock/witness.ts';
import { appendLines } from '../../disk/log/append-lines.ts';
import type { AppendLog } from '../../disk/log/append-log.ts';
import type { Whereabouts } from '../../disk/log/growing-file.ts';
import { Failure } from '../../errors.ts';
import type { Plan } from '../rows/plan.ts';
import { claimRows, forgetRows, noteBegun } from './claims.ts';
import type { Copy } from './copies.ts';
import { type About, type Header, heldIn, type Named, type RowLine, type RunLine } from './lines.ts';
import type { Identity } from './on-disk.ts';
import type { Present } from './reader.ts';
import type { OpenRowStatuses, RowStatuses } from './row-status-table.ts';
import { lineText } from './text.ts';

/** What all journals of a run are opened with. */
export type Opening = {
  readonly folder: JournalFolder;
  readonly clock: Pick<Clock, 'now' | 'ticks'>;
  readonly lock: Lock;
  readonly identity: Identity;
  readonly plan: Plan;
  readonly present: Present;
  /** What the clocks said when the account was asked for. */
  readonly startedAt: { readonly wallMs: number; readonly ticks: number };
};

/** An open journal. */
export type Held = {
  readonly batch: string;
  readonly opening: Opening;
  readonly path: string;
  readonly log: AppendLog;
  readonly witness: Witness | undefined;
  readonly header: Header;
  readonly run: RunLine;
  /** Whether it is of no use where this run wrote nothing of a row, or came to its end. */
  readonly vanishes: { readonly whenEmpty: boolean; readonly whenFinished: boolean };
  readonly rowStatuses: OpenRowStatuses;
  /** Of a row that goes once more: what earlier runs call it. */
  readonly again: (row: string, like?: string) => readonly Named[];
  /** Whether a row goes once more though it may be done. */
  readonly mayGo: (row: string) => boolean;
  readonly copies: readonly Copy[];
  failed: Failure | undefined;
  /** What became of rows, of which no line could be written any more since the lock was lost. */
  readonly untold: RowLine[];
};

export async function append(held: Held, said: RowLine): Promise<void> {
  const { opening, log, rowStatuses, witness } = held;
  try {
    if (held.failed) throw held.failed;
    const line = completed(said, held);
    const text = lineText(line);
    await opening.folder.onDisk(() => (mustBeOnDisk(line, rowStatuses) ? log.append(text) : log.note(text)));
    witness?.reached(log.size());
  } catch (error) {
    if (error instanceof Failure) held.failed ??= error;
    if (opening.lock.lost.aborted && 'done' in said) held.untold.push(completed(said, held));
    throw error;
  }
}

/** With what the rows are known by, and whether the clock can be trusted. */
function completed(line: RowLine, { opening, rowStatuses, again }: Held): RowLine {
  const { refs } = opening.plan;
  const named = <T extends { readonly row: string }>(about: T): T => {
    const request = refs.get(about.row);
    return request === undefined || rowStatuses.get(about.row)?.is === request ? about : { ...about, is: request };
  };
  const leaving = <T extends About>(about: T): T => {
    const names = again(about.row, heldIn(about).like);
    return names.length > 0 ? { ...named(about), again: names } : named(about);
  };
  if ('meant' in line) return { meant: { ...line.meant, rows: line.meant.rows.map(leaving) } };
  if ('drafting' in line) return { drafting: leaving(line.drafting) };
  if ('sent' in line) return { sent: leaving(line.sent) };
  if ('done' in line) return { done: named(line.done) };
  if ('rejected' in line) return { rejected: named(line.rejected) };
  if (!('finished' in line)) return line;
  const { rejects } = line.finished;
  return { finished: { ...finishedNow(opening), ...(rejects !== undefined && { rejects }) } };
}

function finishedNow({ clock, identity, startedAt }: Opening): Finished {
  const now = clock.now().getTime();
  const { wallMs, ticks } = startedAt;
  const hasJumped = Math.abs(now - wallMs - (clock.ticks() - ticks)) > jumpMs;
  return { at: new Date(now).toISOString(), ...(identity.account.isClockSure && !hasJumped && { sure: true }) };
}

/** A clock that is set by more than this is not set by its clockwork. */
const jumpMs = 60 * 60 * 1000;

/**
 * Where the lock is lost because its folder was removed, moved away or cleared, the journal is written again, with what
 * became of the rows that were on their way. Where twice is once nobody needs it.
 */
export async function keepLost({ opening, path, log, run, untold }: Held): Promise<Whereabouts> {
  if (!opening.lock.lost.aborted || run.shapes === undefined) return 'there';
  const { folder, identity, plan } = opening;
  try {
    const where = await folder.onDisk(() => log.bringBack());
    if (where !== 'back') return where;
    await appendLines(
      path,
      untold.map((line) => JSON.stringify(line)),
    );
    await claimRows(path, identity, plan);
    await noteBegun(path);
    return where;
  } catch {
    return 'gone';
  }
}

/** Never throws: what the disk did not take is told by `failure`, and looked for by the next run. */
export async function close({ opening, path, log, witness, failed }: Held, { vanishes = false } = {}): Promise<void> {
  await log.close().catch(() => {});
  // After a line that was not written, what was only meant to go may still be said to be so.
  await witness?.close({ stays: failed !== undefined }).catch(() => {});
  // Whoever took over goes on in it.
  if (!vanishes || opening.lock.lost.aborted) return;
  await opening.folder.onDisk(() => rm(path, { force: true })).catch(() => {});
  await forgetRows(path).catch(() => {});
}

/**
 * Without `meant` or `sent` on disk a row could go out twice. A row that is meant there may have left, whether its `sent`
 * is on disk or not. Of the others a power cut may take the last ones: then the next run looks for the rows.
 */
function mustBeOnDisk(line: RowLine, rowStatuses: RowStatuses): boolean {
  // What may be done twice is done again after a power cut, in the order of the file.
  if ('sent' in line) return line.sent.keys === undefined && rowStatuses.get(line.sent.row)?.status !== 'meant';
  if ('done' in line) return line.done.secret !== undefined || line.done.step !== undefined;
  return !('back' in line || 'rejected' in line || 'unknown' in line);
}
