import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stopSharedPostgres } from './mirror/postgres-server.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..');

/**
 * Before the first test: the tool as it is shipped, built from the present source. It lies in a folder that is also the
 * temporary folder of every test, so that nothing is left on the machine afterwards. Databases lie in memory where the
 * machine can do that: they sync with every transaction. The one PostgreSQL server starts when it is first needed.
 */
export default async function buildOnce(): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(tmpdir(), 'svc-tests-'));
  const folder = join(root, 'build');
  for (const part of ['bin', 'examples', 'package.json']) {
    await cp(join(project, part), join(folder, part), { recursive: true });
  }
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  await run(process.execPath, [rolldown, '-c', '--dir', join(folder, 'dist')], { cwd: project });
  const memory = existsSync('/dev/shm') ? await mkdtemp('/dev/shm/svc-tests-') : root;
  const postgres = `/tmp/svc-pg-${process.pid}`;
  Object.assign(process.env, {
    SVC_TEST_BUILD: folder,
    TMPDIR: root,
    SVC_TEST_MEMORY: memory,
    SVC_TEST_POSTGRES: postgres,
  });
  return async () => {
    await stopSharedPostgres(postgres);
    for (const left of [root, memory]) await rm(left, { recursive: true, force: true });
  };
}
