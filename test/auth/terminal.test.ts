import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { clients } from '../../src/sandbox/store/seed.ts';
import { type Built, buildSvc } from '../built.ts';
import { freePort } from '../free-port.ts';
import { visit } from './auth-world.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

let sandbox: Sandbox;
let server: Server;
let redirectUri: string;
let env: Record<string, string>;
let running: IPty[] = [];

beforeEach(async () => {
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const registered = clients.map((client) => ({ ...client, redirect_uris: [redirectUri] }));
  sandbox = createSandbox({ seed: { clients: registered }, consent: 'auto' });
  server = await serve(sandbox, 0);
  const home = await mkdtemp(join(built.folder, 'home-'));
  const origin = `http://127.0.0.1:${server.port}`;
  env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    NO_COLOR: '1',
    SVC_CONFIG_DIR: join(home, 'config'),
    SVC_STATE_DIR: join(home, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_BASE_URL: origin,
    SVC_AUTH_URL: origin,
    SVC_CLIENT_ID: 'sandbox_cli',
  };
});
afterEach(async () => {
  for (const one of running) one.kill('SIGKILL');
  running = [];
  await server.close();
});

/** svc at a real pseudo-terminal, wide enough that no address is broken. */
function terminal(...argv: string[]) {
  const pty = spawn(process.execPath, [built.script, ...argv], { cols: 1000, rows: 40, env });
  running.push(pty);
  let screen = '';
  pty.onData((text) => {
    screen += text;
  });
  const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  return {
    ended,
    screen: () => screen,
    type: (text: string) => pty.write(text),
    shows: (what: RegExp) => expect.poll(() => screen).toMatch(what),
  };
}

test('an API key is asked for at the terminal, masked, and works from then on', async () => {
  const { shows, type, ended, screen } = terminal('login', '--with-api-key');
  await shows(/API key:/u);
  type('key_acme\r');
  expect(await ended).toBe(0);
  expect(screen()).toContain('********');
  expect(screen()).not.toContain('key_acme');
  expect(screen()).toContain('Logged in to Acme (account 1)');
});

test('without a browser the secret is asked for, the address printed, and the redirected one pasted back', {
  tags: ['long'],
}, async () => {
  const { shows, type, ended, screen } = terminal('login', '--no-browser', '--redirect-uri', redirectUri);
  await shows(/Client secret:/u);
  type('sandbox_secret\r');
  await shows(/paste the address/u);
  type(`${redirectUri}?code=x&state=forged\r`);
  await shows(/its state differs/u);
  const [url = ''] = /http:\S+authorize\?\S+/u.exec(screen()) ?? [];
  const { pathname, search, host } = new URL(url);
  const { headers } = await sandbox.handle({ method: 'GET', url: pathname + search, headers: { host } });
  type(`${headers.location}\r`);
  expect(await ended).toBe(0);
  expect(screen()).toContain('Logged in to Acme');
  expect(screen()).not.toContain('sandbox_secret');

  // The client's secret was kept: the next time nobody asks.
  const again = terminal('login', '--no-browser', '--redirect-uri', redirectUri);
  await again.shows(/paste the address/u);
  expect(again.screen()).not.toContain('Client secret:');
});

test('while the address may be pasted, the browser can still come back by itself', { tags: ['long'] }, async () => {
  env.SVC_CLIENT_SECRET = 'sandbox_secret';
  const { shows, ended, screen } = terminal('login', '--no-browser', '--redirect-uri', redirectUri);
  await shows(/paste the address/u);
  const [url = ''] = /http:\S+authorize\?\S+/u.exec(screen()) ?? [];
  const { pathname, search, host } = new URL(url);
  const { headers } = await sandbox.handle({ method: 'GET', url: pathname + search, headers: { host } });
  expect((await visit(String(headers.location))).body).toContain('svc is connected to Acme');
  expect(await ended).toBe(0);
  await shows(/Logged in to Acme/u);
});

test('Ctrl-C at the prompt ends with 130, and nothing is stored', { tags: ['long'] }, async () => {
  const { shows, type, ended } = terminal('login', '--with-api-key');
  await shows(/API key:/u);
  type('\u0003');
  expect(await ended).toBe(130);
});

test('Ctrl-C while the browser is waited for ends with 130', { tags: ['long'] }, async () => {
  Object.assign(env, { SVC_CLIENT_SECRET: 'sandbox_secret', BROWSER: 'true' });
  const { shows, type, ended } = terminal('login', '--redirect-uri', redirectUri);
  await shows(/The browser opens/u);
  type('\u0003');
  expect(await ended).toBe(130);
});
