import { isCode, ontoNewFile, removeDrafts } from '../../disk/atomic-file.ts';
import { entryAt, renameIfThere } from '../../disk/file-head.ts';
import { removeFile } from '../../disk/folder.ts';
import { sizeOf } from '../../disk/private-data.ts';
import { isJournalOf } from './journal-stamp.ts';

// Each engine knows its journal by another name, so that no program takes the one of the engine without locks for its own.

type Ending = '-journal' | '.undo';

/**
 * What another process left half done is undone by whoever opens the file for writing next, under the lock. It may not be dead:
 * one that stands still between its look at the lock and its write does that one write when it goes on. So it keeps the files
 * that it has open, and the work goes on in new ones. The locks of the operating system make that needless: with them only what
 * the engine without locks left is taken so.
 *
 * @returns whether there is something to undo
 */
export async function takeJournal(path: string, own: Ending, notice: (text: string) => void): Promise<boolean> {
  const other: Ending = own === '.undo' ? '-journal' : '.undo';
  for (const ending of [own, other]) await putAside(path, ending, notice);
  const isOwn = (await sizeOf(`${path}${own}`)) > 0;
  if (!isOwn && (await sizeOf(`${path}${other}`)) === 0) return false;
  if (!isOwn) await renameIfThere(`${path}${other}`, `${path}${own}`);
  if (own === '.undo' || !isOwn) await ontoNewFiles(path, own);
  return true;
}

/** Where a backup was put in the place of the file, the journal that a crash left would damage it. */
async function putAside(path: string, ending: Ending, notice: (text: string) => void): Promise<void> {
  const journal = `${path}${ending}`;
  if ((await sizeOf(journal)) === 0 || (await sizeOf(path)) === 0 || isJournalOf(journal, path)) return;
  const aside = `${journal}.aside`;
  await renameIfThere(journal, aside);
  notice(
    `${journal} belongs to another state of the copy, as if a backup had been put in its place. It is now ${aside}.`,
  );
}

/** The write-ahead log of a process with the other engine, which is gone as far as anybody can tell. */
export const takeLog = (path: string): Promise<void> => ontoNewFiles(path, '-wal');

/** Of a database that has none, an empty one is nothing: the engine would look for its shared memory. */
export async function dropEmptyLog(path: string): Promise<void> {
  const log = entryAt(`${path}-wal`);
  if (log?.isFile && log.size === 0) await removeFile(`${path}-wal`);
}

async function ontoNewFiles(path: string, ending: Ending | '-wal'): Promise<void> {
  // In this order: at each moment the two names hold a database and what undoes or completes it.
  for (const file of [`${path}${ending}`, path]) {
    await removeDrafts(file);
    await ontoNewFile(file).catch((error) => {
      // On a full disk better in place than not at all: that it was killed is a thousand times as likely.
      if (!['ENOENT', 'ENOSPC', 'EDQUOT'].some((code) => isCode(error, code))) throw error;
    });
  }
}
