import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { namesIn, removeFile } from '../../../disk/file/folder.ts';
import { nothingThere } from '../../../disk/file/nothing-there.ts';
import { randomName } from '../../../disk/file/random-name.ts';
import { type Entries, hashOf, type Kind, kinds } from './entries.ts';
import { bytesOf, findIn, makeRun, mayHold, type Run, readRun, type Stretch } from './index-run.ts';

/**
 * The index of an inbox: where the lines of each event are that nobody waits for any more. It only grows at its end, a run
 * at a time; a rewritten inbox gets a new one. What it says of a line counts only once the line itself was read.
 */
export type Index = {
  readonly name: string;
  readonly fd: number;
  readonly runs: Run[];
  /** What looks into it: it is not closed before. */
  readonly looking: Set<Promise<unknown>>;
};

const prefix = 'inbox.index-';

export function createIndex(folder: string): Index {
  const name = `${prefix}${randomName()}`;
  return { name, fd: openSync(join(folder, name), 'wx+', 0o600), runs: [], looking: new Set() };
}

export async function closeIndex({ fd, looking }: Index): Promise<void> {
  while (looking.size > 0) await Promise.allSettled(looking);
  closeSync(fd);
}

/** Of an inbox that was rewritten. */
export async function removeIndex(folder: string, index: Index): Promise<void> {
  await closeIndex(index);
  await removeFile(join(folder, index.name));
}

export const syncIndex = ({ fd }: Index): Promise<void> => promisify(fdatasync)(fd);

/** Undefined where it is not there, or damaged. */
export async function openIndex(
  folder: string,
  { name, runs, flags }: { readonly name: string; readonly runs: readonly Stretch[]; readonly flags: 'r' | 'r+' },
): Promise<Index | undefined> {
  let fd: number;
  try {
    fd = openSync(join(folder, name), flags);
  } catch (error) {
    return nothingThere(error);
  }
  const read: Run[] = [];
  for (const about of runs) {
    const run = await readRun(fd, about).catch(() => undefined);
    if (run) read.push(run);
  }
  if (read.length === runs.length) return { name, fd, runs: read, looking: new Set() };
  closeSync(fd);
  return undefined;
}

/** All but that one: what a killed process left, or one of an inbox that was rewritten since. */
export async function removeIndexes(folder: string, except?: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.startsWith(prefix) && name !== except) await removeFile(join(folder, name));
  }
}

/** Into memory, at once: the sync comes before anybody counts on it. */
export function addRun({ fd, runs }: Index, entries: Entries, to: number): void {
  const last = runs.at(-1);
  const at = last ? last.at + bytesOf(last) : 0;
  const { run, bytes } = makeRun(entries, { at, to });
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  runs.push(run);
}

/** Whether an event of this id, or one that was rebuilt, may be there. */
export function suspects({ runs }: Index, text: string): boolean {
  const hash = hashOf(text);
  return runs.some((run) => mayHold(run, hash));
}

/** Where such lines begin, the newest last. Undefined where the index is damaged. */
export function placesOf(index: Index, kind: Kind, text: string): Promise<number[] | undefined> {
  const { looking } = index;
  const look = search(index, kind, text).finally(() => looking.delete(look));
  looking.add(look);
  return look;
}

async function search({ fd, runs }: Index, kind: Kind, text: string): Promise<number[] | undefined> {
  const wanted = { hash: hashOf(text), kind: kinds[kind] };
  const isFiltered = kind === 'arrival' || kind === 'rebuilt';
  const found: number[] = [];
  for (const run of runs) {
    if (isFiltered && !mayHold(run, wanted.hash)) continue;
    const some = await findIn(fd, run, wanted);
    if (!some) return undefined;
    found.push(...some);
  }
  return found.sort((a, b) => a - b);
}

const block = 1 << 20;

/** Whether the inbox still holds the very bytes that the index was made of. */
export async function isAsItWas(
  { runs }: Pick<Index, 'runs'>,
  inbox: FileHandle,
  { pause, isOver }: { readonly pause: () => Promise<void>; readonly isOver: () => boolean },
): Promise<boolean> {
  const bytes = Buffer.allocUnsafe(block);
  let at = 0;
  for (const { to, crc } of runs.flatMap(({ sums }) => sums)) {
    let sum = 0;
    for (; at < to; at = Math.min(to, at + block)) {
      await pause();
      if (isOver()) return true;
      const { bytesRead } = await inbox.read(bytes, 0, Math.min(block, to - at), at);
      sum = crc32(bytes.subarray(0, bytesRead), sum);
    }
    if (sum !== crc) return false;
  }
  return true;
}
