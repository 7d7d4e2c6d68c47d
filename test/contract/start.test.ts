// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';

// `svc sandbox start`, as a real process.

let svc: Built;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  svc = await buildSvc();
});
afterAll(() => svc.remove());
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function launch(flags: readonly string[], expected: RegExp = /control/iu) {
  const child = spawn(process.execPath, [svc.script, 'sandbox', 'start', ...flags], {
    env: { PATH: process.env.PATH, HOME: svc.folder, TMPDIR: svc.folder },
  });
  running.add(child);
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      out[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, ...out };
  });
  const up = async () => {
    while (!expected.test(out.stdout)) {
      await Promise.race([once(child.stdout, 'data'), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    }
    return out.stdout;
  };
  return { child, ended, up };
}

const json = async (...flags: string[]) => {
  const { child, ended, up } = launch(['--port', '0', '--json', ...flags], /\}\s*$/u);
  const address = JSON.parse(await up());
  const get = (path: string, headers: Record<string, string> = { authorization: 'Bearer key_acme' }) =>
    fetch(address.base_url + path, { headers, redirect: 'manual' });
  return { child, ended, address, get };
};

test('in a pipe too it prints its URLs and every credential', async () => {
  const { child, ended, up } = launch(['--port', '0'], /_sandbox/u);
  const printed = await up();
  expect(printed).toMatch(/http:\/\/127\.0\.0\.1:\d+/u);
  for (const known of [
    'key_acme',
    'key_globex',
    'sandbox_cli',
    'sandbox_secret',
    'm2m_sandbox',
    '127.0.0.1:8976/callback',
  ]) {
    expect(printed).toContain(known);
  }
  child.kill('SIGINT');
  const { stderr, ...rest } = await ended;
  expect(rest).toMatchObject({ code: 0, signal: null });
  // What to type next, beside the data.
  expect(stderr).toMatch(
    /^The sandbox is up until it is interrupted\. To use it: export SVC_BASE_URL=http:\/\/127\.0\.0\.1:\d+ SVC_API_KEY=key_acme$/mu,
  );
});

test('with --json it is one object, and the service is there when it is printed', async () => {
  const { child, ended, address, get } = await json();
  expect(JSON.stringify(address)).toMatch(/key_acme.*key_globex.*sandbox_cli.*sandbox_secret.*m2m_sandbox/su);
  expect(address.base_url).toBe(address.auth_url);
  expect((await get('/platform/account')).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
});

test('it holds the demo unless told otherwise, with limits and without', async () => {
  const demo = await json();
  const contacts = await (await demo.get('/contacts')).json();
  expect((contacts as { meta: { total: number } }).meta.total).toBeGreaterThanOrEqual(250);
  const empty = await json('--seed', 'empty', '--rate-limit', 'off');
  expect(await (await empty.get('/contacts')).json()).toMatchObject({ contacts: [] });
  const statuses = async (sandbox: typeof demo) =>
    new Set(await Promise.all(Array.from({ length: 65 }, async () => (await sandbox.get('/calls')).status)));
  expect(await statuses(demo)).toEqual(new Set([200, 429]));
  expect(await statuses(empty)).toEqual(new Set([200]));
});

test('a seed may be what GET state gave, and --latency holds every answer back', async () => {
  const first = await json();
  const state = (await (await first.get('/_sandbox/state')).json()) as { accounts: { name: string }[] };
  for (const account of state.accounts) account.name += ' & Sons';
  const file = join(svc.folder, 'seed.json');
  writeFileSync(file, JSON.stringify(state));
  const second = await json('--seed', file, '--latency', '150');
  const began = performance.now();
  expect(await (await second.get('/contacts')).json()).toEqual(await (await first.get('/contacts')).json());
  expect(performance.now() - began).toBeGreaterThanOrEqual(145);
  expect(await (await second.get('/_sandbox/state')).json()).toEqual(state);
  // Its accounts by their own names; scripts find each key by its place in the demo.
  expect(second.address).toMatchObject({
    accounts: [{ name: 'Acme & Sons' }, { name: 'Globex & Sons' }],
    api_keys: { Acme: 'key_acme', Globex: 'key_globex' },
  });
});

test('a seed that is none is exit 2 and names what is wrong', async () => {
  const file = join(svc.folder, 'bad.json');
  writeFileSync(file, '{"contacts": [{"name": 5}]}');
  const [wrong, missing] = await Promise.all(
    [file, join(svc.folder, 'none.json')].map((seed) => launch(['--port', '0', '--seed', seed]).ended),
  );
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/bad\.json[\s\S]*contacts/u) });
  expect(missing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('none.json') });
});

test('a port that is in use is a clear error that names it and the way out', async () => {
  const other = createServer();
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const { port } = other.address() as { port: number };
  const { code, stderr } = await launch(['--port', `${port}`]).ended;
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`${port}[\\s\\S]*--port`, 'u'))]);
  other.close();
});

test('flags that are wrong are exit 2', async () => {
  const wrong = [
    ['--port', '70000'],
    ['--port', 'x'],
    ['--rate-limit', 'maybe'],
    ['--consent', 'no'],
    ['--latency', '-1'],
  ];
  const codes = await Promise.all(wrong.map(async (flags) => (await launch(flags).ended).code));
  expect(codes).toEqual(wrong.map(() => 2));
});

test('--consent auto answers the authorization request at once', async () => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'sandbox_cli',
    redirect_uri: 'http://127.0.0.1:8976/callback',
    scope: 'identity',
    state: 'xyz',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const auto = await json('--consent', 'auto');
  const granted = await auto.get(`/oauth/platform/authorize?${query}`, {});
  expect([granted.status, granted.headers.get('location')]).toEqual([
    302,
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:8976\/callback\?code=[^&]+&state=xyz$/u),
  ]);
});

test('--log tells of each request in a line, without its secrets', async () => {
  const { child, ended, get } = await json('--log');
  await get('/contacts?page=2');
  await get('/nowhere?access_token=whsec_abc');
  child.kill('SIGINT');
  const { stderr, code } = await ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^\d\d:\d\d:\d\d {2}GET \/contacts\?page=2 {2}200 {2}api_key\n/u);
  expect(stderr).toMatch(/GET \/nowhere\?access_token=\[redacted\] {2}404/u);
});
