import { ontoNewFile, removeDrafts } from '../../disk/file/atomic-file.ts';
import { bytesAt, entryAt } from '../../disk/file/file-head.ts';
import { removeFile, renameIfThere } from '../../disk/file/folder.ts';
import { sizeOf } from '../../disk/place/private-data.ts';
import { codeOf } from '../../errors.ts';

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
      if (!['ENOENT', 'ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) throw error;
    });
  }
}

// The formats: https://sqlite.org/fileformat2.html, sections 1.3 and 3.

const magic = 'd9d505f920a163d7';
const header = 28;
const headOfPage = 100;

/**
 * Whether the journal can be one of this database as it is: of what it would put back, the first page has the number of the last
 * change before it (`file change counter`). A database in which that transaction was torn has this number or the next one; a
 * backup that somebody put in its place has another. Where the journal does not hold the first page, or the database has no head,
 * nothing speaks against it.
 */
function isJournalOf(journal: string, database: string): boolean {
  const now = bytesAt(database, 0, headOfPage);
  if (now.length < headOfPage || now.toString('latin1', 0, 16) !== 'SQLite format 3\0') return true;
  const before = firstPageIn(journal);
  if (!before) return true;
  const [was, is] = [before.readUInt32BE(24), now.readUInt32BE(24)];
  return is === was || is === (was + 1) % 2 ** 32;
}

/** The head of page 1 as it was before the transaction. */
function firstPageIn(journal: string): Buffer | undefined {
  for (let at = 0; ; ) {
    const head = bytesAt(journal, at, header);
    if (head.length < header || head.toString('hex', 0, 8) !== magic) return undefined;
    const [records, sector, page] = [head.readUInt32BE(8), head.readUInt32BE(20), head.readUInt32BE(24)];
    if (sector < header || page < 512) return undefined;
    at += sector;
    // Before the first sync a header says 0, and the records go on to the end.
    for (let record = 0; record < (records || 2 ** 32); record++, at += page + 8) {
      const found = bytesAt(journal, at, 4 + headOfPage);
      if (found.length < 4 + headOfPage) return undefined;
      if (found.readUInt32BE(0) === 1) return found.subarray(4);
    }
    at = Math.ceil(at / sector) * sector;
  }
}
