import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { account, endWithTheRun, withPostgres as neededPostgres, programs } from '../mirror/postgres-server.ts';

export const withPostgres = neededPostgres(test);

export type PostgresServer = {
  url(database: string): string;
  sql(database: string, text: string): string;
  /** The same while svc goes on beside it: what waits for a lock that svc holds would wait for ever, were svc held up. */
  sqlBeside(database: string, text: string): Promise<string>;
  /** Pulls the plug: what was committed stays. */
  crash(): Promise<void>;
  /** Starts it again, after a crash. */
  start(): Promise<void>;
};

let own: PostgresServer | undefined;

/**
 * A real server that a test may crash, on a socket in a folder of its own, outside of the test's, which other users cannot
 * enter; undefined where PostgreSQL is not installed. The files of one worker, which run one after the other, share it:
 * making one costs more than most of them. It runs when this returns, and `stopPostgres` ends it after the last test.
 */
export async function ownPostgres(): Promise<PostgresServer | undefined> {
  if (!programs) return undefined;
  own ??= make(programs, mkdtempSync(`${process.env.SVC_TEST_POSTGRES}-`));
  await own.start();
  return own;
}

function make(bin: string, folder: string): PostgresServer {
  const as = account();
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8', '-N'], options);
  const settings = ['listen_addresses=', 'fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=40'];
  const argv = ['-D', data, '-k', folder, ...settings.flatMap((each) => ['-c', each])];
  const psqlWith = (database: string, text: string) => ['-h', folder, '-U', 'svc', '-d', database, '-Atqc', text];
  let server: ChildProcess | undefined;
  const isRunning = () => server?.exitCode === null && server.signalCode === null;
  return {
    url: (database) => `postgres:///${database}?host=${folder}&user=svc`,
    sql: (database, text) =>
      execFileSync(join(bin, 'psql'), psqlWith(database, text), { ...options, encoding: 'utf8' }),
    async sqlBeside(database, text) {
      const { stdout } = await promisify(execFile)(join(bin, 'psql'), psqlWith(database, text), options);
      return String(stdout);
    },
    async crash() {
      server?.kill('SIGQUIT');
      if (server && isRunning()) await once(server, 'exit');
    },
    async start() {
      if (isRunning()) return;
      const started = spawn(join(bin, 'postgres'), argv, options);
      server = started;
      writeFileSync(join(folder, 'pid'), String(started.pid));
      endWithTheRun(started.pid ?? 0, folder, options);
      await new Promise<void>((ready, failed) => {
        let said = '';
        started.stderr.on('data', (text) => {
          said += text;
          if (said.includes('ready to accept connections')) ready();
        });
        started.once('exit', () => failed(new Error(said)));
      });
    },
  };
}
