import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../file/atomic-file.ts';
import { makeFolders } from '../file/make-folders.ts';
import { toAppend } from '../file/open-flags.ts';

/**
 * Adds lines to a file that others read, rotate or write too; on disk when it resolves. After a line that was cut off
 * by a crash or a full disk they begin on a new one. The file is opened each time, for it may have been moved away.
 * Asks `refuse` about the path while it has the file open, before it writes.
 * Rejects for a pipe or a device: nothing there is on disk, and one that nobody reads would hold a thread for ever.
 */
export async function appendLines(
  path: string,
  lines: readonly string[],
  refuse: (path: string) => Promise<void> = async () => {},
): Promise<void> {
  await makeFolders(dirname(path), 0o777);
  const file = await open(path, constants.O_RDWR | toAppend, 0o600);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is a pipe or a device, and no file`);
    await refuse(path);
    // Where the name leads elsewhere by now, nothing was said of the file that is open.
    const named = await stat(path);
    if (named.ino !== found.ino || named.dev !== found.dev) throw new Error(`${path} was replaced just now`);
    const { size } = found;
    const last = Buffer.alloc(1);
    const isTorn = size > 0 && (await file.read(last, 0, 1, size - 1)).bytesRead === 1 && last[0] !== 10;
    await file.appendFile(`${isTorn ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`);
    await file.datasync();
    // A folder that cannot be opened keeps the lines as well: to say that they failed would bring them twice.
    if (size === 0) await syncFolder(dirname(path)).catch(() => {});
  } finally {
    await file.close();
  }
}
