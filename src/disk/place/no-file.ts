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
  const found = await fs.readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (found === undefined) return `Check the path: svc cannot look into ${folder}`;
  const typed = basename(path);
  const names = found.flatMap((entry) => (entry.isDirectory() ? [] : entry.name));
  // A link that leads nowhere is there, and no file. What is shown otherwise than it is cannot be typed.
  const near = nearest(
    typed,
    names.filter((name) => name !== typed && sanitize(name) === name && !name.includes('\uFFFD')),
  );
  return near === undefined ? `Check the name: svc looked in ${folder}` : `Did you mean ${join(dirname(path), near)}?`;
}
