import { access, constants, stat } from 'node:fs/promises';
import { delimiter, resolve, win32 } from 'node:path';
import type { Env } from '../../env.ts';
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

/**
 * The program of that name, for whoever starts it. Windows looks for a bare name in the folder one stands in first, so there
 * it is looked for here, in PATH alone: a project that one stands in chooses no program of svc's.
 */
export async function located(program: string): Promise<string> {
  if (process.platform !== 'win32') return program;
  const places = placesOnWindows(program, process.env);
  for (const place of places) if (await isFile(place)) return place;
  // The whole path of what is not there: a bare name would be looked for once more.
  return places.at(-1) ?? program;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Where Windows may find a bare name, without the folder one stands in; none for what is a path. */
export function placesOnWindows(program: string, { PATH = '', PATHEXT, SystemRoot = 'C:\\Windows' }: Env): string[] {
  if (/[\\/:]/u.test(program) || program === '') return [];
  const endings = (PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean);
  const isWhole = endings.some((ending) => program.toLowerCase().endsWith(ending.toLowerCase()));
  const names = isWhole ? [program] : endings.map((ending) => `${program}${ending}`);
  const unquoted = PATH.split(';').map((part) => part.replaceAll('"', ''));
  // `\\tools` and `C:tools` hang on the drive or the folder that one is in.
  const folders = unquoted.filter((part) => /^(?:[a-z]:[\\/]|[\\/]{2})/iu.test(part));
  return [...folders, win32.join(SystemRoot, 'System32')].flatMap((folder) =>
    names.map((name) => win32.join(folder, name)),
  );
}
