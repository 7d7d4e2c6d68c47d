import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';

// The built tool as a real process against a real sandbox; what kills it is in kill-at-write.cjs.

let built: Built;
let sandbox: Sandbox;
let server: { readonly port: number; close(): Promise<void> };

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'demo', rateLimit: 'off' });
  server = await serve(sandbox, 0);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function start(folder: string, argv: readonly string[], env: Record<string, string> = {}, before: string[] = []) {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  return spawn(process.execPath, [...before, built.script, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
      ...env,
    },
  });
}

async function run(folder: string, argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const before = env.KILL_AT === undefined ? [] : ['--require', join(import.meta.dirname, 'kill-at-write.cjs')];
  const child = start(folder, argv, env, before);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

const newFolder = () => mkdtemp(join(built.folder, 'killed-'));

const counts = async (folder: string) =>
  JSON.parse(
    (
      await run(folder, [
        ...['mirror', 'sql', '--json'],
        'SELECT (SELECT count(*) FROM contacts) AS contacts, (SELECT count(*) FROM tickets) AS tickets, ' +
          '(SELECT count(*) FROM ticket_messages) AS messages, (SELECT count(*) FROM changelog) AS changelog',
      ])
    ).stdout,
  );

describe('a pull that is killed while the database is written', () => {
  test.each([3, 11, 30, 47, 80, 131])('at write %i, the next pull makes it whole', { timeout: 60_000 }, async (at) => {
    const folder = await newFolder();
    const killed = await run(folder, ['mirror', 'pull'], { KILL_AT: String(at) });
    expect(killed.code).toBe(null);
    const next = await run(folder, ['mirror', 'pull', '--json']);
    expect({ code: next.code, stderr: next.code === 0 ? '' : next.stderr }).toEqual({ code: 0, stderr: '' });
    expect(await counts(folder)).toEqual([{ contacts: 264, tickets: 44, messages: 77, changelog: 32 }]);
    const check = await run(folder, ['mirror', 'sql', 'SELECT integrity_check FROM pragma_integrity_check']);
    expect(check.stdout).toBe('ok\n');
  });

  test('what a killed transaction had written is undone, also for a query that only reads', async () => {
    const folder = await newFolder();
    await run(folder, ['mirror', 'pull']);
    const before = await counts(folder);
    // In the middle of a transaction that has begun to write into the database itself.
    const killed = await run(folder, ['mirror', 'pull', '--full'], { KILL_AT: '1', KILL_IN: 'database' });
    expect(killed.code).toBe(null);
    expect(statSync(join(folder, 'state', 'mirror.db-journal')).size).toBeGreaterThan(0);
    expect(await counts(folder)).toEqual(before);
    const check = await run(folder, ['mirror', 'sql', 'SELECT integrity_check FROM pragma_integrity_check']);
    expect(check.stdout).toBe('ok\n');
  });

  test('the copy and its journal can be read by their owner alone', async () => {
    const folder = await newFolder();
    await run(folder, ['mirror', 'pull', '--only', 'lists']);
    for (const name of ['mirror.db', 'mirror.db-journal']) {
      const path = join(folder, 'state', name);
      if (existsSync(path)) expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(existsSync(join(folder, 'state', 'mirror.db.lock'))).toBe(false);
  });
});

test('of two pulls at once one waits for the other, and both end well', async () => {
  const folder = await newFolder();
  const both = await Promise.all([run(folder, ['mirror', 'pull']), run(folder, ['mirror', 'pull'])]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await counts(folder)).toEqual([{ contacts: 264, tickets: 44, messages: 77, changelog: 32 }]);
});
