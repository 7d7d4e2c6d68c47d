import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..');

export type Built = {
  /** To be run with Node. */
  readonly script: string;
  /** A folder for whatever the test leaves; removed with the rest. */
  readonly folder: string;
  remove(): Promise<void>;
};

/** The tool as it is shipped, built from the present source into a folder of its own. */
export async function buildSvc(): Promise<Built> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-built-'));
  await mkdir(join(folder, 'work'));
  await cp(join(project, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(project, 'package.json'), join(folder, 'package.json'));
  await cp(join(project, 'examples'), join(folder, 'examples'), { recursive: true });
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  await run(process.execPath, [rolldown, '-c', '--dir', join(folder, 'dist')], { cwd: project });
  return {
    script: join(folder, 'bin', 'svc.js'),
    folder: join(folder, 'work'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
