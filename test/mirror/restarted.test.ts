// @module-tag long
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { account, programs, withPostgres } from './postgres-server.ts';
import { request } from './truth.ts';

// A real server of its own: the one that the other tests share must not be stopped.

// Outside of the tests' folder, which the server's user cannot enter.
const folder = mkdtempSync(`${process.env.SVC_TEST_POSTGRES ?? join(tmpdir(), 'svc')}-restart-`);
const as = account();

const run = (program: string, argv: readonly string[]) =>
  execFileSync(join(programs ?? '', program), argv, {
    ...as,
    cwd: folder,
    // What the server inherits it would keep open.
    stdio: 'ignore',
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
  });

const data = join(folder, 'data');
const control = (what: 'start' | 'stop') =>
  run('pg_ctl', [
    ...['-D', data, '-w', '-m', 'fast', '-l', join(folder, 'log')],
    ...['-o', `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`, what],
  ]);

afterAll(() => {
  try {
    control('stop');
  } catch {
    // It is not installed, or was stopped by the test.
  }
  rmSync(folder, { recursive: true, force: true });
});

withPostgres(test)('watch --name outlives a restart of PostgreSQL, and tells every change once', async () => {
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8', '-N']);
  control('start');
  const world = sandboxWorld({ rateLimit: 'off' });
  const env = { ...world.env, SVC_MIRROR_DB: `postgres:///postgres?host=${folder}&user=svc` };
  const end = new AbortController();
  let round = 0;
  const exchange: typeof world.exchange = async (asked) => {
    if (/\/tickets\?page=1&/u.test(asked.url)) {
      round++;
      if (round === 2) {
        await request(world, 'PATCH', '/tickets/8', { subject: 'Before it went away' });
        control('stop');
      }
      if (round === 4) await request(world, 'PATCH', '/tickets/8', { subject: 'After it came back' });
      if (round === 6) end.abort('SIGINT');
    }
    return world.exchange(asked);
  };
  let isUp = true;
  let said = '';
  const seen = (stream: string, text: string) => {
    if (stream === 'stderr') said += text;
    if (isUp && said.includes('Trying again')) {
      isUp = false;
      control('start');
    }
  };
  const ran = await svc({ ...world, env, exchange }, ['watch', 'tickets', '--name', 'crm', '--json'], {
    signal: end.signal,
    seen,
  });
  expect({ code: ran.exitCode, stderr: ran.exitCode === 0 ? '' : ran.stderr }).toEqual({ code: 0, stderr: '' });
  expect(ran.stderr).toContain('cannot be reached');
  expect(ran.stderr).toContain('The database answers again.');
  const told = ran.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).after.subject);
  expect(told).toEqual(['Before it went away', 'After it came back']);
});
