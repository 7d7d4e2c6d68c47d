import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../../errors.ts';
import { jsonIn } from '../../text/json.ts';
import { type Fields, fieldsIn, textIn } from '../../text/record.ts';

const manifestOf = (folder: string): Fields =>
  fieldsIn(jsonIn(orElse(() => readFileSync(join(folder, 'package.json'), 'utf8'), '')));

/** The package of svc that a file of it belongs to: chunks lie one folder deep, the source two. */
export function ownRoot(file: string): string | undefined {
  const above = dirname(dirname(file));
  return [above, dirname(above)].find((folder) => manifestOf(folder).name === 'svc');
}

/** The version of an optional package that svc was made with. */
export const wantedVersion = (root: string, name: string): string | undefined =>
  textIn(fieldsIn(manifestOf(root).optionalDependencies)[name]);

/**
 * The folder of a package that another one in `root` needs: inside of it or beside it, where an installer puts it, and
 * never further up as Node looks. Anybody may have put something there, such as into the folder of one's downloads.
 */
export function dependencyOf(root: string, name: string, version: string): string | undefined {
  const above = basename(dirname(root)).startsWith('@') ? dirname(dirname(root)) : dirname(root);
  const places = [join(root, 'node_modules'), ...(basename(above) === 'node_modules' ? [above] : [])];
  for (const place of places) {
    const folder = orElse(() => realpathSync(join(place, name)), undefined);
    if (folder === undefined) continue;
    const found = manifestOf(folder);
    if (found.name === name && found.version === version && isOfItsOwner(folder, root)) return folder;
  }
  return undefined;
}

/** Whoever installed svc installed it; or root did, or this user. */
function isOfItsOwner(folder: string, root: string): boolean {
  const owners = [0, statSync(root).uid, process.getuid?.()];
  return [folder, join(folder, 'package.json')].every((path) => owners.includes(statSync(path).uid));
}
