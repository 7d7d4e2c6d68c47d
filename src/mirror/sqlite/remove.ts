import { removeDrafts } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { removeEntries } from './locks.ts';
import { endings } from './neighbours.ts';

/** The file of a copy, and what either engine keeps beside it. */
export async function removeCopyFile(path: string): Promise<void> {
  for (const ending of ['', ...endings]) {
    await removeFile(`${path}${ending}`);
    await removeDrafts(`${path}${ending}`);
  }
  await removeEntries(path);
}
