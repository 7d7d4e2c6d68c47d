import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { clients } from '../../src/sandbox/store/seed.ts';
import { htmlText } from '../../src/text/html.ts';
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
    await expect.poll(url).not.toBe('');
    return url();
  };
  return { child, ended, address };
}

inBrowser(
  'the customer allows in the consent page; the terminal and the page name the account',
  { tags: ['long'] },
  async () => {
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
  },
);

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

inBrowser('a page of another origin cannot end the login, nor start one of its own', { tags: ['long'] }, async () => {
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

/** A browser of one's own, which writes down what it is given and stays until the file of it is gone. */
async function ownBrowser() {
  const [script, seen, tmp] = ['my-browser', 'seen', 'tmp'].map((name) => join(env.HOME as string, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(tmp);
  const given = '"$'.concat('{@: -1}"');
  const lines = [
    '#!/bin/bash',
    `printf '%s\\n' ${given} > ${seen}.part && mv ${seen}.part ${seen}`,
    `path=${given}; while [ -e "\${path#*file://}" ]; do sleep 0.05; done`,
  ];
  await writeFile(script, `${lines.join('\n')}\n`);
  await chmod(script, 0o755);
  const argument = async () => {
    await expect.poll(() => existsSync(seen)).toBe(true);
    const text = readFileSync(seen, 'utf8').trim();
    await rm(seen);
    return text;
  };
  return { variables: { BROWSER: script, TMPDIR: tmp }, argument, left: () => readdirSync(tmp) };
}

/** The argument lists of all processes, as any user can read them. */
const everyArgument = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');

inBrowser(
  'the browser that BROWSER names is given a file, for the owner alone, that leads to the address and is gone after the visit',
  { tags: ['long'] },
  async () => {
    const own = await ownBrowser();
    const { ended, address } = start(['login', '--redirect-uri', redirectUri], own.variables);
    const [argument, printed] = [await own.argument(), await address()];
    const path = fileURLToPath(argument);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    const { searchParams } = new URL(printed);
    // Whatever svc has started is still running, and everybody may look at it.
    expect(everyArgument()).toContain(argument);
    for (const secret of ['state', 'code_challenge']) expect(everyArgument()).not.toContain(searchParams.get(secret));
    const page = await (browser as Browser).newPage();
    await page.goto(argument);
    await page.waitForURL(printed);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'svc is connected to' }).waitFor();
    expect((await ended).code).toBe(0);
    expect(own.left()).toEqual([]);
  },
);

inBrowser('the system’s own way to open a browser is given the file as well', { tags: ['long'] }, async () => {
  const own = await ownBrowser();
  await symlink(own.variables.BROWSER, join(env.HOME as string, 'xdg-open'));
  const { child, ended, address } = start(['login', '--redirect-uri', redirectUri], {
    TMPDIR: own.variables.TMPDIR,
    DISPLAY: ':99',
    PATH: `${env.HOME}:${env.PATH}`,
  });
  const [path, printed] = [await own.argument(), await address()];
  expect(readFileSync(path, 'utf8')).toContain(htmlText(printed));
  expect(everyArgument()).toContain(path);
  expect(everyArgument()).not.toContain(new URL(printed).searchParams.get('state'));
  child.kill('SIGTERM');
  await ended;
  expect(own.left()).toEqual([]);
});

inBrowser('BROWSER may say with %s where the file goes', { tags: ['long'] }, async () => {
  const own = await ownBrowser();
  const BROWSER = `${own.variables.BROWSER} --quiet --at=%s`;
  const { child, ended } = start(['login', '--redirect-uri', redirectUri], { ...own.variables, BROWSER });
  expect(await own.argument()).toMatch(/^--at=file:\/\/\/\S+\.html$/u);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(143);
});

inBrowser.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s takes the file away', { tags: ['long'] }, async (signal, code) => {
  const own = await ownBrowser();
  const { child, ended } = start(['login', '--redirect-uri', redirectUri], own.variables);
  await own.argument();
  expect(own.left()).toHaveLength(1);
  child.kill(signal);
  expect((await ended).code).toBe(code);
  expect(own.left()).toEqual([]);
});

test('so does a second stop while the browser is still being opened', { tags: ['long'] }, async () => {
  const own = await ownBrowser();
  const stops = '#!/bin/sh\nwhile kill -TERM $PPID; do sleep 0.05; done\n';
  await writeFile(join(env.HOME as string, 'xdg-open'), stops, { mode: 0o755 });
  const { ended } = start(['login', '--redirect-uri', redirectUri], {
    TMPDIR: own.variables.TMPDIR,
    DISPLAY: ':99',
    PATH: `${env.HOME}:${env.PATH}`,
  });
  expect((await ended).code).toBe(143);
  expect(own.left()).toEqual([]);
});

inBrowser(
  'what a killed svc left is taken away by the next one that opens a browser, and a running one keeps its own',
  { tags: ['long'] },
  async () => {
    const own = await ownBrowser();
    const killed = start(['login', '--redirect-uri', redirectUri], own.variables);
    await own.argument();
    killed.child.kill('SIGKILL');
    await killed.ended;
    const [left] = own.left();
    const next = start(['login', '--redirect-uri', redirectUri], own.variables);
    await own.argument();
    expect(own.left()).toHaveLength(1);
    expect(own.left()).not.toContain(left);
    const other = start(['login', '--redirect-uri', `${redirectUri}/other`], own.variables);
    await other.ended;
    expect(own.left()).toHaveLength(1);
    next.child.kill('SIGTERM');
    await next.ended;
  },
);

inBrowser(
  'in a terminal whose browser is on another machine none is opened, and the address is printed',
  { tags: ['long'] },
  async () => {
    const own = await ownBrowser();
    const { child, ended, address } = start(['login', '--redirect-uri', redirectUri], {
      ...own.variables,
      VSCODE_IPC_HOOK_CLI: '/run/somewhere.sock',
    });
    expect(await address()).toContain('code_challenge');
    expect(own.left()).toEqual([]);
    child.kill('SIGTERM');
    expect((await ended).stderr).toContain('Open this address in a browser to log in');
  },
);

inBrowser(
  'where another program holds the port, the address that the browser shows is pasted back',
  { tags: ['long'] },
  async () => {
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
  },
);
