import { readFile, rm, stat } from 'node:fs/promises';
import { type JournalFolder, leftToItsOwn, unreadable } from '../../batch/journal-folder.ts';
import { appendLines } from '../../disk/log/append-lines.ts';
import type { Plan } from '../rows/plan.ts';
import { parseLine } from './check.ts';
import { notesOf } from './claims.ts';
import { kinIn } from './copies.ts';
import type { RowLine } from './lines.ts';
import type { Identity } from './on-disk.ts';
import { mark } from './text.ts';

/** Rows of a journal to whose records a later run wrote. */
export type Overtaken = { readonly rows: ReadonlySet<string>; readonly bytes: number };

export async function overtakenIn(journal: string | undefined): Promise<Overtaken> {
  const notes = journal && notesOf(journal);
  const text = (notes && (await readFile(notes, 'utf8').catch(unreadable(notes)))) ?? '';
  return { rows: new Set(text.split('\n')), bytes: Buffer.byteLength(text) };
}

/** Once the journal says so itself. What was noted meanwhile stays. */
export async function forgetOvertaken(journal: string, { bytes }: Pick<Overtaken, 'bytes'>): Promise<void> {
  const found = await stat(notesOf(journal)).catch(() => undefined);
  if (found?.size === bytes) await rm(notesOf(journal), { force: true });
}

/**
 * Before the first row of a run for which twice is once: what unfinished runs have settled for its records, with whatever
 * command for their kind, counts no more. Called done, a row could hold the values of this run. `path`: of its journal.
 */
export async function overtakeOthers(
  folder: JournalFolder,
  identity: Identity,
  plan: Pick<Plan, 'read'>,
  path: string,
): Promise<void> {
  const settled: Settled[] = [];
  for (const journal of await folder.list()) {
    if (journal === path || (await kinIn(journal, identity)) === undefined) continue;
    const one = await settledIn(folder, journal);
    if (one.byKey.size > 0 || one.ofAny.length > 0) settled.push(one);
  }
  if (settled.length === 0) return;
  const rows = new Map(settled.map((one) => [one, new Set(one.ofAny)]));
  for await (const batch of plan.read()) {
    for (const key of batch.flatMap(({ keys }) => keys)) {
      for (const one of settled) for (const row of one.byKey.get(key) ?? []) rows.get(one)?.add(row);
    }
  }
  for (const [{ journal }, some] of rows) {
    if (some.size > 0) await appendLines(notesOf(journal), [...some]);
  }
}

type Settled = {
  readonly journal: string;
  readonly byKey: ReadonlyMap<string, readonly string[]>;
  /** Of which the records are not written down. */
  readonly ofAny: readonly string[];
};

/** Rows that a journal calls done or rejected, by their records. One that cannot be read is refused by its own command. */
async function settledIn(folder: JournalFolder, journal: string): Promise<Settled> {
  const keys = new Map<string, readonly string[]>();
  const rows = new Set<string>();
  let isOnce = true;
  const take = (text: Buffer): boolean => {
    const line = parseLine(text.toString('utf8'));
    if (line && !('svc_bulk' in line)) note(line, keys, rows);
    if (line && 'sent' in line && !line.sent.keys) isOnce = false;
    return line !== undefined;
  };
  await folder.read(journal, { take, mark }).catch((error) => {
    rows.clear();
    return leftToItsOwn(error);
  });
  // What was made twice would be there twice.
  if (!isOnce) rows.clear();
  const byKey = new Map<string, string[]>();
  const ofAny: string[] = [];
  for (const row of rows) {
    const own = keys.get(row) ?? [];
    if (own.length === 0) ofAny.push(row);
    for (const key of own) byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  return { journal, byKey, ofAny };
}

function note(line: RowLine, keys: Map<string, readonly string[]>, rows: Set<string>): void {
  if ('sent' in line) {
    if (line.sent.keys) keys.set(line.sent.row, line.sent.keys);
    rows.delete(line.sent.row);
  } else if ('done' in line) rows.add(line.done.row);
  else if ('rejected' in line) rows.add(line.rejected.row);
  else if ('unknown' in line) rows.delete(line.unknown.row);
  else if ('again' in line && !line.again.elsewhere) for (const row of line.again.rows) rows.delete(row);
  else if ('renamed' in line) {
    for (const { was, row, fate } of line.renamed.rows) {
      if (fate.status === 'done' || fate.status === 'rejected') rows.add(row);
      rows.delete(was);
    }
  }
}
