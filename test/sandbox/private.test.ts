// A sandbox with a copy of a real account tells nothing to whoever has no key; and none answers to another site's name.
import { hash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { type OpenOptions, openSandbox, type Running } from '../../src/sandbox/open.ts';

const open: Running[] = [];
afterEach(async () => {
  for (const running of open.splice(0)) await running.close();
});

async function started(options: Partial<OpenOptions>) {
  const running = await openSandbox({ port: 0, ...options }, () => {});
  open.push(running);
  return running;
}

type Asking = { readonly method?: string; readonly headers?: OutgoingHttpHeaders; readonly body?: string };

const ask = ({ address }: Running, path: string, { method = 'GET', headers = {}, body }: Asking = {}) =>
  new Promise<{ status: number; location: string; body: string }>((answered, failed) => {
    const sending = request({ port: address.port, host: '127.0.0.1', method, path, headers }, (answer) => {
      const { statusCode: status = 0, headers: told } = answer;
      text(answer).then((body) => answered({ status, location: told.location ?? '', body }), failed);
    });
    sending.on('error', failed).end(body);
  });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const person = { name: 'Ada', last_name: 'Real', email: 'ada@real.test', phone: '+14155550901' };
const copy = { name: 'mirror', value: { contacts: [{ contact_id: 7, account_id: 1, ...person }] } };

const redirect_uri = 'http://127.0.0.1:8976/callback';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const code_verifier = 'v'.repeat(43);

function authorizing({ address: { client_id } }: Running): string {
  const code_challenge = hash('sha256', code_verifier, 'base64url');
  const asked = { response_type: 'code', client_id, redirect_uri, scope: 'contacts:read', code_challenge };
  return `/oauth/platform/authorize?${new URLSearchParams({ ...asked, code_challenge_method: 'S256' })}`;
}

/** Whoever comes to the consent page, which lets everybody in, goes on with that secret. */
async function tokensOf(running: Running, client_secret: string) {
  const client_id = running.address.client_id;
  const { location } = await ask(running, authorizing(running));
  const code = new URL(location).searchParams.get('code') ?? '';
  const given = { grant_type: 'authorization_code', code, redirect_uri, code_verifier, client_id, client_secret };
  return ask(running, '/oauth/platform/token', {
    method: 'POST',
    headers: form,
    body: `${new URLSearchParams(given)}`,
  });
}

/** Nothing of it is told to who knows what everybody does, all of it to who has its keys. */
async function expectPrivate(running: Running): Promise<void> {
  const { api_key: key = '' } = running.address.accounts[0] ?? {};
  const { client_secret, m2m_token, api_keys } = running.address;
  const secrets = [...Object.values(api_keys), client_secret, m2m_token];
  expect(new Set(secrets).size).toBe(4);
  for (const secret of secrets) expect(secret).toMatch(/_mirror_[\w-]{43}$/u);
  for (const token of ['key_acme', 'key_globex', 'm2m_sandbox', 'undefined', ''])
    for (const path of ['/contacts', '/platform/account', '/_sandbox/state', '/_sandbox/log'])
      expect((await ask(running, path, { headers: bearer(token) })).status, `${path} with ${token}`).toBe(401);
  for (const path of ['/contacts', '/_sandbox/state']) expect((await ask(running, path)).status).toBe(401);
  const posted = { method: 'POST', body: '{"account_id":1}' };
  for (const name of ['tokens', 'reset', 'emit'])
    expect((await ask(running, `/_sandbox/${name}`, posted)).status, name).toBe(401);
  expect((await tokensOf(running, 'sandbox_secret')).status).toBe(401);
  expect((await ask(running, '/contacts', { headers: bearer(key) })).body).toContain('ada@real.test');
  expect((await ask(running, '/_sandbox/state', { headers: bearer(key) })).body).toContain('ada@real.test');
  const { access_token: token } = JSON.parse((await tokensOf(running, client_secret)).body);
  expect((await ask(running, '/contacts', { headers: bearer(token) })).body).toContain('ada@real.test');
  // Whom the customer let in may call the service, and does not control it.
  expect((await ask(running, '/_sandbox/state', { headers: bearer(token) })).status).toBe(401);
}

describe('a copy of an account', () => {
  test('is shown to who has its keys alone, which are others each time', async () => {
    const [one, other] = [await started({ seed: copy, consent: 'auto' }), await started({ seed: copy })];
    await expectPrivate(one);
    expect(one.address.accounts[0]?.api_key).not.toBe(other.address.accounts[0]?.api_key);
    const { api_key: key = '' } = one.address.accounts[0] ?? {};
    expect((await ask(one, '/_sandbox/log', { headers: bearer(key) })).body).not.toMatch(/_mirror_/u);
  });

  test('has no name on the consent page', async () => {
    const named = { ...copy.value, accounts: [{ account_id: 1, name: 'Real Account' }] };
    const page = await ask(await started({ seed: { ...copy, value: named } }), authorizing(open[0] as Running));
    expect([page.status, page.body.includes('Account 1'), page.body.includes('Real')]).toEqual([200, true, false]);
  });

  test('stays so after a reset', async () => {
    const running = await started({ seed: copy, consent: 'auto' });
    const { api_key: key = '' } = running.address.accounts[0] ?? {};
    expect((await ask(running, '/_sandbox/reset', { method: 'POST', headers: bearer(key) })).status).toBe(200);
    await expectPrivate(running);
  });

  test('stays so in a state file, and in a seed that was made of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-private-'));
    const state = join(folder, 'sandbox.state');
    const first = await started({ seed: copy, state });
    const { api_key: key = '' } = first.address.accounts[0] ?? {};
    const seed = join(folder, 'seed.json');
    writeFileSync(seed, (await ask(first, '/_sandbox/state', { headers: bearer(key) })).body);
    await open.pop()?.close();
    const again = await started({ state, consent: 'auto' });
    await expectPrivate(again);
    expect(again.address.accounts[0]?.api_key).not.toBe(key);
    await expectPrivate(await started({ seed, consent: 'auto' }));
  });

  test('of a state file that an older svc has made is hidden where the seed is named again', async () => {
    const state = join(mkdtempSync(join(tmpdir(), 'svc-private-')), 'sandbox.state');
    const seed = join(mkdtempSync(join(tmpdir(), 'svc-private-')), 'seed.json');
    writeFileSync(seed, JSON.stringify(copy.value));
    await started({ seed, state });
    await open.pop()?.close();
    await expectPrivate(await started({ seed: copy, state, consent: 'auto' }));
  });
});

test.each(['demo', 'empty'])(
  'the seed %s has the keys that everybody knows, and control calls without one',
  async (seed) => {
    const running = await started({ seed });
    expect(running.address).toMatchObject({ api_keys: { Acme: 'key_acme' }, client_secret: 'sandbox_secret' });
    expect((await ask(running, '/contacts', { headers: bearer('key_acme') })).status).toBe(200);
    expect((await ask(running, '/_sandbox/state')).status).toBe(200);
  },
);

describe('whatever it holds', () => {
  const paths = ['/contacts', '/openapi.json', '/oauth/platform/authorize', '/_sandbox/state', '/nowhere'];

  test.each([{ seed: 'demo' }, { seed: 'demo', cors: true }, { seed: copy }])('%j', async (options) => {
    const running = await started(options);
    const headers = bearer(running.address.accounts[0]?.api_key ?? '');
    const hosts = ['evil.example.com', 'localhost.evil.example.com:4010', '127.0.0.1.evil.example.com', '10.0.0.1'];
    for (const host of hosts) {
      for (const path of paths)
        expect((await ask(running, path, { headers: { ...headers, host } })).status, `${host}${path}`).toBe(403);
      const preflight = { host, origin: 'https://x.test', 'access-control-request-method': 'POST' };
      expect((await ask(running, '/contacts', { method: 'OPTIONS', headers: preflight })).status).toBe(403);
    }
    const { port } = running.address;
    const own = [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      'localhost:80',
      `[::1]:${port}`,
      'svc.localhost',
      'LOCALHOST',
    ];
    for (const host of [...own, 'host.docker.internal:4010'])
      expect((await ask(running, '/contacts', { headers: { ...headers, host } })).status, host).toBe(200);
  });
});

test('who has no key is told that it is a random one, and where it stands', async () => {
  const running = await started({ seed: copy });
  for (const path of ['/contacts', '/_sandbox/state'])
    expect((await ask(running, path, { headers: bearer('key_acme') })).body).toMatch(/printed .*when it started/u);
});

test('to start over from such a state takes its key, which is said', async () => {
  const state = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'state.jsonl');
  const said: string[] = [];
  for (const _ of [1, 2]) {
    const running = await openSandbox({ port: 0, seed: copy, state }, (text) => said.push(text));
    await running.close();
  }
  expect(said).toContainEqual(expect.stringContaining('POST /_sandbox/reset with its API key'));
});
