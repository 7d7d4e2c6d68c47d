import { delimiter, join, resolve } from 'node:path';
import { isProgram } from '../../disk/program.ts';
import type { Configured } from './config.ts';

/**
 * A note and no mistake: the file may be judged on another machine than the one that runs it. A bare name is looked for in
 * `searched` (the text of PATH), which is known only where svc is about to run: under systemd it may be another one.
 */
export async function missingPrograms({ config, folder }: Configured, searched?: string): Promise<string[]> {
  const notes = config.sinks.map(async ({ name, exec }) => {
    const [program = ''] = exec?.command ?? [];
    const places = program.includes('/') ? [resolve(folder, program)] : inPath(program, searched);
    if (places.length === 0) return [];
    const areThere = await Promise.all(places.map(isProgram));
    return areThere.includes(true) ? [] : [`The program of sink ${name} is not there, or cannot be run: ${program}`];
  });
  return (await Promise.all(notes)).flat();
}

/** Windows finds programs by more than their name. */
const inPath = (program: string, searched = ''): string[] =>
  program === '' || process.platform === 'win32'
    ? []
    : searched.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, program)]));
