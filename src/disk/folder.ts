import { readdir, rm } from 'node:fs/promises';
import { nothingThere } from './nothing-there.ts';

/** Names of what is in the folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nothingThere)) ?? [];
}

/** Removes the file; fine where there is none. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true });
