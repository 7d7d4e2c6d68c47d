import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..');

/**
 * Before the first test: the tool as it is shipped, built from the present source. It lies in a folder that is also the
 * temporary folder of every test, so that nothing is left on the machine afterwards.
 */
export default async function buildOnce(): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(tmpdir(), 'svc-tests-'));
  const folder = join(root, 'build');
  for (const part of ['bin', 'examples', 'package.json']) {
    await cp(join(project, part), join(folder, part), { recursive: true });
  }
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  await run(process.execPath, [rolldown, '-c', '--dir', join(folder, 'dist')], { cwd: project });
  Object.assign(process.env, { SVC_TEST_BUILD: folder, TMPDIR: root });
  return () => rm(root, { recursive: true, force: true });
}
