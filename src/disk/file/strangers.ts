import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { Failure } from '../../errors.ts';

type Owned = { readonly uid: number };

/** Whether it was put by somebody else into a folder where everybody puts things and takes only their own, such as /tmp. */
export const isPlanted = (there: Owned, folder: Owned & { readonly mode: number }, user: number | undefined): boolean =>
  (folder.mode & 0o1002) === 0o1002 && there.uid !== user && there.uid !== folder.uid;

/**
 * Where a path leads that is to be written, also where nothing is there yet; undefined where not even a folder is. Refuses a
 * link or a pipe that a stranger has put in the way, as Linux does (`fs.protected_symlinks` and `fs.protected_fifos`) where
 * a program follows them without looking. No link is in what comes back, so none that is put there later is followed.
 */
export async function pathToWrite(named: string): Promise<string | undefined> {
  if (process.platform === 'win32') return realpath(named).catch(() => undefined);
  return follow(named, isAbsolute(named) ? '/' : await realpath('.'), { named, links: 0 });
}

type Following = { readonly named: string; links: number };

/** One name after another. */
async function follow(path: string, from: string, following: Following): Promise<string | undefined> {
  let at: string | undefined = isAbsolute(path) ? parse(path).root : from;
  for (const part of path.split(sep)) {
    if (at === undefined) return undefined;
    at = part === '..' ? dirname(at) : await step(join(at, part), at, following);
  }
  return at;
}

async function step(path: string, folder: string, following: Following): Promise<string | undefined> {
  if (path === folder) return folder;
  const [there, around] = await Promise.all([path, folder].map((one) => lstat(one).catch(() => undefined)));
  if (!around?.isDirectory()) return undefined;
  if (!there) return path;
  const isLink = there.isSymbolicLink();
  if ((isLink || there.isFIFO()) && isPlanted(there, around, process.geteuid?.()))
    throw new Failure(
      'usage',
      `${following.named} cannot be written: ${path} is a ${isLink ? 'link' : 'pipe'} of another user (id ${there.uid}), in a folder that everybody writes to.`,
      { hint: 'Name a file in a folder of your own.' },
    );
  if (!isLink) return path;
  if (++following.links > 40) return undefined;
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? undefined : follow(target, folder, following);
}
