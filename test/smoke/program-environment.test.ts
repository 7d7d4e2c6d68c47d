// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { until } from './processes.ts';

// Programs that svc starts, each started for real by the built tool: what of svc's secrets they find in their environment.

const secrets = {
  SVC_API_KEY: 'hidden-1',
  SVC_ACCESS_TOKEN: 'hidden-2',
  SVC_M2M_TOKEN: 'hidden-3',
  SVC_CLIENT_SECRET: 'hidden-4',
  SVC_WEBHOOK_SECRET: 'hidden-5',
  SVC_MIRROR_DB: 'postgres://svc:hidden-6@127.0.0.1:1/copy',
  PGPASSWORD: 'of a database',
};

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());
const endings = endAfterEach();

/** A program under that name which writes its environment down. */
function program(name: string, then = '') {
  const folder = mkdtempSync(join(built.folder, 'program-'));
  const [path, told] = [join(folder, name), join(folder, 'told')];
  writeFileSync(path, `#!/bin/sh\ncat > /dev/null < /dev/null\nenv > ${told}.new\nmv ${told}.new ${told}\n${then}\n`, {
    mode: 0o755,
  });
  return {
    path,
    folder,
    environment: async (): Promise<string> => {
      await until(() => existsSync(told));
      return readFileSync(told, 'utf8');
    },
  };
}

type Env = Readonly<Record<string, string>>;

function run(argv: readonly string[], more: Env = {}): { readonly child: ChildProcess; readonly said: () => string } {
  const state = mkdtempSync(join(built.folder, 'state-'));
  const child = spawn(process.execPath, argv, {
    cwd: built.folder,
    env: {
      PATH: process.env.PATH,
      SVC_CONFIG_DIR: state,
      SVC_STATE_DIR: state,
      SVC_TOKEN_STORE: 'file',
      NODE_DISABLE_COMPILE_CACHE: '1',
      OTHERS: 'kept',
      ...secrets,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      said += text.toString();
    });
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  endings.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, said: () => said };
}

/** Does one thing with the context that svc has when it is started. */
function within(work: string, more: Env = {}) {
  const script = `
const { nodeContext } = require(${JSON.stringify(join(built.script, '..', '..', 'dist', 'main.cjs'))});
const ctx = nodeContext();
const secrets = ${JSON.stringify(secrets)};
for (const name in secrets) if (ctx.env[name] !== secrets[name]) throw new Error('svc itself lacks ' + name);
${work}`;
  return run(['-e', script], more);
}

function expectNoSecret(environment: string, but: readonly string[] = []): void {
  expect(environment).toContain('OTHERS=kept\n');
  for (const name of Object.keys(secrets)) if (!but.includes(name)) expect(environment).not.toContain(`${name}=`);
  expect(environment).not.toContain('hidden-');
}

test('an editor has none of them', async () => {
  const editor = program('editor', 'echo text > "$1"');
  within(`void ctx.ask.edit('text')`, { EDITOR: editor.path });
  expectNoSecret(await editor.environment());
});

test.each(['named', 'usual'])('a pager has none of them: the %s one', async (which) => {
  const pager = program('less');
  const named = which === 'named' ? JSON.stringify(pager.path) : 'undefined';
  within(`void ctx.page(${named}, 'text')`, { PATH: `${pager.folder}:${process.env.PATH}` });
  expectNoSecret(await pager.environment());
});

test.each(['named', 'usual'])('a browser has none of them: the %s one', async (which) => {
  const browser = program('xdg-open');
  const more: Env = which === 'named' ? { BROWSER: browser.path } : { DISPLAY: ':0' };
  within(`void ctx.openBrowser(new URL('http://127.0.0.1:1/'), new AbortController().signal)`, {
    PATH: `${browser.folder}:${process.env.PATH}`,
    ...more,
  });
  expectNoSecret(await browser.environment());
});

test('a tunnel has none of them', async () => {
  const tunnel = program('tunnel', 'echo http://127.0.0.1:1/; exec sleep 60');
  const argv = ['webhooks', 'listen', '--port', '0', '--tunnel', `${tunnel.path} {port}`];
  run([built.script, ...argv], { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: '' });
  expectNoSecret(await tunnel.environment());
});

test("a sink's program has none of them, nor what secrets.env names, but what its exec.env names", async () => {
  const [sink, named] = [program('sink'), program('named')];
  const folder = mkdtempSync(join(built.folder, 'serve-'));
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'serve.yaml');
  writeFileSync(
    config,
    `listen: { port: 0 }\ninbox: inbox\nsecrets: { store: false, env: [ACME_SECRET] }\nsinks: [{ name: sink, exec: { command: [${sink.path}] } }, { name: named, exec: { command: [${named.path}], env: [PGPASSWORD, NONE] } }]\n`,
  );
  const served = run([built.script, 'webhooks', 'serve', '--config', config], { ACME_SECRET: 'hidden-7' });
  await until(() => /Listening on (\S+),/u.test(served.said()));
  const [, url = ''] = /Listening on (\S+),/u.exec(served.said()) ?? [];
  run([built.script, 'webhooks', 'trigger', 'ticket.created', '--to', url], { SVC_WEBHOOK_SECRET: 'hidden-7' });
  const environment = await sink.environment();
  expectNoSecret(environment);
  expect(environment).not.toContain('ACME_SECRET');
  const given = await named.environment();
  expectNoSecret(given, ['PGPASSWORD']);
  expect(given).toContain(`PGPASSWORD=${secrets.PGPASSWORD}\n`);
  expect(given).not.toContain('NONE');
});

test('the program of watch --exec has none of them', async () => {
  const handler = program('handler');
  const sandbox = run([built.script, 'sandbox', 'start', '--port', '0', '--json']);
  await until(() => sandbox.said().includes('\n'));
  const { base_url: SVC_BASE_URL, accounts } = JSON.parse(sandbox.said().split('\n')[0] ?? '');
  const more = { SVC_BASE_URL, SVC_API_KEY: accounts[0].api_key, SVC_ACCESS_TOKEN: '', SVC_M2M_TOKEN: '' };
  const argv = ['watch', 'contacts', '--since', '1d', '--interval', '1', '--exec', handler.path];
  run([built.script, ...argv], { ...more, SVC_MIRROR_DB: 'copy.db', NO_PROXY: '127.0.0.1' });
  const environment = await handler.environment();
  expect(environment).not.toContain(more.SVC_API_KEY);
  // It is no secret where it names a file.
  expect(environment).toContain('SVC_MIRROR_DB=copy.db\n');
  expectNoSecret(environment, ['SVC_MIRROR_DB']);
});

test('a command in a sandbox has what it needs for the sandbox, and nothing of the account outside', async () => {
  const command = program('command');
  run([built.script, 'sandbox', 'exec', '--', command.path]);
  const environment = await command.environment();
  expect(environment).toMatch(/^SVC_API_KEY=key_/mu);
  expect(environment).toMatch(/^SVC_CLIENT_SECRET=./mu);
  // It is the person's own command, which may need a database of theirs.
  expectNoSecret(environment, ['SVC_API_KEY', 'SVC_CLIENT_SECRET', 'PGPASSWORD']);
});
