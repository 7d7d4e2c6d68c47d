import { readFileSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, readlink, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, orElse } from '../../errors.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn } from '../../text/record.ts';
import { makeFolders } from '../file/make-folders.ts';
import { randomName } from '../file/random-name.ts';
import { isOfThisWorld, lifeOf, newEntryName, parseEntry } from './lock-entry.ts';

/**
 * Says how far a log was written, in memory that lasts exactly as long as the machine runs. Lines that no sync has
 * covered live in the memory of their own file system: they outlive the process, and are lost where the disk goes away
 * and comes back. The witness is elsewhere, so a log that reaches as far as its witness says has lost nothing. (The
 * number of a device or of a mount proves nothing: both are given again to the next mount.)
 */
export type Witness = ReturnType<typeof witnessAt>;

const tmpfs = 0x01_02_19_94;
const width = 15;

/** Private to the user, and surely in memory; undefined where the system has no such place. */
export async function witnessFolder(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const [shared, uid] = ['/dev/shm', process.getuid?.() ?? 0];
  try {
    if ((await statfs(shared)).type !== tmpfs) return undefined;
    const path = join(shared, `svc-${uid}`);
    await makeFolders(path);
    const found = await lstat(path);
    return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0 ? path : undefined;
  } catch {
    return undefined;
  }
}

/** For the log at that path. Of what earlier runs have left for logs that are gone, some is removed. */
export async function newWitness(bytes: number, log: string): Promise<Witness | undefined> {
  const folder = await witnessFolder();
  if (folder === undefined) return undefined;
  const name = `${process.pid}-${randomName()}`;
  await removeForgotten(folder, name).catch(() => {});
  const path = join(folder, name);
  const file = await open(path, 'wx', 0o600).catch(() => undefined);
  if (!file) return undefined;
  const witness = witnessAt(path, name, file);
  witness.reached(bytes);
  // Without it nobody will remove the file before the machine is started again.
  await file.write(await telling(log), width).catch(() => {});
  return witness;
}

function witnessAt(path: string, name: string, file: FileHandle) {
  let isGone = false;
  let said: number | undefined;
  const { fd } = file;
  return {
    name,
    /** The log has so many bytes. Never throws: where it cannot be said, the witness is taken away. */
    reached(bytes: number) {
      // Lines that were written together are told of one by one.
      if (isGone || bytes === said) return;
      try {
        said = bytes;
        if (writeSync(fd, String(bytes).padStart(width, '0'), 0, 'latin1') === width) return;
      } catch {}
      isGone = true;
      void rm(path, { force: true });
    },
    /** `stays`: the next run has to know how far the log came. */
    async close({ stays }: { readonly stays: boolean }) {
      isGone = true;
      await file.close();
      if (!stays) await forgetWitness(name);
    },
  };
}

/** Asks how many bytes a log had; undefined where nobody can tell. */
export async function askWitnesses(): Promise<(name: string) => number | undefined> {
  const folder = await witnessFolder();
  return (name) => {
    if (folder === undefined || !isName(name)) return undefined;
    const text = orElse(() => readFileSync(join(folder, name), 'latin1'), '').slice(0, width);
    return text.length === width && /^\d+$/u.test(text) ? Number(text) : undefined;
  };
}

const isName = (name: string): boolean => /^[\w-]+$/u.test(name);

export async function forgetWitness(name: string): Promise<void> {
  const folder = await witnessFolder();
  if (folder !== undefined && isName(name)) await rm(join(folder, name), { force: true }).catch(() => {});
}

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
async function telling(log: string): Promise<string> {
  const { dev: device } = await stat(log);
  const owner: Owner = { by: newEntryName(), mounts: await mountsOfThis(), log: resolve(log), device };
  return `\n${JSON.stringify(owner)}\n`;
}

/** More than a run can leave, so that they get fewer; and few, for each run reads so many before it begins. */
const lookedAtOnce = 16;

/** Of these the ones that the run with the witness `own` looks at: any have their turn, since it has a random name. */
export function inTurn(names: readonly string[], own: string): string[] {
  const placeOf = (name: string): string => name.slice(name.indexOf('-') + 1);
  const sorted = names.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  const from = sorted.findIndex((name) => placeOf(name) > placeOf(own));
  return [...sorted.slice(Math.max(from, 0)), ...sorted.slice(0, Math.max(from, 0))].slice(0, lookedAtOnce);
}

/**
 * Removes witnesses of processes that are gone and of logs that are gone with them, some at a time. A log that is still
 * there may be gone on with, and then its witness is needed. In doubt they stay: they are in memory, and end with the machine.
 */
async function removeForgotten(folder: string, own: string): Promise<void> {
  for (const name of inTurn(await readdir(folder), own)) {
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
      if (codeOf(error) !== 'ENOENT' || path === dirname(path)) return false;
    }
  }
}

function ownerIn(text: string): Owner | undefined {
  const { by, mounts, log, device } = fieldsIn(jsonIn(text.split('\n')[1] ?? ''));
  const isWhole = typeof by === 'string' && typeof mounts === 'string' && typeof log === 'string';
  return isWhole && typeof device === 'number' ? { by, mounts, log, device } : undefined;
}

const mountsOfThis = (): Promise<string> => readlink('/proc/self/ns/mnt');
