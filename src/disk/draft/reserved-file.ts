import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { isCode, readIfThere, syncFolder } from '../file/atomic-file.ts';

/**
 * A small file whose room on the disk is taken before it is known what will stand in it, so that it can be written when
 * the disk is full. Behind its text it is filled with spaces.
 */
export async function reserveFile(path: string, size: number): Promise<void> {
  const file = await openOrMake(path);
  try {
    const missing = size - (await file.stat()).size;
    if (missing > 0) await file.appendFile(' '.repeat(missing));
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/** Writes into the room that was reserved; the text is on disk when this resolves. */
export async function fillFile(path: string, text: string): Promise<void> {
  const file = await openOrMake(path);
  try {
    const bytes = Buffer.from(text.padEnd((await file.stat()).size));
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What stands in it; undefined where there is no file, or nothing but the room. */
export async function readReserved(path: string): Promise<string | undefined> {
  return (await readIfThere(path))?.trim() || undefined;
}

async function openOrMake(path: string) {
  try {
    return await fs.open(path, 'r+');
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
    return fs.open(path, 'wx+', 0o600);
  }
}
