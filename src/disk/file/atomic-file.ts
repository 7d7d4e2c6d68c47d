import {
  closeSync,
  constants,
  existsSync,
  promises as fs,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, Failure } from '../../errors.ts';
import { makeFolders } from './make-folders.ts';
import { toRead } from './open-flags.ts';

// These two are part of every start. A first asynchronous call would load a module and make four threads, which takes
// longer than to read what is a few hundred bytes.

export const isThere = async (path: string): Promise<boolean> => existsSync(path);

const largest = 64 * 1024 * 1024;

/** The small file's text, or undefined where there is none. Other errors (no permission, a folder) are thrown. */
export async function readIfThere(path: string): Promise<string | undefined> {
  let fd: number;
  try {
    fd = openSync(path, toRead);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) return readToEnd(fd, path);
    if (found.size > largest) throw tooLarge(path, 'is larger than 64 MiB');
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** The same of what may hold rules: where it, or its folder, is a link to nothing, it is missing, and was not left out. */
export async function readRulesIfThere(path: string): Promise<string | undefined> {
  const text = await readIfThere(path);
  const astray = text === undefined ? [path, dirname(path)].find(leadsNowhere) : undefined;
  if (astray !== undefined) throw new Error(`${astray} leads to nothing`);
  return text;
}

const leadsNowhere = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(path);

/** Neither a pipe nor a device; what a link leads to counts. */
export const isPlainFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Of a device: some never end. */
function readToEnd(fd: number, path: string): string {
  const pieces: Buffer[] = [];
  for (let size = 0; size <= largest; ) {
    const piece = Buffer.alloc(65_536);
    const read = readSync(fd, piece);
    if (read === 0) return Buffer.concat(pieces).toString('utf8');
    pieces.push(piece.subarray(0, read));
    size += read;
  }
  throw tooLarge(path, 'is no plain file, and does not end');
}

const tooLarge = (path: string, why: string): Failure =>
  new Failure('usage', `${path} ${why}, so svc does not read it.`, { hint: 'Name another file.' });

/**
 * Replaces the file's content so that a reader, also after a crash at any instant, finds either the old or the new
 * text, whole. The text is on disk when this resolves. Readable by its owner alone, as its folder is when made here.
 * Behind a link the file itself is replaced, and the link stays. A device or a pipe is nobody's to replace.
 */
export async function replaceFile(named: string, text: string | Uint8Array, mode = 0o600): Promise<void> {
  const path = await targetOf(named);
  const there = await fs.lstat(path).catch(() => undefined);
  if (there && !there.isFile() && !there.isDirectory()) {
    throw new Failure('usage', `${named} is no plain file, so svc does not write to it.`, { hint: 'Name a file.' });
  }
  await makeFolders(dirname(path));
  await inPlaceOf(path, (draft) => fs.writeFile(draft, text, { flag: 'wx', mode, flush: true }));
}

/**
 * Gives the content to a new file under the same name, on disk when this resolves: a process that still has the old file open
 * writes there in vain.
 */
export const ontoNewFile = (path: string): Promise<void> => inPlaceOf(path, (draft) => copySynced(path, draft));

async function inPlaceOf(path: string, make: (draft: string) => Promise<void>): Promise<void> {
  const draft = draftOf(path);
  try {
    await make(draft);
    await fs.rename(draft, path);
  } catch (error) {
    await fs.rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** A copy of a file, on the disk when this resolves. */
export async function copySynced(from: string, to: string): Promise<void> {
  await fs.copyFile(from, to, constants.COPYFILE_FICLONE);
  const file = await fs.open(to, 'r+');
  await file.sync().finally(() => file.close());
}

/** A name beside the file that nobody knows beforehand. */
export const draftOf = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}.${Math.random().toString(36).slice(2)}`);

/** Removes what a killed `replaceFile` or `ontoNewFile` left. Only for a process that holds the lock of the file. */
export async function removeDrafts(named: string): Promise<void> {
  const path = await targetOf(named);
  const name = basename(path);
  const names = await fs.readdir(dirname(path)).catch(() => []);
  for (const left of names) {
    if (!left.startsWith(`.${name}.`) || !/^\d+\.[a-z\d]+$/u.test(left.slice(name.length + 2))) continue;
    await fs.rm(join(dirname(path), left), { force: true });
  }
}

/** Where links lead, also to a file that is not there yet. */
export async function targetOf(path: string): Promise<string> {
  for (let [target, hops] = [path, 0]; hops < 40; hops++) {
    const next = await fs.readlink(target).catch(() => undefined);
    if (next === undefined) return target;
    if (process.platform !== 'win32') return (await (await import('./strangers.ts')).pathToWrite(path)) ?? path;
    // Behind a link to its folder, `..` leads out of the folder itself.
    target = resolve(await fs.realpath(dirname(target)).catch(() => dirname(target)), next);
  }
  return path;
}

/** Makes a rename or a creation in the folder survive a power cut. Windows cannot sync folders, and need not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await fs.open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
