import { readFileSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from './make-folders.ts';
import { randomName } from './random-name.ts';
import { removeForgotten, telling } from './witness-owner.ts';

/**
 * Says how far a log was written, in memory that lasts exactly as long as the machine runs. Lines that no sync has
 * covered live in the memory of their own file system: they outlive the process, and are lost where the disk goes away
 * and comes back. The witness is elsewhere, so a log that reaches as far as its witness says has lost nothing. (The
 * number of a device or of a mount proves nothing: both are given again to the next mount.)
 */
export type Witness = {
  readonly name: string;
  /** The log has so many bytes. Never throws: where it cannot be said, the witness is taken away. */
  reached(bytes: number): void;
  /** `stays`: the next run has to know how far the log came. */
  close(after: { readonly stays: boolean }): Promise<void>;
};

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

/** For the log at that path. What earlier runs have left for logs that are gone is removed. */
export async function newWitness(bytes: number, log: string): Promise<Witness | undefined> {
  const folder = await witnessFolder();
  if (folder === undefined) return undefined;
  await removeForgotten(folder).catch(() => {});
  const name = `${process.pid}-${randomName()}`;
  const path = join(folder, name);
  const file = await open(path, 'wx', 0o600).catch(() => undefined);
  if (!file) return undefined;
  const witness = witnessAt(path, name, file);
  witness.reached(bytes);
  // Without it nobody will remove the file before the machine is started again.
  await file.write(await telling(log), width).catch(() => {});
  return witness;
}

function witnessAt(path: string, name: string, file: FileHandle): Witness {
  let isGone = false;
  const { fd } = file;
  return {
    name,
    reached(bytes) {
      if (isGone) return;
      try {
        if (writeSync(fd, String(bytes).padStart(width, '0'), 0, 'latin1') === width) return;
      } catch {}
      isGone = true;
      void rm(path, { force: true });
    },
    async close({ stays }) {
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
    try {
      const text = readFileSync(join(folder, name), 'latin1').slice(0, width);
      return text.length === width && /^\d+$/u.test(text) ? Number(text) : undefined;
    } catch {
      return undefined;
    }
  };
}

const isName = (name: string): boolean => /^[\w-]+$/u.test(name);

export async function forgetWitness(name: string): Promise<void> {
  const folder = await witnessFolder();
  if (folder !== undefined && isName(name)) await rm(join(folder, name), { force: true }).catch(() => {});
}
