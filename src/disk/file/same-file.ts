import { promises as fs, fstat as fstatCallback } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const fstat = promisify(fstatCallback);

/** Two names of one file that is there. */
export async function isOneFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => fs.stat(path, { bigint: true }).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Whether what is open is the file that is there. A pipe and a terminal are none. */
export async function isOpenAs(fd: number | undefined, path: string): Promise<boolean> {
  if (fd === undefined) return false;
  const [open, there] = await Promise.all([
    fstat(fd, { bigint: true }).catch(() => undefined),
    fs.stat(path, { bigint: true }).catch(() => undefined),
  ]);
  return open?.isFile() === true && open.ino === there?.ino && open.dev === there.dev;
}

/** Where a path leads that may not be there yet: also behind a link to nothing. */
export async function realPath(path: string, links = 0): Promise<string> {
  const real = await fs.realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path || links > 20) return real ?? path;
  const target = await fs.readlink(path).catch(() => undefined);
  if (target !== undefined) return realPath(resolve(await realPath(dirname(path), links + 1), target), links + 1);
  return join(await realPath(dirname(path), links), basename(path));
}
