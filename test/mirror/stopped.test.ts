// @module-tag long
// A pull that stands still while it writes, and goes on after another one has had the copy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import nodeSqlite3 from 'node-sqlite3-wasm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeSqlite } from '../../src/mirror/sqlite/node-sqlite.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { entriesBelow } from '../locks.ts';
import { type Ask, asking } from './copy-process.ts';

let built: Built;
let server: { readonly port: number; close(): Promise<void> };
let ask: Ask;
beforeAll(async () => {
  built = await buildSvc();
  server = await serve(createSandbox({ seed: 'demo', rateLimit: 'off' }), 0);
  ask = await asking(`http://127.0.0.1:${server.port}`, run);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});
const { Database } = nodeSqlite3;
const endings = endAfterEach();

function start(folder: string, argv: readonly string[], env: Record<string, string> = {}) {
  const before = ['--require', join(import.meta.dirname, 'kill-at-write.cjs')];
  const child = spawn(process.execPath, [...before, built.script, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
      ...env,
    },
  });
  endings.push(() => child.kill('SIGKILL'));
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
    ([stdout, stderr, [code]]) => ({ code, stdout, stderr }),
  );
  return { child, ended };
}

const run = (folder: string, argv: readonly string[]) => start(folder, argv).ended;

const stateOf = async (pid: number | undefined) =>
  /\) (\S) /u.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.[1];

const newFolder = () => mkdtemp(join(built.folder, 'stopped-'));

/** As svc's own engine reads it. Nobody writes at that time. */
async function copyOf(folder: string): Promise<unknown[]> {
  const db = new Database(join(folder, 'state', 'mirror.db'), { readOnly: true });
  try {
    expect(db.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    return ['contacts', 'tickets', 'ticket_messages', 'changelog'].map((name) =>
      db.all(`SELECT data FROM ${name} ORDER BY 1`),
    );
  } finally {
    db.close();
  }
}

test.runIf(process.platform === 'linux').for([
  ['before', 'journal', 1],
  ['before', 'database', 1],
  ['before', 'database', 4],
  ['behind', 'database', 4],
  ['behind', 'database', 90],
  ['before', 'journal', 60],
] as const)(
  'stopped %s a write of the %s (%i), it writes nothing more to the copy, and ends with exit 1',
  async ([side, where, at], context) => {
    if (nodeSqlite())
      context.skip('Node has SQLite of its own here: the locks of the system keep a paused writer alone.');
    const folder = await newFolder();
    const first = start(folder, ['mirror', 'pull'], {
      [side === 'before' ? 'STOP_AT' : 'STOP_BEHIND']: String(at),
      KILL_IN: where,
    });
    while ((await stateOf(first.child.pid)) !== 'T') {
      if (first.child.exitCode !== null) throw new Error((await first.ended).stderr);
      await sleep(5);
    }
    // As somebody does who believes that it is gone.
    const entries = entriesBelow(folder);
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) await rm(entry);
    const other = await ask(folder, ['mirror', 'pull']);
    expect(other, other.stderr).toMatchObject({ code: 0 });
    const whole = await copyOf(folder);
    first.child.kill('SIGCONT');
    const { code, stderr } = await first.ended;
    expect(stderr).toMatch(/This svc has lost the copy(?: of this account)?: its entry in \S+ is gone\./u);
    expect(code).toBe(1);
    expect(await copyOf(folder)).toEqual(whole);
    expect((await ask(folder, ['mirror', 'pull'])).code).toBe(0);
  },
);
