import { readdir, rm, stat } from 'node:fs/promises';
import { nothingThere } from './nothing-there.ts';

/** Names of what is in the folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nothingThere)) ?? [];
}

/** Also what a link leads to; what cannot be looked at is none. */
export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** Removes the file; fine where there is none. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true });
