import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { test as Test } from 'vitest';
import { without } from '../real-component.ts';

/** Where Debian keeps the programs, beside the search path. */
const versions = '/usr/lib/postgresql';

function folderOfPrograms(): string | undefined {
  try {
    const [newest] = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
    return newest && join(versions, newest, 'bin');
  } catch {
    return undefined;
  }
}

export const programs = folderOfPrograms();

/** A `test` that needs a PostgreSQL server: skipped with a reason where there is none, a failure in CI. */
export const withPostgres = (test: typeof Test): typeof Test =>
  programs ? test : without(process.env.CI ? 'fail' : 'skip', `not installed here: postgresql (looked in ${versions})`);

export type PostgresServer = {
  /** Of the superuser, where no role is named. */
  url(database: string, role?: string): string;
  sql(database: string, text: string): string;
};

/** The server refuses to run as root. */
export function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * One real server for every test file, on a socket in a folder of its own, outside of the tests', which other users cannot
 * enter. The first file that needs it starts it. Undefined where PostgreSQL is not installed.
 */
export async function sharedPostgres(): Promise<PostgresServer | undefined> {
  const folder = process.env.SVC_TEST_POSTGRES ?? '';
  if (!programs) return undefined;
  const as = account();
  const isFirst = claim(folder);
  const options = { ...as, cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } } as const;
  if (isFirst) await start(folder, options);
  else while (!existsSync(join(folder, 'ready'))) await sleep(50);
  return {
    url: (database, role = 'svc') => `postgres:///${database}?host=${folder}&user=${role}`,
    sql: (database, text) =>
      execFileSync(join(programs, 'psql'), ['-h', folder, '-U', 'svc', '-d', database, '-Atqc', text], {
        ...options,
        encoding: 'utf8',
      }),
  };
}

/** Of several files at once one makes the folder. */
function claim(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

type Options = { readonly uid?: number; readonly gid?: number; readonly cwd: string };

async function start(folder: string, options: Options): Promise<void> {
  if (options.uid !== undefined) chownSync(folder, options.uid, options.gid ?? options.uid);
  const data = join(folder, 'data');
  const run = (name: string) => join(programs ?? '', name);
  execFileSync(run('initdb'), ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8', '-N'], {
    ...options,
    stdio: 'pipe',
  });
  // Whoever is called `locked` must say a password.
  const rules = join(data, 'pg_hba.conf');
  writeFileSync(rules, `local all locked scram-sha-256\n${readFileSync(rules, 'utf8')}`);
  // With hundreds of databases the server would start a process to vacuum one of them several times a second.
  const settings = ['listen_addresses=', 'fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=80'];
  const log = openSync(join(folder, 'log'), 'w');
  const server = spawn(run('postgres'), ['-D', data, '-k', folder, ...settings.flatMap((each) => ['-c', each])], {
    ...options,
    stdio: ['ignore', log, log],
    // It outlives the file that started it; `stopPostgres` ends it.
    detached: true,
  });
  server.unref();
  writeFileSync(join(folder, 'pid'), String(server.pid));
  endWithTheRun(server.pid ?? 0, folder, options);
  while (!readFileSync(join(folder, 'log'), 'utf8').includes('ready to accept connections')) {
    if (server.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8'));
    await sleep(20);
  }
  writeFileSync(join(folder, 'ready'), '');
}

/** A run that is interrupted or killed leaves no server behind: once its first process is gone, this ends the server. */
export function endWithTheRun(pid: number, folder: string, options: Options): void {
  const [run] = /\d+/u.exec(basename(process.env.SVC_TEST_POSTGRES ?? '')) ?? [];
  const waiting = `while kill -0 ${pid} && [ -d /proc/${run} ]; do sleep 2; done
if [ -d /proc/${run} ] || [ ! -d "$0" ]; then exit; fi
kill -INT ${pid}; while kill -0 ${pid}; do sleep 1; done; rm -rf "$0"`;
  spawn('/bin/sh', ['-c', waiting, folder], { ...options, cwd: '/', stdio: 'ignore', detached: true }).unref();
}

/** After the last test: the one that is shared by all, and those of the workers. */
export async function stopPostgres(shared: string): Promise<void> {
  const isOurs = (name: string) => name === basename(shared) || name.startsWith(`${basename(shared)}-`);
  const folders = readdirSync(dirname(shared)).filter(isOurs);
  await Promise.all(folders.map((name) => stop(join(dirname(shared), name))));
}

async function stop(folder: string): Promise<void> {
  try {
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGINT');
    for (let waited = 0; waited < 1_200 && existsSync(join(folder, 'data', 'postmaster.pid')); waited++)
      await sleep(50);
  } catch {
    // It was not started, or has ended by itself.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
