import { bytesAt } from '../../disk/file-head.ts';

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
export function isJournalOf(journal: string, database: string): boolean {
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
