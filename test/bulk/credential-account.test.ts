// An answer for the account that was meant for somebody else: the history of rows must not be looked for there.
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { loggedIn } from '../auth/auth-world.ts';
import { asksAccount, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const argv = ['tickets', 'create', '--from', '-', '--json'];
const stdin = 'subject\nRow 1\nRow 2\n';
const globex = JSON.stringify({ account_id: 2, name: 'Globex', billing_active: true, setup_url: null });

function mixedUp(world: SandboxWorld): SandboxWorld {
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    return asksAccount(request) ? { ...answer, body: globex } : answer;
  };
  return { ...world, exchange };
}

const creations = ({ sent }: SandboxWorld) => sent.filter((line) => line === 'POST /tickets').length;

test.each([
  ['the first run', [mixedUp, (world: SandboxWorld) => world]],
  ['the second run', [(world: SandboxWorld) => world, mixedUp]],
])('%s is answered with another account: the second sends nothing, exit 4', async (_, [first, second]) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  expect((await svc(first?.(world) ?? world, argv, { stdin })).exitCode).toBe(0);
  const ran = await svc(second?.(world) ?? world, argv, { stdin });
  expect(ran).toMatchObject({ exitCode: 4, stdout: '' });
  expect(ran.stderr).toContain('Nothing was sent now.');
  expect(creations(world)).toBe(2);
});

test('contacts sync stops in the same way', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const sync = ['contacts', 'sync', '-', '--yes', '--json'];
  const contacts = { stdin: 'email,name\nann@example.com,Ann\n' };
  expect((await svc(world, sync, contacts)).exitCode).toBe(0);
  expect((await svc(mixedUp(world), sync, contacts)).exitCode).toBe(4);
});

test('keys of two accounts on one machine, and a login that is refreshed, are each of their own', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  for (const key of ['key_acme', 'key_globex', 'key_acme', 'key_globex']) {
    const ran = await svc(world, argv, { stdin, env: { SVC_API_KEY: key } });
    expect(ran.exitCode, ran.stderr).toBe(0);
  }
  expect(creations(world)).toBe(4);
  const login = await loggedIn();
  let id = 900;
  login.override = ({ method, url, body }) =>
    method === 'POST' && url.endsWith('/tickets')
      ? { status: 201, headers: {}, body: JSON.stringify({ ticket: { id: ++id, ...JSON.parse(String(body)) } }) }
      : undefined;
  for (const rows of ['subject\nRow 1\n', 'subject\nRow 2\n']) {
    const ran = await login.svc(argv, { stdin: rows });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect((await login.svc(['auth', 'refresh'])).exitCode).toBe(0);
  }
});
