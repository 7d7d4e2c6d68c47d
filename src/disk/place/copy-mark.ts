import { headOf } from '../file/file-head.ts';

/** "svcm", in the header of every SQLite file that svc made (`PRAGMA application_id`). */
export const applicationId = 0x73_76_63_6d;

/** How a database of SQLite begins. */
export const magic = 'SQLite format 3\0';
export const headerLength = 100;

const beside = /(?:-wal|-shm|-journal|\.undo)$/u;

/** Whether a copy of an account stands there, or one beside which such a file is its journal; by what it says itself. */
export async function isCopyOrBeside(path: string): Promise<boolean> {
  for (const one of new Set([path, path.replace(beside, '')])) {
    const head = await headOf(one, headerLength).catch(() => undefined);
    if (head?.kind !== 'file' || head.bytes.length < headerLength) continue;
    if (head.bytes.toString('latin1', 0, 16) === magic && head.bytes.readUInt32BE(68) === applicationId) return true;
  }
  return false;
}
