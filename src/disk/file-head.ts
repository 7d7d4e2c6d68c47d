import { constants } from 'node:fs';
import { lstat, open, rename, rm, stat } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/** What stands at a path, and of a plain file its first bytes. */
export type Head =
  | { readonly kind: 'none' | 'folder' | 'other' | 'dangling' }
  | { readonly kind: 'file'; readonly size: number; readonly bytes: Buffer };

/** Looks without changing anything: a pipe or a device is not opened, and nothing is locked. Other errors are thrown. */
export async function headOf(path: string, length: number): Promise<Head> {
  const found = await stat(path).catch(nothingThere);
  if (!found) return { kind: (await lstat(path).catch(nothingThere)) ? 'dangling' : 'none' };
  if (found.isDirectory()) return { kind: 'folder' };
  if (!found.isFile()) return { kind: 'other' };
  // Between the two looks somebody may have put a pipe there: to open it would wait.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, 0);
    return { kind: 'file', size: found.size, bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

function nothingThere(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}

/** Gives the file another name; fine where there is none. */
export async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch(nothingThere);
}

/** Removes a folder with all that is in it; fine where there is none. */
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
