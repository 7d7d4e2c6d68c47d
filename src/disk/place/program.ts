import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { isDone } from '../../promise/whether.ts';

/** Whether there is something at the path that this user may run. */
const isProgram = (path: string): Promise<boolean> => isDone(access(path, constants.X_OK));

type Search = {
  readonly folder: string;
  /** The text of PATH; undefined where it is not known, then a bare name is taken to be there. */
  readonly searched: string | undefined;
};

/** Whether there is surely no program of that name. */
export async function isMissing(program: string, { folder, searched }: Search): Promise<boolean> {
  const places = program.includes('/') ? [resolve(folder, program)] : inPath(program, searched);
  const areThere = await Promise.all(places.map(isProgram));
  return places.length > 0 && !areThere.includes(true);
}

/** Windows finds programs by more than their name. */
const inPath = (program: string, searched = ''): string[] =>
  program === '' || process.platform === 'win32'
    ? []
    : searched.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, program)]));
