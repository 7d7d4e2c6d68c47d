import { promises as fs, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { orElse } from '../../errors.ts';
import { isDone } from '../../promise/whether.ts';
import { shellWord } from '../../text/shell-word.ts';
import { syncFolder } from '../file/atomic-file.ts';
import { makeFolders } from '../file/make-folders.ts';
import { thereAlready } from '../file/nothing-there.ts';

/** Makes an empty file that its owner alone can read, and its folder; one that is there stays as it is. */
export async function makePrivateFile(path: string): Promise<void> {
  await makeFolders(dirname(path));
  const made = await fs.open(path, 'wx', 0o600).catch(thereAlready);
  if (!made) return;
  await made.close();
  await syncFolder(dirname(path));
}

/** What others may do with a file that is there, and its owner; undefined where nobody else may, and where there is no such file. */
async function openToOthers(path: string): Promise<{ readonly isMine: boolean } | undefined> {
  if (process.platform === 'win32') return undefined;
  const present = found(path);
  if (!present?.isFile() || (present.mode & 0o077) === 0) return undefined;
  return { isMine: present.uid === process.getuid?.() };
}

/** Takes an empty file that somebody else made from all but its owner, before data comes into it; `notice` hears of it. */
export async function takeFromOthers(path: string, notice: (text: string) => void): Promise<void> {
  const found = await openToOthers(path);
  if (!found) return;
  const isClosed = found.isMine && (await isDone(fs.chmod(path, 0o600)));
  notice(isClosed ? `${path} was open to other users; now it is yours alone.` : warning(path));
}

/** A file with data may be open to others on purpose. */
export async function warnOfOthers(path: string, notice: (text: string) => void): Promise<void> {
  if (await openToOthers(path)) notice(warning(path));
}

const warning = (path: string): string =>
  `Warning: ${path} is open to other users of this machine, and customers' data is in it. To keep it to yourself: chmod 600 ${shellWord(path)}`;

/** The one path of the file, however it was named: what is locked by its name must have one name. */
export async function resolvedFile(named: string): Promise<string> {
  const path = resolve(named);
  const real = realOf(path);
  return real ?? join(realOf(dirname(path)) ?? dirname(path), basename(path));
}

const realOf = (path: string): string | undefined => orElse(() => realpathSync.native(path), undefined);

/** In bytes; 0 where there is no such file. */
export const sizeOf = async (path: string): Promise<number> => found(path)?.size ?? 0;

const found = (path: string) => orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);
