import { promises as fs, readdirSync, statSync } from 'node:fs';
import { orElse } from '../../errors.ts';
import { nothingThere } from './nothing-there.ts';

// Part of the start of whatever asks the copy: without a thread, as in atomic-file.ts.

/** Names of what is in the folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return readdirSync(folder);
  } catch (error) {
    return nothingThere(error) ?? [];
  }
}

/** Also what a link leads to; what cannot be looked at is none. */
export async function isFolder(path: string): Promise<boolean> {
  return orElse(() => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true, false);
}

/** Removes the file; fine where there is none. */
export const removeFile = (path: string): Promise<void> => fs.rm(path, { force: true });

/** Gives the file another name; fine where there is none. */
export async function renameIfThere(from: string, to: string): Promise<void> {
  await fs.rename(from, to).catch(nothingThere);
}

/** Where something is in it, it stays. */
export const removeEmptyFolder = (path: string): Promise<void> => fs.rmdir(path).catch(() => {});

/** Removes a folder with all that is in it; fine where there is none. */
export const removeFolder = (path: string): Promise<void> => fs.rm(path, { recursive: true, force: true });
