import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

let sandbox: Sandbox;
let server: Server;
let origin: string;
let env: Record<string, string>;

beforeEach(async () => {
  sandbox = createSandbox({ rateLimit: 'off' });
  server = await serve(sandbox, 0);
  origin = `http://127.0.0.1:${server.port}`;
  const folder = await mkdtemp(join(built.folder, 'home-'));
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    SVC_CONFIG_DIR: join(folder, 'config'),
    SVC_STATE_DIR: join(folder, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_BASE_URL: origin,
    SVC_AUTH_URL: origin,
  };
});
afterEach(() => server.close());

const control = async (method: string, name: string, body?: unknown) => {
  const answer = await sandbox.handle({
    method,
    url: `/_sandbox/${name}`,
    headers: { host: '127.0.0.1', 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return JSON.parse(answer.body);
};

const refreshes = async (): Promise<number> =>
  (await control('GET', 'log')).filter(({ path }: { path: string }) => path.endsWith('/token')).length;

/** A login whose access token has ended. */
async function expiredLogin(): Promise<void> {
  const grant = await control('POST', 'tokens', { account_id: 1, expires_in: 0 });
  const login = {
    base_url: origin,
    auth_url: origin,
    client_id: 'sandbox_cli',
    access_token: grant.access_token,
    refresh_token: grant.refresh_token,
    issued_at: '2020-01-01T00:00:00.000Z',
    expires_at: '2020-01-01T01:00:00.000Z',
    scopes: [],
  };
  const client = { auth_url: origin, client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  const store = openStore({
    folder: env.SVC_CONFIG_DIR as string,
    clock: { sleep: (ms) => sleep(ms) as Promise<void>, ticks: () => performance.now() },
    random: () => new Uint8Array(6),
    warn: () => {},
  });
  await store.update('profile/default/oauth', async () => JSON.stringify(login));
  await store.update('profile/default/client', async () => JSON.stringify(client));
}

type Ended = { readonly code: number | null; readonly stderr: string };

function start(...argv: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [built.script, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  return { child, ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr }))) };
}

test('fifty processes that start with an expired token: one refresh, and all of them succeed', async () => {
  await expiredLogin();
  const all = await Promise.all(Array.from({ length: 50 }, () => start('account', 'get').ended));
  expect(all.filter(({ code }) => code !== 0)).toEqual([]);
  expect(await refreshes()).toBe(1);
});

test('a slow refresh is waited for, not taken over', async () => {
  await expiredLogin();
  await control('POST', 'faults', [{ path: '/oauth/platform/token', action: 'delay', ms: 4000 }]);
  const first = start('account', 'get');
  await sleep(1000);
  const others = [start('account', 'get'), start('account', 'get')];
  const all = await Promise.all([first, ...others].map(({ ended }) => ended));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(await refreshes()).toBe(1);
});

test('SIGKILL at any point of a refresh leaves a login that works, or one that says to log in again', async () => {
  let lost = 0;
  for (let ms = 40; ms <= 260; ms += 20) {
    await expiredLogin();
    const { child, ended } = start('account', 'get');
    await sleep(ms);
    child.kill('SIGKILL');
    await ended;
    // The lock of the dead is taken over at once: nobody waits for a process that is gone.
    const { code, stderr } = await start('account', 'get').ended;
    expect([0, 4]).toContain(code);
    if (code === 4) {
      lost++;
      expect(stderr).toMatch(/has ended.*invalid_grant.*Log in again with: svc login/su);
    }
    JSON.parse(await readFile(join(env.SVC_CONFIG_DIR as string, 'credentials.json'), 'utf8'));
  }
  // Only the short time between the service's answer and our disk can lose one.
  expect(lost).toBeLessThan(6);
}, 60_000);
