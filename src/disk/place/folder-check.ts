import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';

/** Why svc could not write into the folder, in a few words; undefined where it could, or could make it. */
export async function whatIsWrongWith(folder: string): Promise<string | undefined> {
  try {
    if (!statSync(folder).isDirectory()) return 'is not a folder';
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      return codeOf(error) === 'ENOTDIR' ? 'a part of its path is a file' : 'cannot be written';
    const parent = dirname(folder);
    return parent === folder ? 'does not exist' : whatIsWrongWith(parent);
  }
}
