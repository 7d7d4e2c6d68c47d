import { resolve } from 'node:path';
import { isProgram } from '../../disk/program.ts';
import type { Configured } from '../serving/config.ts';

/** A note and no mistake: the file may be judged on another machine than the one that runs it. */
export async function missingPrograms({ config, folder }: Configured): Promise<string[]> {
  const notes = config.sinks.map(async ({ name, exec }) => {
    const [program = ''] = exec?.command ?? [];
    // A bare name is looked for in PATH, which may be another one under systemd.
    if (!program.includes('/')) return [];
    const isThere = await isProgram(resolve(folder, program));
    return isThere ? [] : [`The program of sink ${name} is not there, or cannot be run: ${program}`];
  });
  return (await Promise.all(notes)).flat();
}
