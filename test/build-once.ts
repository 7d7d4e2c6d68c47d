import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { stopPostgres } from './mirror/postgres-server.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..');

/**
 * Before the first test: the tool as it is shipped, built from the present source. It lies in a folder that is also the
 * temporary folder of every test, so that nothing is left on the machine afterwards. It lies in memory where the machine
 * can do that: tests make thousands of folders, and svc syncs what it keeps. PostgreSQL servers start when they are
 * first needed.
 */
export default async function buildOnce(): Promise<() => Promise<void>> {
  const root = (await inMemory()) ?? (await mkdtemp(join(tmpdir(), 'svc-tests-')));
  const folder = join(root, 'build');
  for (const part of ['bin', 'examples', 'package.json']) {
    await cp(join(project, part), join(folder, part), { recursive: true });
  }
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  await run(process.execPath, [rolldown, '-c', '--dir', join(folder, 'dist')], { cwd: project });
  // A socket's path is short, and the folder is another user's than the tests'.
  const postgres = join(dirname(root).startsWith('/dev/shm') ? '/dev/shm' : '/tmp', `svc-pg-${process.pid}`);
  Object.assign(process.env, {
    SVC_TEST_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    SVC_TEST_BUILD: folder,
    TMPDIR: root,
    SVC_TEST_POSTGRES: postgres,
  });
  // Each start of Node reads that file whole, which is two thirds of what a start takes; npm alone needs it.
  if (!process.env.SVC_TEST_ARTEFACTS) delete process.env.NODE_EXTRA_CA_CERTS;
  return async () => {
    await stopPostgres(postgres);
    await rm(root, { recursive: true, force: true, maxRetries: 10 });
  };
}

/** More than all tests leave together. */
const neededBytes = 4 * 1024 ** 3;

/** A folder in memory; undefined where there is no room, or nothing may be executed there, as in many containers. */
async function inMemory(): Promise<string | undefined> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < neededBytes) return undefined;
  const folder = await mkdtemp('/dev/shm/svc-tests-');
  const program = join(folder, 'program');
  try {
    await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
    await run(program);
    return folder;
  } catch {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
}
