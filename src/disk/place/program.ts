import { access, constants } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
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
  // Windows finds programs by more than their name.
  if (program === '' || process.platform === 'win32') return false;
  const places = program.includes('/') ? [resolve(folder, program)] : inPath(program, { folder, searched });
  const areThere = await Promise.all(places.map(isProgram));
  return places.length > 0 && !areThere.includes(true);
}

/** An empty part of PATH is the folder that the program is started in. */
const inPath = (program: string, { folder, searched }: Search): string[] =>
  searched ? searched.split(delimiter).map((part) => resolve(folder, part, program)) : [];
