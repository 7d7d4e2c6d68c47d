import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isCode, syncFolder } from './atomic-file.ts';
import { makeFolders } from './make-folders.ts';

/** Makes an empty file that its owner alone can read, and its folder; one that is there stays as it is. */
export async function makePrivateFile(path: string): Promise<void> {
  await makeFolders(dirname(path));
  const made = await open(path, 'wx', 0o600).catch((error) => {
    if (isCode(error, 'EEXIST')) return undefined;
    throw error;
  });
  if (!made) return;
  await made.close();
  await syncFolder(dirname(path));
}

/** The one path of the file, however it was named: what is locked by its name must have one name. */
export async function resolvedFile(named: string): Promise<string> {
  const path = resolve(named);
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  return join(folder, basename(path));
}

/** In bytes; 0 where there is no such file. */
export const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;
