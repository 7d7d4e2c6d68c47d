import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';

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

const programs = folderOfPrograms();

/** A `test` that needs a PostgreSQL server: skipped with a reason where there is none, a failure in CI. */
export const withPostgres: typeof test = programs
  ? test
  : (((title: string) =>
      test(title, (context) => {
        const reason = `not installed here: postgresql (looked in ${versions})`;
        if (!process.env.CI) context.skip(reason);
        throw new Error(reason);
      })) as unknown as typeof test);

export type PostgresServer = {
  url(database: string): string;
  sql(database: string, text: string): string;
  /** Pulls the plug: what was committed stays. */
  crash(): Promise<void>;
  /** Starts it again, after a crash. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** The server refuses to run as root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A real server on a socket in a folder of its own, outside of the test's, which other users cannot enter; undefined where PostgreSQL is not installed. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  if (!programs) return undefined;
  const as = account();
  const folder = mkdtempSync('/tmp/svc-pg-');
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } } as const;
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8', '-N'], options);
  const start = async () => {
    const started = spawn(
      join(programs, 'postgres'),
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
      execFileSync(join(programs, 'psql'), ['-h', folder, '-U', 'svc', '-d', database, '-Atqc', text], {
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
