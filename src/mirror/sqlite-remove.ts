import { removeFolder } from '../disk/file-head.ts';
import { removeFile } from '../disk/folder.ts';

/** The file of a copy, and what either engine keeps beside it. */
export async function removeCopyFile(path: string): Promise<void> {
  for (const ending of ['', '-journal', '-wal', '-shm', '.undo']) await removeFile(`${path}${ending}`);
  await removeFolder(`${path}.native`);
}
