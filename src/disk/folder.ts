import { readdir, rm } from 'node:fs/promises';
import { isCode } from './atomic-file.ts';

/** Names of what is in the folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  });
}

/** Removes the file; fine where there is none. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true });
