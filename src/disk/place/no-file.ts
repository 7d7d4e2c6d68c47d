import { promises as fs } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { Failure } from '../../errors.ts';
import { nearest } from '../../text/near.ts';
import { sanitize } from '../../text/sanitize.ts';
import { workingFolder } from './working-folder.ts';

/** Exit 2 for a file of the user that is not there, with the one that is probably meant, or where svc looked. */
export async function noFile(path: string, said: string): Promise<Failure> {
  const here = isAbsolute(path) ? '/' : workingFolder();
  const hint = here === undefined ? undefined : sanitize(await adviceOn(path, dirname(resolve(here, path))));
  return new Failure('usage', `${said}.`, { hint });
}

async function adviceOn(path: string, folder: string): Promise<string> {
  const names = await fs.readdir(folder).catch(() => undefined);
  if (names === undefined) return `Check the path: svc cannot look into ${folder}`;
  const typed = basename(path);
  // What is shown otherwise than it is cannot be typed.
  const others = names.filter((name) => name !== typed && sanitize(name) === name && !name.includes('\uFFFD'));
  const near = await nearestFile(typed, others, folder);
  return near === undefined
    ? `Check the name: svc looked in ${folder}`
    : `Did you mean ${asTyped(dirname(path), near)}?`;
}

/** Neither a folder nor a link that leads to one, or nowhere. */
async function nearestFile(typed: string, names: readonly string[], folder: string): Promise<string | undefined> {
  const near = nearest(typed, names);
  if (near === undefined || (await isFile(join(folder, near)))) return near;
  const others = names.filter((name) => name !== near);
  return nearestFile(typed, others, folder);
}

const isFile = (path: string): Promise<boolean> =>
  fs.stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );

/** A name that begins like a flag is taken for one. */
function asTyped(folder: string, name: string): string {
  const path = join(folder, name);
  return path.startsWith('-') ? `./${path}` : path;
}
