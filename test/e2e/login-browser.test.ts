import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { real, whereIs } from '../real-component.ts';
import { sampleClient } from '../sandbox/oauth-world.ts';

const inBrowser = real('chromium');

// Nothing is replaced here: the built tool serves the sandbox, the built tool logs in, a browser shows both pages.

let built: Built;
let browser: Browser | undefined;
let sandbox: ReturnType<typeof start>;
let env: Record<string, string>;
let redirectUri: string;

beforeAll(async () => {
  const executablePath = whereIs('chromium');
  if (!executablePath) return;
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  [built, browser] = await Promise.all([
    buildSvc(),
    chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet] }),
  ]);
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const seed = join(built.folder, 'seed.json');
  await writeFile(seed, JSON.stringify({ clients: [{ ...sampleClient, redirect_uris: [redirectUri] }] }));
  env = {
    SVC_CONFIG_DIR: join(built.folder, 'config'),
    SVC_STATE_DIR: join(built.folder, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_CLIENT_ID: sampleClient.client_id,
    SVC_CLIENT_SECRET: sampleClient.client_secret,
  };
  sandbox = start('sandbox', 'start', '--port', '0', '--seed', seed, '--json');
  const { base_url } = JSON.parse(await printed(sandbox.stdout, /^\{.*\}$/msu)) as { base_url: string };
  env = { ...env, SVC_BASE_URL: base_url, SVC_AUTH_URL: base_url };
});
afterAll(async () => {
  sandbox?.kill('SIGTERM');
  await Promise.all([sandbox, browser?.close()]);
  await built?.remove();
});

const start = (...argv: string[]) => execa(process.execPath, [built.script, ...argv], { env, reject: false });

/** What a process has printed, once it holds what is waited for: the first group, or all that matches. */
function printed(output: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += chunk;
      const found = pattern.exec(text);
      if (found) resolve(found[1] ?? found[0]);
    });
    output.on('end', () => reject(new Error(`never printed: ${pattern}\n${text}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Logs in as a person does: the printed address, the page, its buttons. Returns what the browser shows in the end. */
async function logIn(press: 'Allow' | 'Deny', untick: string[] = []) {
  const login = start('login', '--no-browser', '--redirect-uri', redirectUri);
  // At once: what was printed before somebody looks is gone.
  const address = printed(login.stderr, /(http:\/\/\S+)\s/u);
  const page = await (browser as Browser).newPage();
  await page.goto(await address);
  for (const scope of untick) await page.getByRole('checkbox', { name: scope }).uncheck();
  await page.getByRole('button', { name: press }).click();
  const { exitCode, stderr } = await login;
  return { exitCode, stderr, address: page.url(), shown: await page.locator('body').textContent() };
}

inBrowser('svc login: the browser asks, the customer unticks a scope, svc has the others', async () => {
  const { exitCode, address, shown } = await logIn('Allow', ['webhooks:manage']);
  expect(exitCode).toBe(0);
  expect(address.startsWith(`${redirectUri}?code=`)).toBe(true);
  expect(shown).toMatch(/close/iu);

  const { stdout } = await start('auth', 'status', '--json');
  const status = JSON.parse(stdout) as { account: object; credentials: { missing_scopes: string[] }[] };
  expect(status.account).toMatchObject({ id: 1, name: 'Acme' });
  expect(status.credentials[0]?.missing_scopes).toEqual(['webhooks:manage']);
});

inBrowser('svc login: a customer who denies is told so in the browser, and svc ends with exit 4', async () => {
  const { exitCode, stderr, shown } = await logIn('Deny');
  expect([exitCode, shown]).toEqual([4, expect.stringMatching(/declined|denied|not succeed/iu)]);
  expect(stderr).toMatch(/declined|denied/iu);
});
