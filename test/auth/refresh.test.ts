import { beforeEach, describe, expect, test } from 'vitest';
import { type AuthWorld, loggedIn, loginOf, storeOf } from './auth-world.ts';

const tokenCalls = (world: AuthWorld) => world.sent.filter(({ what }) => what === 'POST /oauth/platform/token').length;

describe('a token that is about to end is refreshed before it is used', () => {
  test.each([
    [3600, 0],
    [61, 0],
    [59, 1],
    [0, 1],
    [-86_400, 1],
  ])('%i seconds before the end: %i refreshes', async (left, refreshes) => {
    const world = await loggedIn({ left });
    const before = await loginOf(world);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(refreshes);
    const after = await loginOf(world);
    expect(after?.access_token === before?.access_token).toBe(refreshes === 0);
    expect(world.sent.at(-1)?.authorization).toBe(`Bearer ${after?.access_token}`);
  });
});

test('the new pair is on disk before the new token goes out', async () => {
  const world = await loggedIn({ left: 0 });
  const seen: (string | undefined)[] = [];
  world.watch = async ({ url, headers }) => {
    if (url.includes('/contacts')) seen.push(headers.authorization, `Bearer ${(await loginOf(world))?.access_token}`);
  };
  await world.svc(['contacts', 'list']);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toBe(seen[1]);
});

test('after a 401 the login is refreshed once and the call repeated', async () => {
  const world = await loggedIn();
  // The service's clock runs ahead: it has ended what we take for good.
  await world.control('clock', { advance_seconds: 3700 });
  expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
  expect(world.sent.map(({ what }) => what.replace(/\?.*/u, ''))).toEqual([
    'GET /contacts',
    'POST /oauth/platform/token',
    'GET /contacts',
  ]);
});

test('a 401 that a refresh does not cure is not refreshed again and again', async () => {
  const world = await loggedIn();
  world.override = ({ url }) =>
    url.includes('/contacts') ? { status: 401, headers: {}, body: '{"error":"unauthorized"}' } : undefined;
  expect((await world.svc(['contacts', 'list'])).exitCode).toBe(4);
  expect(tokenCalls(world)).toBe(1);
  expect(await loginOf(world)).toBeDefined();
});

test('when the customer disconnects the app the login is forgotten, with the command that makes a new one', async () => {
  const world = await loggedIn();
  await world.control('disconnect', { account_id: 1, client_id: 'sandbox_cli' });
  const ran = await world.svc(['contacts', 'list']);
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toMatch(/The login of profile default has ended.*invalid_grant/u);
  expect(ran.stderr).toContain('svc login');
  expect(await loginOf(world)).toBeUndefined();
  // The client is not what ended: the next login does not ask for its secret again.
  expect(await storeOf(world).names('')).toEqual(['profile/default/client']);
});

test.each<[string, object, number]>([
  ['is over', { status: 400, headers: {}, body: '{"error":"invalid_grant"}' }, 4],
  ['is not answered', { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' }, 10],
  ['cannot be reached', { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }, 10],
])(
  'a write that a 401 refuses stands as that in the record, also where its login then %s',
  async (_, token, exitCode) => {
    const world = await loggedIn({ scopes: ['identity', 'contacts:write'] });
    const refusal = { status: 401, headers: {}, body: '{"error":"unauthorized"}' };
    world.override = ({ url, method }) =>
      (url.endsWith('/token') ? token : method === 'POST' ? refusal : undefined) as never;
    const flags = ['--name', 'Ada', '--last-name', 'L', '--email', 'a@example.com', '--phone', '+14155550100'];
    expect((await world.svc(['contacts', 'create', ...flags])).exitCode).toBe(exitCode);
    const { stdout } = await world.svc(['audit', 'list', '--json', '--fields', 'outcome,status']);
    expect(JSON.parse(stdout)).toEqual([{ outcome: 'refused', status: 401 }]);
  },
);

const html = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Wi-Fi</title>' };
const error = (status: number, code: string) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: code, error_description: 'A sample.' }),
});

/** Beside every answer of the service (service.md#limits-2). */
const limit = { 'x-ratelimit-limit': '60' };

describe('only invalid_grant forgets a login', () => {
  let world: AuthWorld;
  beforeEach(async () => {
    world = await loggedIn({ left: -5 });
  });

  test.each<[string, object, number]>([
    ['a time-out', { lost: 'after-sending', reason: 'timeout', detail: 'No answer within 30 s.' }, 10],
    ['a broken connection', { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' }, 10],
    ['a refused connection', { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }, 10],
    ['a failure of the service', { status: 500, headers: {}, body: 'oops' }, 1],
    ['a page of a captive portal', html, 1],
    ['half an answer', { status: 200, headers: {}, body: '{"access_token":"canary' }, 1],
    ['an answer without a token', { status: 200, headers: {}, body: '{}' }, 1],
    ['a wrong client secret', error(401, 'invalid_client'), 4],
    ['a challenge', { ...error(401, 'invalid_client'), headers: { 'www-authenticate': 'Basic realm="x"' } }, 4],
    ['a malformed request', error(400, 'invalid_request'), 6],
    ['a limit that outlasts --max-wait', { status: 429, headers: { ...limit, 'retry-after': '9999' }, body: '{}' }, 7],
    ['a limit of a wall', { status: 429, headers: { 'retry-after': '1' }, body: '<html>Slow down</html>' }, 1],
  ])('%s keeps it', async (_, answer, exitCode) => {
    const before = await loginOf(world);
    world.override = ({ url }) => (url.endsWith('/token') ? (answer as never) : undefined);
    const ran = await world.svc(['contacts', 'list']);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).not.toContain('canary');
    const { unanswered, ...kept } = (await loginOf(world)) ?? {};
    expect(kept).toEqual(before);
    // Where the tokens may have been given, that is not forgotten before the next refresh tells.
    const isLost = 'lost' in answer && answer.lost === 'after-sending';
    expect(unanswered === true).toBe(isLost || exitCode === 1);
    world.override = undefined;
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect((await loginOf(world))?.unanswered).toBeUndefined();
  });

  test.each<[string, object, number]>([
    ['a broken connection', { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' }, 9],
    ['a gateway that failed', { status: 503, headers: {}, body: 'Unavailable' }, 9],
    ['a page of a captive portal', html, 9],
    ['half an answer', { status: 200, headers: {}, body: '{"access_token":"canary' }, 9],
    ['a failure of the service', error(500, 'server_error'), 9],
    ['a time-out of a gateway that writes an error', error(408, 'timeout'), 9],
    ['a wall that writes an error of its own', { status: 403, headers: {}, body: '{"error":"no","id":7}' }, 9],
    ['a refusal of the service', { status: 403, headers: limit, body: '{"error":"no","id":7}' }, 6],
    ['a refused connection', { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }, 10],
  ])('auth refresh after %s', async (_, answer, exitCode) => {
    world.override = ({ url }) => (url.endsWith('/token') ? (answer as never) : undefined);
    expect((await world.svc(['auth', 'refresh'])).exitCode).toBe(exitCode);
  });

  test('a challenge keeps the description of the error', async () => {
    const answer = { ...error(401, 'invalid_client'), headers: { 'www-authenticate': 'Basic realm="x"' } };
    world.override = ({ url }) => (url.endsWith('/token') ? answer : undefined);
    expect((await world.svc(['contacts', 'list'])).stderr).toContain('(invalid_client: A sample).');
  });

  test('a request that never left is sent again', async () => {
    let left = 2;
    world.override = ({ url }) =>
      url.endsWith('/token') && left-- > 0
        ? { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }
        : undefined;
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(3);
  });

  test('a limit is waited out', async () => {
    let left = 1;
    world.override = ({ url }) =>
      url.endsWith('/token') && left-- > 0
        ? { status: 429, headers: { ...limit, 'retry-after': '7' }, body: '{}' }
        : undefined;
    const before = world.clock.now().getTime();
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(world.clock.now().getTime() - before).toBeGreaterThanOrEqual(7000);
  });
});

test('a refresh that was early and in vain leaves the present token in use', async () => {
  const world = await loggedIn({ left: 30 });
  world.override = ({ url }) =>
    url.endsWith('/token') ? { lost: 'after-sending', reason: 'timeout', detail: 'No answer.' } : undefined;
  expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
});

test('many calls at once, in one process, refresh once', { tags: ['long'] }, async () => {
  const world = await loggedIn({ left: 0 });
  // Virtual minutes pass while a real disk syncs.
  const argv = ['contacts', 'list', '--max-wait', '1000000'];
  const runs = await Promise.all(Array.from({ length: 12 }, () => world.svc(argv)));
  expect(runs.map(({ exitCode }) => exitCode)).toEqual(Array(12).fill(0));
  expect(tokenCalls(world)).toBe(1);
});

test('auth refresh refreshes now, and keeps the scopes', async () => {
  const world = await loggedIn();
  const before = await loginOf(world);
  const ran = await world.svc(['auth', 'refresh', '--json']);
  expect(JSON.parse(ran.stdout)).toMatchObject({ profile: 'default', scopes: ['identity', 'contacts:read'] });
  const after = await loginOf(world);
  expect(after?.access_token).not.toBe(before?.access_token);
  expect(after?.refresh_token).not.toBe(before?.refresh_token);
});

test('the refresh token goes to the auth URL of its login, and to no other that is named', async () => {
  const world = await loggedIn({ left: 0 });
  const ran = await world.svc(['contacts', 'list'], { env: { SVC_AUTH_URL: 'https://other.example.com' } });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('belongs to https://service.test, not to https://other.example.com');
  expect(world.sent).toEqual([]);
});

describe('expiry by this machine’s clock is a hint; the service’s 401 decides', () => {
  test.each([-5, 5])('a clock that is %i hours off does not refresh on every call', async (hours) => {
    const world = await loggedIn();
    world.clock.set(hours * 3600_000);
    for (let i = 0; i < 5; i++) expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(hours > 0 ? 1 : 0);
  });

  test.each([-5, 5])('nor do two machines whose clocks are %i hours apart and that share the folder', async (hours) => {
    const world = await loggedIn({ left: 0 });
    for (let i = 0; i < 6; i++) {
      world.clock.set(i % 2 === 0 ? hours * 3600_000 : -hours * 3600_000);
      expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    }
    expect(tokenCalls(world)).toBeLessThanOrEqual(2);
  });

  test('a clock that is set while the service answers leaves a lifetime that is true afterwards', async () => {
    const world = await loggedIn({ left: 0 });
    world.watch = async ({ url }) => {
      if (url.endsWith('/token')) world.clock.set(-7200_000);
    };
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    const login = await loginOf(world);
    expect(Date.parse(login?.expires_at ?? '') - world.clock.now().getTime()).toBe(3600_000);
    world.watch = undefined;
    await world.svc(['contacts', 'list']);
    expect(tokenCalls(world)).toBe(1);
  });
});
