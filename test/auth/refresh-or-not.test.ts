import { describe, expect, test } from 'vitest';
import type { Stored } from '../../src/auth/credentials.ts';
import { liveLogin } from '../../src/auth/refresh.ts';
import type { Keyring } from '../../src/auth/store-file.ts';
import type { HttpRequest, HttpResponse, Lost, TokenStore } from '../../src/context.ts';
import { Failure } from '../../src/errors.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { type AuthWorld, loggedIn, loginOf, storeOf } from './auth-world.ts';

const tokenCalls = (world: AuthWorld) => world.sent.filter(({ what }) => what === 'POST /oauth/platform/token');
const isToken = ({ url }: HttpRequest) => url.endsWith('/token');
const error = (status: number, body: object) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const contacts = ['contacts', 'list', '--json'];

/** A login that is changed before svc runs. */
async function changed(left: number, change: Partial<Stored<'oauth'>>): Promise<AuthWorld> {
  const world = await loggedIn({ left });
  const login = { ...(await loginOf(world)), ...change };
  await storeOf(world).update('profile/default/oauth', async () => JSON.stringify(login));
  return world;
}

describe('a login that came without a refresh token', () => {
  const bare = { refresh_token: undefined };

  test.each([3600, 30, 1])('is used to its end: %i s are left', async (left) => {
    const world = await changed(left, bare);
    const before = await loginOf(world);
    expect((await world.svc(contacts)).exitCode).toBe(0);
    expect(tokenCalls(world)).toEqual([]);
    expect(await loginOf(world)).toEqual(before);
  });

  test.each([0, -1])('has ended with its token: %i s are left', async (left) => {
    const world = await changed(left, bare);
    const before = await loginOf(world);
    const ran = await world.svc(contacts);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toContain('The login of profile default has ended (it came without a refresh token).');
    expect(ran.stderr).toContain('Log in again with: svc login');
    expect(world.sent).toEqual([]);
    expect(await loginOf(world)).toEqual(before);
  });

  test.each([3600, 30])('has ended where the service refuses its token though %i s are left', async (left) => {
    const world = await changed(left, bare);
    world.override = () => error(401, { error: 'unauthorized' });
    const ran = await world.svc(contacts);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toContain('it came without a refresh token');
    expect(world.sent).toHaveLength(1);
  });
});

test('an end that cannot be read counts as past', async () => {
  const world = await changed(3600, { expires_at: 'soon' });
  expect((await world.svc(contacts)).exitCode).toBe(0);
  expect(tokenCalls(world)).toHaveLength(1);
  const bare = await changed(3600, { expires_at: 'soon', refresh_token: undefined });
  expect((await bare.svc(contacts)).exitCode).toBe(4);
});

describe('a refresh in vain, with a token that still works for a while', () => {
  const failing = error(500, { error: 'Server error' });

  test('does not matter where it was early', async () => {
    const world = await loggedIn({ left: 30 });
    world.override = (request) => (isToken(request) ? failing : undefined);
    expect((await world.svc(contacts)).exitCode).toBe(0);
    expect(tokenCalls(world)).toHaveLength(1);
  });

  test('is told where it was asked for', async () => {
    const world = await loggedIn({ left: 30 });
    world.override = (request) => (isToken(request) ? failing : undefined);
    expect((await world.svc(['auth', 'refresh'])).exitCode).toBe(9);
  });

  test('is told where the service had refused the token', async () => {
    const world = await loggedIn({ left: 600 });
    world.override = (request) => (isToken(request) ? failing : error(401, { error: 'unauthorized' }));
    const ran = await world.svc(contacts);
    expect(ran.exitCode).toBe(1);
    expect(await loginOf(world)).toBeDefined();
  });

  test('is told where the token has ended', async () => {
    const world = await loggedIn({ left: 0 });
    world.override = (request) => (isToken(request) ? failing : undefined);
    expect((await world.svc(contacts)).exitCode).toBe(1);
  });
});

describe('another process may have refreshed it meanwhile', () => {
  /** Somebody else stores that while svc asks for its turn. */
  async function overtaken(world: AuthWorld, login: object | undefined, argv: readonly string[]) {
    const store = storeOf(world);
    let reads = 0;
    const text = login && JSON.stringify({ ...(await loginOf(world)), ...login });
    world.watch = async ({ url }) => {
      if (!url.includes('/contacts') || reads++ > 0) return;
      await store.update('profile/default/oauth', async () => text);
    };
    world.override = ({ url, headers }) => {
      if (!url.includes('/contacts')) return undefined;
      if (headers.authorization === 'Bearer fresh') return error(200, { contacts: [] });
      return error(401, { error: 'unauthorized' });
    };
    return world.svc(argv);
  }

  test('then its token is used and nothing is refreshed', async () => {
    const world = await loggedIn();
    expect((await overtaken(world, { access_token: 'fresh' }, contacts)).exitCode).toBe(0);
    expect(tokenCalls(world)).toEqual([]);
  });

  test('then it is refreshed again where that token is about to end', async () => {
    const world = await loggedIn();
    await overtaken(world, { access_token: 'older', expires_at: '2026-03-01T12:00:00.000Z' }, contacts);
    expect(tokenCalls(world)).toHaveLength(1);
  });

  test('or has logged out: there is nothing to refresh, and the 401 is told', async () => {
    const world = await loggedIn();
    const ran = await overtaken(world, undefined, contacts);
    expect(ran.exitCode).toBe(4);
    expect(tokenCalls(world)).toEqual([]);
    expect(await loginOf(world)).toBeUndefined();
  });
});

test('what another process has logged out while svc waited for its turn is no login, and nothing is sent', async () => {
  const held = JSON.stringify(await loginOf(await loggedIn({ left: 0 })));
  const tokens: TokenStore = {
    read: async () => held,
    update: (_, change) => change(undefined, async () => {}, false),
    names: async () => [],
    where: async () => 'file',
  };
  const { ctx } = screen();
  expect(await liveLogin({ ...ctx, tokens }, settings, { force: true })).toBeUndefined();
});

describe('a login that cannot be saved', () => {
  const full = new Failure('failed', 'The disk is full.');

  /** `isAsked`: the service is asked before the store fails. */
  async function unsaved(isAsked: boolean, answer?: HttpResponse | Lost): Promise<string> {
    const world = await loggedIn({ left: 0 });
    const held = JSON.stringify(await loginOf(world));
    world.override = (request) => (isToken(request) ? answer : undefined);
    const tokens: TokenStore = {
      ...storeOf(world),
      update: async (_, change) => {
        if (isAsked) await change(held, async () => {}, false);
        throw full;
      },
    };
    const { clock, exchange } = world;
    const ctx = { ...screen().ctx, clock, exchange, tokens };
    return liveLogin(ctx, settings).then(String, ({ message }) => message);
  }

  test('has probably ended where the service has given new tokens', async () => {
    expect(await unsaved(true)).toContain('the login of profile default has probably ended.');
  });

  test('has not where the service was not asked, or has given none', async () => {
    expect(await unsaved(false)).toBe(full.message);
    expect(await unsaved(true, error(401, { error: 'invalid_client' }))).toBe(full.message);
  });
});

test('a refreshed login stays where it was kept, though a keyring is there by now', async () => {
  const world = await loggedIn({ left: 0 });
  const kept = new Map<string, string>();
  const keyring: Keyring = {
    read: async (entry) => kept.get(entry),
    write: async (entry, secret) => void kept.set(entry, secret),
    remove: async (entry) => void kept.delete(entry),
  };
  expect((await world.svc(contacts, { keyring })).exitCode).toBe(0);
  expect(tokenCalls(world)).toHaveLength(1);
  expect([...kept]).toEqual([]);
});

test('a refresh waits for another process no longer than --max-wait', async () => {
  const world = await loggedIn({ left: 0 });
  let finish = () => {};
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const other = storeOf(world).update('profile/default/oauth', async (text) => {
    begun();
    await isFinished;
    return text;
  });
  await isBegun;
  const began = world.clock.ticks();
  const ran = await world.svc([...contacts, '--max-wait', '5']);
  const waitedMs = world.clock.ticks() - began;
  finish();
  await other;
  expect(ran.exitCode).toBeGreaterThan(0);
  expect(waitedMs).toBeLessThan(10_000);
  expect(world.sent).toEqual([]);
});

test('an auth URL that only the configuration names is no reason not to refresh an older login', async () => {
  const world = await loggedIn({ left: 0 });
  const env = { SVC_AUTH_URL: undefined };
  expect((await world.svc(['config', 'set', 'auth_url', 'https://other.example.com'], { env })).exitCode).toBe(0);
  expect((await world.svc(contacts, { env })).exitCode).toBe(0);
  expect(tokenCalls(world)).toHaveLength(1);
});

describe('the client that the login was given to', () => {
  const forgetClient = (world: AuthWorld) => storeOf(world).update('profile/default/client', async () => undefined);
  const keepClient = (world: AuthWorld, change: object) =>
    storeOf(world).update('profile/default/client', async () =>
      JSON.stringify({
        auth_url: 'https://service.test',
        client_id: 'sandbox_cli',
        client_secret: 'kept',
        ...change,
      }),
    );
  const secretSent = (world: AuthWorld) => new URLSearchParams(tokenCalls(world)[0]?.body).get('client_secret');
  const unset = { SVC_CLIENT_ID: undefined, SVC_CLIENT_SECRET: undefined };

  test('is known by the secret that was kept with it, and an environment without one is no trouble', async () => {
    const world = await loggedIn({ left: 0 });
    expect((await world.svc(contacts, { env: unset })).exitCode).toBe(0);
    expect(secretSent(world)).toBe('sandbox_secret');
  });

  test('is known by the environment where none was kept', async () => {
    const world = await loggedIn({ left: 0 });
    await forgetClient(world);
    expect((await world.svc(contacts)).exitCode).toBe(0);
    expect(secretSent(world)).toBe('sandbox_secret');
  });

  test.each([{ client_id: 'another' }, { auth_url: 'https://other.test' }])(
    'is not the one that was kept of %j: that secret is not sent',
    async (change) => {
      const world = await loggedIn({ left: 0 });
      await keepClient(world, change);
      expect((await world.svc(contacts)).exitCode).toBe(0);
      expect(secretSent(world)).toBe('sandbox_secret');
    },
  );

  test.each([unset, { SVC_CLIENT_ID: 'another' }, { SVC_CLIENT_SECRET: undefined }, { SVC_CLIENT_SECRET: '' }])(
    'is asked for where nobody knows its secret: %j',
    async (env) => {
      const world = await loggedIn({ left: 0 });
      await forgetClient(world);
      const ran = await world.svc(contacts, { env });
      expect(ran.exitCode).toBe(4);
      expect(ran.stderr).toContain('svc no longer has the secret of the client sandbox_cli.');
      expect(ran.stderr).toContain('Set SVC_CLIENT_ID and SVC_CLIENT_SECRET, or run: svc login');
      expect(world.sent).toEqual([]);
    },
  );

  test.each([
    ['https://service.test', 0],
    ['https://service.test/oauth', 0],
    ['https://service.test:8443', 2],
  ])('is asked at its own service: SVC_AUTH_URL=%s', async (url, exitCode) => {
    const world = await loggedIn({ left: 0 });
    const ran = await world.svc(contacts, { env: { SVC_AUTH_URL: url } });
    expect(ran.exitCode).toBe(exitCode);
    if (exitCode === 2) {
      expect(ran.stderr).toContain('The login of profile default belongs to https://service.test, not to');
      expect(ran.stderr).toContain('Leave out --auth-url (SVC_AUTH_URL), or log in there under a separate profile.');
    }
  });
});

describe('a refresh that ends the login', () => {
  const ending = error(400, { error: 'invalid_grant' });

  test('says so without a description too, and keeps the status for whoever asks', async () => {
    const world = await loggedIn({ left: 0 });
    world.override = (request) => (isToken(request) ? ending : undefined);
    const ran = await world.svc(contacts);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toMatch(/The login of profile default has ended .*invalid_grant.*\./u);
    expect(JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ error: { status: 400 } });
    expect(await loginOf(world)).toBeUndefined();
  });

  test('is an end also where the old token would have worked for a while', async () => {
    const world = await loggedIn({ left: 30 });
    world.override = (request) => (isToken(request) ? ending : undefined);
    expect((await world.svc(contacts)).exitCode).toBe(4);
    expect(await loginOf(world)).toBeUndefined();
  });
});

test('what is stored beside the tokens stays as it was', async () => {
  const world = await changed(0, { note: 'of a later version' } as Partial<Stored<'oauth'>>);
  await world.svc(contacts);
  expect(tokenCalls(world)).toHaveLength(1);
  expect(await loginOf(world)).toMatchObject({ note: 'of a later version', client_id: 'sandbox_cli' });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('after %s nothing is refreshed any more', async (signal, exitCode) => {
  const world = await loggedIn({ left: 0 });
  const ran = await world.svc(contacts, { signal: AbortSignal.abort(signal) });
  expect(ran.exitCode).toBe(exitCode);
  expect(world.sent).toEqual([]);
});
