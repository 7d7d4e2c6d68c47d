// A logout that says "revoked" leaves no token that is good: beside a refresh, a login and a signal, and after lost answers.
import { describe, expect, test } from 'vitest';
import type { Keyring } from '../../src/auth/store-file.ts';
import { rescueFile } from '../../src/auth/store-rescue.ts';
import { type AuthWorld, loggedIn, loginOf, loseAnswersOf, lost, storeOf } from './auth-world.ts';

/** Whether the service takes the token. */
const isGood = async (world: AuthWorld, token: string | undefined): Promise<boolean> =>
  (await world.svc(['account', 'get'], { env: { SVC_ACCESS_TOKEN: token } })).exitCode === 0;

const mayLiveOn = /is revoked and forgotten\..*never answered.*up to 30 days.*disconnect the app/su;

/** A gate that a request waits at. */
function gate() {
  let open = () => {};
  let reached = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  return { open: () => open(), reached: () => reached(), isOpen, isReached };
}

describe('after a refresh that was not answered', () => {
  test('logout does not call the login revoked: exit 9', async () => {
    const world = await loggedIn();
    loseAnswersOf(world, '/token');
    expect((await world.svc(['auth', 'refresh'])).exitCode).toBe(9);
    world.override = undefined;
    const ran = await world.svc(['logout']);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toMatch(mayLiveOn);
    expect(ran.stderr).not.toContain('was revoked at the service');
    expect(await loginOf(world)).toBeUndefined();
  });

  test('one that was killed counts as such', async () => {
    const world = await loggedIn();
    // What a refresh leaves that was killed: the room that it took before it asked.
    await rescueFile(`${world.folder}/config`).reserve('profile/default/oauth', '');
    const ran = await world.svc(['logout']);
    expect([ran.exitCode, ran.stderr]).toEqual([9, expect.stringMatching(mayLiveOn)]);
  });

  test('a killed one is remembered by a later one that leaves the login as it is', async () => {
    const world = await loggedIn({ left: -5 });
    await rescueFile(`${world.folder}/config`).reserve('profile/default/oauth', '');
    world.override = ({ url }) =>
      url.endsWith('/token') ? { lost: 'before-sending', reason: 'refused', detail: 'Refused.' } : undefined;
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(10);
    world.override = undefined;
    expect((await loginOf(world))?.unanswered).toBe(true);
  });

  test('the end of the login says that tokens may live on', async () => {
    const world = await loggedIn({ left: -5 });
    loseAnswersOf(world, '/token');
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(10);
    world.override = undefined;
    const ran = await world.svc(['contacts', 'list']);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toMatch(/has ended.*never answered.*up to 30 days.*disconnect the app.*svc login/su);
  });

  test('one that works leaves no doubt: logout is exit 0, and nothing is good any more', async () => {
    const world = await loggedIn({ left: -5 });
    world.override = ({ url }) => (url.endsWith('/token') ? lost : undefined);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(10);
    world.override = undefined;
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    const token = (await loginOf(world))?.access_token;
    const ran = await world.svc(['logout']);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining('was revoked at the service')]);
    expect(await isGood(world, token)).toBe(false);
  });
});

test('logout waits for a refresh that is on its way, and revokes what that one gets', async () => {
  const world = await loggedIn();
  const answer = gate();
  world.watch = async ({ url }) => {
    if (!url.endsWith('/token')) return;
    answer.reached();
    await answer.isOpen;
  };
  const refreshing = world.svc(['auth', 'refresh']);
  await answer.isReached;
  const leaving = world.svc(['logout']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.sent.filter(({ what }) => what.endsWith('/revoke'))).toEqual([]);
  answer.open();
  expect([(await refreshing).exitCode, (await leaving).exitCode]).toEqual([0, 0]);
  expect(await loginOf(world)).toBeUndefined();
  const { connections } = (await world.state()) as {
    connections: { access_tokens: object[]; refresh_token: unknown }[];
  };
  expect(connections.map(({ access_tokens, refresh_token }) => [access_tokens, refresh_token])).toEqual([[[], null]]);
});

test('what another one has ended while logout waited is not called revoked', async () => {
  const world = await loggedIn();
  const answer = gate();
  world.watch = async ({ url }) => {
    if (!url.endsWith('/token')) return;
    answer.reached();
    await answer.isOpen;
  };
  const refreshing = world.svc(['auth', 'refresh']);
  await answer.isReached;
  const leaving = world.svc(['logout']);
  await world.control('disconnect', { account_id: 1, client_id: 'sandbox_cli' });
  answer.open();
  expect((await refreshing).exitCode).toBe(4);
  const { exitCode, stderr } = await leaving;
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('revoked')]);
});

test('a login that is saved while logout waits for the service stays, with its client', async () => {
  const world = await loggedIn();
  const store = storeOf(world);
  const answer = gate();
  world.watch = async ({ url }) => {
    if (!url.endsWith('/revoke')) return;
    answer.reached();
    await answer.isOpen;
  };
  const next = JSON.stringify({ ...(await loginOf(world)), access_token: 'svc_at_next' });
  const client = await store.read('profile/default/client');
  const leaving = world.svc(['logout']);
  await answer.isReached;
  const saving = store
    .update('profile/default/oauth', async () => next)
    .then(() => store.update('profile/default/client', async () => client));
  answer.open();
  expect((await leaving).exitCode).toBe(0);
  await saving;
  expect((await loginOf(world))?.access_token).toBe('svc_at_next');
  expect(await store.read('profile/default/client')).toBe(client);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s while a revocation is not answered does not say that it was not done', async (signal, code) => {
  for (const at of [1, 2]) {
    const world = await loggedIn();
    const stop = new AbortController();
    let asked = 0;
    world.override = async ({ url }) => {
      if (!url.endsWith('/revoke') || ++asked < at) return undefined;
      stop.abort(signal);
      return { lost: 'after-sending', reason: 'interrupted', detail: 'Interrupted.' } as never;
    };
    const ran = await world.svc(['logout'], { signal: stop.signal });
    expect(ran.exitCode).toBe(code);
    const what = at === 1 ? 'The login of profile default' : 'The access token of profile default';
    expect(ran.stderr).toContain(`${what} may or may not have been revoked, and is kept`);
    expect(ran.stderr.includes('the refresh token of profile default was revoked')).toBe(at === 2);
    expect(await loginOf(world)).toBeDefined();
  }
});

test.each([
  ['a page of a network', { 'content-type': 'text/html' }, '<!doctype html><title>Sign in</title>'],
  ['a page that does not say so', {}, '\n<html><body>Sign in</body></html>'],
  ['a sentence of a network', { 'content-type': 'text/plain' }, 'Please log in to the network'],
  [
    'a sentence of a proxy',
    { 'content-type': 'text/plain' },
    'upstream connect error or disconnect/reset before headers',
  ],
  ['{"ok":false}', {}, '{"ok":false}'],
  ['{"success":false}', {}, '{"success":false,"message":"not revoked"}'],
  ['an error in a code', {}, '{"code":500,"message":"Internal error"}'],
  ['an error in a status', {}, '{"message":"Server busy, try later","status":503}'],
  ['a list of errors', {}, '{"errors":{"token":["bad"]}}'],
] as const)('a success that is %s revokes nothing: the login is kept', async (_, headers, body) => {
  const world = await loggedIn();
  world.override = ({ url }) => (url.endsWith('/revoke') ? { status: 200, headers, body } : undefined);
  const ran = await world.svc(['logout']);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('may or may not have been revoked, and is kept');
  expect(await loginOf(world)).toBeDefined();
});

const page = { headers: { 'content-type': 'text/html', location: '/', 'retry-after': '1' }, body: '<html>Gateway' };

test.each([
  ...[302, 404, 408, 429, 502, 504].map((status) => [`a ${status} of a gateway`, { status, ...page }] as const),
  ['a 429 with JSON of a wall', { status: 429, headers: {}, body: '{"message":"Slow down."}' }],
  ["the service's own 500", { status: 500, headers: {}, body: '{"error":"Server error"}' }],
] as const)(
  'after %s logout does not say that the login was not revoked: exit 9, and it is kept',
  async (_, answer) => {
    const world = await loggedIn();
    const asked = loseAnswersOf(world, '/revoke', answer);
    const ran = await world.svc(['logout']);
    expect([ran.exitCode, asked()]).toEqual([9, 1]);
    expect(ran.stderr).toContain('The login of profile default may or may not have been revoked, and is kept');
    expect(await loginOf(world)).toBeDefined();
    world.override = undefined;
    expect((await world.svc(['logout'])).exitCode).toBe(0);
  },
);

test.each([
  ['a limit', 429, 7],
  ['a path that is not there', 404, 1],
] as const)('what the service itself refuses was not revoked: %s', async (_, status, exitCode) => {
  const world = await loggedIn();
  const answer = { status, headers: { 'x-ratelimit-limit': '60', 'retry-after': '9999' }, body: '' };
  world.override = ({ url }) => (url.endsWith('/revoke') ? answer : undefined);
  const ran = await world.svc(['logout']);
  expect([ran.exitCode, ran.stderr]).toEqual([exitCode, expect.stringContaining('was not revoked, and is kept')]);
});

test.each([
  '',
  'ok',
  'Token revoked.',
  '{}',
  '[]',
  'null',
  '{"revoked":true}',
  '{"success":"Token revoked successfully"}',
  '{"status":"ok","message":"The token was revoked.","id":7}',
])('any other success is a revocation: %j', async (body) => {
  const world = await loggedIn();
  world.override = ({ url }) => (url.endsWith('/revoke') ? { status: 200, headers: {}, body } : undefined);
  expect(await world.svc(['logout'])).toMatchObject({ exitCode: 0 });
  expect(await loginOf(world)).toBeUndefined();
});

test('a keyring that is locked: logout is exit 1, and --local-only says that the tokens stay good', async () => {
  const world = await loggedIn();
  const entries = new Map<string, string>();
  let isLocked = false;
  const unlocked = async <T>(value: T): Promise<T> => {
    if (isLocked) throw new Error('It is locked.');
    return value;
  };
  const keyring: Keyring = {
    read: (entry) => unlocked(entries.get(entry)),
    write: (entry, secret) => unlocked(void entries.set(entry, secret)),
    remove: (entry) => unlocked(void entries.delete(entry)),
  };
  await storeOf(world, keyring).update('profile/default/oauth', async (text) => text, 'best');
  expect(entries.size).toBe(1);
  isLocked = true;
  const out = await world.svc(['logout'], { keyring });
  expect([out.exitCode, out.stderr]).toEqual([1, expect.stringContaining('and is kept')]);
  expect(entries.size).toBe(1);
  const local = await world.svc(['logout', '--local-only'], { keyring });
  expect(local.exitCode).toBe(0);
  expect(local.stderr).toContain('The OAuth login was not revoked');
  expect(local.stderr).not.toContain('not logged in');
});

test('a Ctrl-C in logout --all counts also where an earlier login could not be revoked', async () => {
  const world = await loggedIn();
  for (const profile of ['y', 'z'])
    await world.svc(['login', '--with-m2m-token', '--profile', profile], { stdin: 'm2m_sandbox\n' });
  const ending = new AbortController();
  const progress = (text: string | undefined) => {
    if (text === undefined) ending.abort('SIGINT');
  };
  world.override = async ({ url }) => (url.endsWith('/revoke') ? { status: 503, headers: {}, body: '' } : undefined);
  const ran = await world.svc(['logout', '--all', '--yes'], { signal: ending.signal, progress });
  expect([ran.exitCode, ran.stderr]).toEqual([130, expect.stringMatching(/Not logged out: .*z\./u)]);
});

test('a Ctrl-C in logout --all leaves the logins that it had not come to', async () => {
  const world = await loggedIn();
  await world.svc(['login', '--with-m2m-token', '--profile', 'z'], { stdin: 'm2m_sandbox\n' });
  const ending = new AbortController();
  world.override = async ({ url }) => {
    if (!url.endsWith('/revoke')) return undefined;
    ending.abort('SIGINT');
    return lost;
  };
  const ran = await world.svc(['logout', '--all', '--yes'], { signal: ending.signal });
  expect([ran.exitCode, ran.stderr]).toEqual([130, expect.not.stringContaining('Logged out')]);
  expect(ran.stderr).toContain('Not logged out: default and z.');
  const left = JSON.parse((await world.svc(['auth', 'list', '--json'])).stdout) as { profile: string }[];
  expect(left.map(({ profile }) => profile)).toContain('z');
});

test('logout --all where nothing is saved says so', async () => {
  const world = await loggedIn();
  expect((await world.svc(['logout', '--all', '--yes'])).exitCode).toBe(0);
  expect(await world.svc(['logout', '--all', '--yes'])).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'No login is saved, so there is nothing to log out of.\n',
  });
});

describe('the signing secrets of webhook subscriptions', () => {
  const secret = (profile: string, id: number) => `webhook/${profile}/${id}`;
  const withSecrets = async () => {
    const world = await loggedIn();
    for (const name of [secret('default', 7), secret('default', 8), secret('old', 9)])
      await storeOf(world).update(name, async () => 'whsec_x');
    return world;
  };
  const names = (world: AuthWorld) => storeOf(world).names('webhook/');

  test('stay, named with the command that forgets them', async () => {
    const world = await withSecrets();
    const ran = await world.svc(['logout']);
    expect([ran.exitCode, ran.stderr]).toEqual([
      0,
      expect.stringContaining(
        'On this machine svc keeps 2 signing secrets of webhook subscriptions of profile default. To forget what is kept: svc logout --secrets\n',
      ),
    ]);
    expect(await names(world)).toHaveLength(3);
    expect((await world.svc(['logout', '--secrets'])).stderr).toContain('Forgot 2 signing secrets');
    expect(await names(world)).toEqual([secret('old', 9)]);
  });

  test('of every profile go with --all --secrets, which asks about them first, also without a login', async () => {
    const world = await withSecrets();
    const unasked = await world.svc(['logout', '--all', '--secrets']);
    expect(unasked.exitCode).toBe(2);
    expect(await names(world)).toHaveLength(3);
    const asked = await world.svc(['logout', '--all', '--secrets'], { columns: 80, answers: [false] });
    expect(asked.exitCode).toBe(1);
    expect((await world.svc(['logout', '--all', '--yes'])).stderr).toContain('svc logout --secrets --all\n');
    // Without a question, as it has always been where nothing is saved.
    expect((await world.svc(['logout', '--all'])).exitCode).toBe(0);
    expect(await names(world)).toHaveLength(3);
    expect((await world.svc(['logout', '--all', '--secrets'])).exitCode).toBe(2);
    const left = await world.svc(['logout', '--all', '--secrets', '--yes']);
    expect(left.stderr).toContain('Forgot 2 signing secrets');
    expect(await names(world)).toEqual([]);
  });

  test('of a login that is kept stay', async () => {
    const world = await withSecrets();
    world.override = ({ url }) =>
      url.endsWith('/revoke') ? { lost: 'before-sending', reason: 'refused', detail: 'Refused.' } : undefined;
    expect((await world.svc(['logout', '--all', '--secrets', '--yes'])).exitCode).toBe(10);
    expect(await names(world)).toEqual([secret('default', 7), secret('default', 8)]);
  });
});
