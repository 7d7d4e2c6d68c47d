import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { clients } from '../../src/sandbox/store/seed.ts';
import { type Built, buildSvc } from '../built.ts';
import { freePort } from '../free-port.ts';
import { real, whereIs } from '../real-component.ts';

const inBrowser = real('chromium');

let built: Built;
let browser: Browser | undefined;
beforeAll(async () => {
  built = await buildSvc();
  const executablePath = whereIs('chromium');
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  if (executablePath) {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
  }
});
afterAll(async () => {
  await browser?.close();
  await built.remove();
});

let server: Server;
let redirectUri: string;
let env: Record<string, string>;
let running: ChildProcess[];

beforeEach(async () => {
  running = [];
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const registered = clients.map((client) => ({ ...client, redirect_uris: [redirectUri, `${redirectUri}/other`] }));
  server = await serve(createSandbox({ seed: { clients: registered }, consent: 'page' }), 0);
  const folder = await mkdtemp(join(built.folder, 'home-'));
  const origin = `http://127.0.0.1:${server.port}`;
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    SVC_CONFIG_DIR: join(folder, 'config'),
    SVC_STATE_DIR: join(folder, 'state'),
    SVC_BASE_URL: origin,
    SVC_AUTH_URL: origin,
    SVC_CLIENT_ID: 'sandbox_cli',
    SVC_CLIENT_SECRET: 'sandbox_secret',
  };
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await server.close();
});

/** svc with a standard input that stays open, as it does where a program started it. */
function start(argv: string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [built.script, ...argv], { env: { ...env, ...more } });
  running.push(child);
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...said })),
  );
  const address = async (): Promise<string> => {
    const url = () => /http:\S+\/authorize\?\S+(?=\s)/u.exec(said.stderr)?.[0] ?? '';
    await expect.poll(url, { timeout: 10_000 }).not.toBe('');
    return url();
  };
  return { child, ended, address };
}

inBrowser('the customer allows in the consent page; the terminal and the page name the account', async () => {
  const { ended, address } = start(['login', '--no-browser', '--redirect-uri', redirectUri]);
  const page = await (browser as Browser).newPage();
  await page.goto(await address());
  await page.getByRole('radio', { name: 'Acme' }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'svc is connected to Acme' }).waitFor();
  await page.getByText('You can close this window').waitFor();
  const ran = await ended;
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in to Acme (account 1)') });
  // No session bus here, so the file is used, and says so.
  expect(ran.stderr).toMatch(/Warning: There is no system keyring here\. Secrets are kept in .*credentials\.json/u);
  const status = await start(['whoami', '--json']).ended;
  expect(JSON.parse(status.stdout)).toMatchObject({ account: { name: 'Acme' }, credentials: [{ valid: true }] });
});

inBrowser('the customer denies; both say so', async () => {
  const { ended, address } = start(['login', '--no-browser', '--redirect-uri', redirectUri]);
  const page = await (browser as Browser).newPage();
  await page.goto(await address());
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByRole('heading', { name: 'The login did not succeed' }).waitFor();
  const ran = await ended;
  expect(ran.code).toBe(4);
  expect(ran.stderr).toContain('declined in the browser');
});

inBrowser('a page of another origin cannot end the login, nor start one of its own', async () => {
  const { ended, address } = start(['login', '--no-browser', '--redirect-uri', redirectUri]);
  const url = await address();
  const state = new URL(url).searchParams.get('state');
  const page = await (browser as Browser).newPage();
  // Even with the state, which it cannot know: an image, a script, a frame and a fetch from elsewhere.
  await page.route('http://evil.example.com/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Evil</title>' }),
  );
  await page.goto('http://evil.example.com/');
  // As text: it runs in the page, whose types these tests do not have.
  const answers = await page.evaluate(`(async (callback) => {
    const load = (name) => new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), { src: callback });
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('refused');
      document.body.append(element);
    });
    const fetched = await fetch(callback).then(() => 'loaded', () => 'refused');
    return [await load('img'), await load('script'), fetched];
  })(${JSON.stringify(`${redirectUri}?code=stolen&state=${state}`)})`);
  expect(answers).toEqual(['refused', 'refused', 'refused']);
  await page.goto(url);
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'svc is connected to' }).waitFor();
  expect((await ended).code).toBe(0);
});

inBrowser('the browser that BROWSER names is opened with the address', async () => {
  const script = join(env.HOME as string, 'my-browser');
  const seen = join(env.HOME as string, 'seen');
  await writeFile(script, `#!/bin/sh\nprintf '%s\\n' "$1" > ${seen}.part && mv ${seen}.part ${seen}\n`);
  await chmod(script, 0o755);
  const { ended, address } = start(['login', '--redirect-uri', redirectUri], { BROWSER: script });
  const printed = await address();
  const page = await (browser as Browser).newPage();
  await page.goto(printed);
  await page.getByRole('button', { name: 'Allow' }).click();
  expect((await ended).code).toBe(0);
  expect((await readFile(seen, 'utf8')).trim()).toBe(printed);
});

inBrowser('where another program holds the port, the address that the browser shows is pasted back', async () => {
  const holder = createServer((_, response) => response.writeHead(404).end('Not yours'));
  await new Promise<void>((resolve) => holder.listen(Number(new URL(redirectUri).port), '127.0.0.1', resolve));
  try {
    const { child, ended, address } = start(['login', '--no-browser', '--redirect-uri', redirectUri]);
    const page = await (browser as Browser).newPage();
    await page.goto(await address());
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirectUri}?**`);
    child.stdin.write(`${page.url()}\n`);
    const ran = await ended;
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in to') });
    expect(ran.stderr).toMatch(/is in use\..* Paste the redirected address instead\./u);
  } finally {
    holder.closeAllConnections();
    holder.close();
  }
});
