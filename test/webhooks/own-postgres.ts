import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { account, withPostgres as neededPostgres, programs } from '../mirror/postgres-server.ts';

export const withPostgres = neededPostgres(test);

export type PostgresServer = {
  url(database: string): string;
  sql(database: string, text: string): string;
  /** Pulls the plug: what was committed stays. */
  crash(): Promise<void>;
  /** Starts it again, after a crash. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** A real server on a socket in a folder of its own, outside of the test's, which other users cannot enter; undefined where PostgreSQL is not installed. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const bin = programs;
  if (!bin) return undefined;
  const as = account();
  const folder = mkdtempSync('/tmp/svc-pg-');
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8', '-N'], options);
  const start = async () => {
    const started = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=40'],
      options,
    );
    await new Promise<void>((ready, failed) => {
      let said = '';
      started.stderr.on('data', (text) => {
        said += text;
        if (said.includes('ready to accept connections')) ready();
      });
      started.once('exit', () => failed(new Error(said)));
    });
    return started;
  };
  let server = await start();
  const end = async () => {
    server.kill('SIGQUIT');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  };
  return {
    url: (database) => `postgres:///${database}?host=${folder}&user=svc`,
    sql: (database, text) =>
      execFileSync(join(bin, 'psql'), ['-h', folder, '-U', 'svc', '-d', database, '-Atqc', text], {
        ...options,
        encoding: 'utf8',
      }),
    crash: end,
    async start() {
      server = await start();
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
