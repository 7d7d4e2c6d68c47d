import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { jsonIn } from '../text/json.ts';
import { fieldsIn } from '../text/record.ts';
import { isCode } from './atomic-file.ts';
import { isOfThisWorld, lifeOf, newEntryName, parseEntry } from './lock-entry.ts';

/** Who keeps a witness, and of which log: what a later run has to know before it may remove one that was left behind. */
type Owner = {
  /** As in a lock: process, its start, and where its id means something. */
  readonly by: string;
  /** Where paths mean the same: two processes may see other files below one path. */
  readonly mounts: string;
  readonly log: string;
  /** Of the file system that the log is on. */
  readonly device: number;
};

/** A line behind what the witness says. */
export async function telling(log: string): Promise<string> {
  const { dev: device } = await stat(log);
  const owner: Owner = { by: await newEntryName(), mounts: await mountsOfThis(), log: resolve(log), device };
  return `\n${JSON.stringify(owner)}\n`;
}

/**
 * Removes the witnesses of processes that are gone and of logs that are gone with them. A log that is still there may be
 * gone on with, and then its witness is needed. In doubt they stay: they are in memory, and end with the machine.
 */
export async function removeForgotten(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const owner = ownerIn(await readFile(path, 'utf8').catch(() => ''));
    if (owner && (await isForgotten(owner))) await rm(path, { force: true });
  }
}

async function isForgotten({ by, mounts, log, device }: Owner): Promise<boolean> {
  const entry = parseEntry(by);
  if (!entry || !isOfThisWorld(entry) || mounts !== (await mountsOfThis())) return false;
  return (await lifeOf(entry)) === 'gone' && (await isGone(log, device));
}

/** The first folder above that is there has to be on the log's file system: otherwise its disk may only be away. */
async function isGone(log: string, device: number): Promise<boolean> {
  for (let path = log; ; path = dirname(path)) {
    try {
      const { dev } = await stat(path);
      return path !== log && dev === device;
    } catch (error) {
      if (!isCode(error, 'ENOENT') || path === dirname(path)) return false;
    }
  }
}

function ownerIn(text: string): Owner | undefined {
  const { by, mounts, log, device } = fieldsIn(jsonIn(text.split('\n')[1] ?? ''));
  const isWhole = typeof by === 'string' && typeof mounts === 'string' && typeof log === 'string';
  return isWhole && typeof device === 'number' ? { by, mounts, log, device } : undefined;
}

const mountsOfThis = (): Promise<string> => readlink('/proc/self/ns/mnt');
