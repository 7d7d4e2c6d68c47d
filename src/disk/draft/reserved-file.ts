import { promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfThere, syncFolder } from '../file/atomic-file.ts';
import { nothingThere } from '../file/nothing-there.ts';
import { writeAll } from '../log/log-file.ts';

/**
 * A small file whose room on the disk is taken before it is known what will stand in it, so that it can be written when
 * the disk is full. Behind its text it is filled with spaces.
 */
export async function reserveFile(path: string, size: number): Promise<void> {
  await synced(path, async (file) => {
    const missing = size - (await file.stat()).size;
    if (missing > 0) await file.appendFile(' '.repeat(missing));
  });
  await syncFolder(dirname(path));
}

/** Writes into the room that was reserved; the text is on disk when this resolves. */
export const fillFile = (path: string, text: string): Promise<void> =>
  synced(path, async (file) => {
    const { size } = await file.stat();
    await writeAll(file, Buffer.from(text.padEnd(size)), 0);
  });

/** What stands in it; undefined where there is no file, or nothing but the room. */
export async function readReserved(path: string): Promise<string | undefined> {
  return (await readIfThere(path))?.trim() || undefined;
}

/** Opens the file, or makes it; what `work` writes is on disk when this resolves. */
async function synced(path: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = (await fs.open(path, 'r+').catch(nothingThere)) ?? (await fs.open(path, 'wx+', 0o600));
  try {
    await work(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
