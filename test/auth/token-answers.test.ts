import { describe, expect, test } from 'vitest';
import { type AuthWorld, loggedIn, loginOf, loseAnswersOf } from './auth-world.ts';

const json = (value: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: typeof value === 'string' ? value : JSON.stringify(value),
});

const pair = { access_token: 'access_new', refresh_token: 'refresh_new', token_type: 'Bearer', expires_in: 3600 };

/** The token endpoint answers with that; everything else takes the new token. */
async function refreshedWith(
  answer: object,
): Promise<{ world: AuthWorld; ran: Awaited<ReturnType<AuthWorld['svc']>> }> {
  const world = await loggedIn({ left: -5 });
  world.override = ({ url }) => (url.endsWith('/token') ? (answer as never) : json({ contacts: [], pagination: {} }));
  return { world, ran: await world.svc(['contacts', 'list']) };
}

describe('a pair that was given is kept, however odd the rest of the answer is', () => {
  test.each<[string, object, number?]>([
    ['expires_in missing', { expires_in: undefined }],
    ['expires_in null', { expires_in: null }],
    ['expires_in -1', { expires_in: -1 }],
    ['expires_in 0', { expires_in: 0 }],
    ['expires_in 1e20', { expires_in: 1e20 }],
    ['expires_in a text', { expires_in: '3600' }],
    ['expires_in words', { expires_in: 'one hour' }],
    ['expires_in a list', { expires_in: [3600] }],
    ['status 201', {}, 201],
    ['scope a list', { scope: ['identity', 'contacts:read'] }],
    ['scope null', { scope: null }],
    ['scope a number', { scope: 7 }],
    ['token_type in another case', { token_type: 'bEARER' }],
    ['token_type missing', { token_type: undefined }],
    ['token_type null', { token_type: null }],
    ['fields that nobody knows', { id_token: 'x.y.z', not_before: 1, nested: { a: [1] } }],
  ])('%s', async (_, change, status = 200) => {
    const { world, ran } = await refreshedWith(json({ ...pair, ...change }, status));
    expect(ran.exitCode).toBe(0);
    const login = await loginOf(world);
    expect(login).toMatchObject({ access_token: 'access_new', refresh_token: 'refresh_new' });
    expect(login?.scopes).toEqual(['identity', 'contacts:read']);
    expect(Date.parse(login?.expires_at ?? '')).toBeGreaterThanOrEqual(world.clock.now().getTime() + 3500_000);
    // It is not refreshed again by the next call.
    await world.svc(['contacts', 'list']);
    expect(world.sent.filter(({ what }) => what.endsWith('/token'))).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['missing', { refresh_token: undefined }],
    ['null', { refresh_token: null }],
    ['empty', { refresh_token: '' }],
  ])('a refresh token that is %s: the old one stays in use', async (_, change) => {
    const world = await loggedIn({ left: -5 });
    const before = await loginOf(world);
    world.override = ({ url }) =>
      url.endsWith('/token') ? json({ ...pair, ...change }) : json({ contacts: [], pagination: {} });
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    const { refresh_token } = before ?? {};
    expect(await loginOf(world)).toMatchObject({ access_token: 'access_new', refresh_token });
    const asked = await world.svc(['auth', 'refresh']);
    expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('it is good until') });
    expect(asked.stderr).toContain('gave no new refresh token, and the old one may have ended');
    expect(asked.stderr).toContain('svc login');
  });

  test('also where the answer begins with a byte order mark, or has headers that no library takes', async () => {
    const answer = json(`\uFEFF${JSON.stringify(pair)}`);
    const { world, ran } = await refreshedWith({ ...answer, headers: { 'bad header': 'ł', 'x-y': 'a\nb' } });
    expect(ran.exitCode).toBe(0);
    expect(await loginOf(world)).toMatchObject({ refresh_token: 'refresh_new' });
  });
});

describe('a good refresh token beside an access token that cannot be used is kept, and used at the next need', () => {
  const odd: [what: string, access_token: unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['a number', 7],
    ['a list', ['access_new']],
    ['not fit for a header', 'a\r\nb'],
    ['with spaces', 'two words'],
  ];
  const json200 = json({ contacts: [], pagination: {} });

  test.each(odd)('%s', async (_, access_token) => {
    const { world, ran } = await refreshedWith(json({ ...pair, access_token }));
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('The login is kept, with the new refresh token.');
    expect(await loginOf(world)).toMatchObject({ refresh_token: 'refresh_new' });
    world.override = ({ url }) => (url.endsWith('/token') ? json({ ...pair, refresh_token: 'refresh_next' }) : json200);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(world.sent.findLast(({ what }) => what.endsWith('/token'))?.body).toContain('refresh_token=refresh_new');
    expect(await loginOf(world)).toMatchObject({ access_token: 'access_new', refresh_token: 'refresh_next' });
  });

  test('after a 401, too', async () => {
    const world = await loggedIn({ left: 3000 });
    world.override = ({ url }) =>
      url.endsWith('/token') ? json({ ...pair, access_token: null }) : json({ error: 'Unauthorized' }, 401);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(1);
    expect(await loginOf(world)).toMatchObject({ refresh_token: 'refresh_new' });
    world.override = ({ url }) => (url.endsWith('/token') ? json(pair) : json200);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(world.sent.findLast(({ what }) => what.endsWith('/token'))?.body).toContain('refresh_token=refresh_new');
  });

  test('in an early refresh the access token that still works goes on working', async () => {
    const world = await loggedIn({ left: 30 });
    const { access_token } = (await loginOf(world)) ?? {};
    world.override = ({ url }) => (url.endsWith('/token') ? json({ ...pair, access_token: '' }) : json200);
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(await loginOf(world)).toMatchObject({ access_token, refresh_token: 'refresh_new' });
  });
});

describe('an answer without a token: the login is kept, and svc says that its refresh token may be spent', () => {
  test.each<[string, object]>([
    [
      'a web page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Wi-Fi</title>' },
    ],
    ['nothing', { status: 204, headers: {}, body: '' }],
    ['half of it', json('{"access_token":"access_ne')],
    ['null', json(null)],
    ['a list', json([pair])],
    ['neither token', json({ token_type: 'Bearer', expires_in: 3600 })],
    ['two tokens that cannot be sent', json({ ...pair, access_token: 'a\r\nb', refresh_token: ['refresh_new'] })],
    ['an access_token that is a number, and no other', json({ ...pair, access_token: 7, refresh_token: undefined })],
    ['a pair with status 302', json(pair, 302)],
  ])('%s', async (_, answer) => {
    const { world, ran } = await refreshedWith(answer);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('refresh token may be spent');
    expect(ran.stderr).toContain('svc login');
    expect(ran.stderr).not.toContain('access_ne');
    expect(await loginOf(world)).toBeDefined();
    expect(world.sent.filter(({ what }) => what.endsWith('/token'))).toHaveLength(1);
  });

  test('an answer that was lost is not asked for again, and says so', async () => {
    const { world, ran } = await refreshedWith({ lost: 'after-sending', reason: 'reset', detail: 'It broke.' });
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('refresh token may be spent');
    expect(world.sent).toHaveLength(1);
  });

  test.each<[string, object, number]>([
    ['was lost is not known', { lost: 'after-sending', reason: 'reset', detail: 'It broke.' }, 9],
    ['never was, since nothing left, is 10', { lost: 'before-sending', reason: 'refused', detail: 'No.' }, 10],
  ])('where the refresh is the command itself, one that %s', async (_, answer, exitCode) => {
    const world = await loggedIn();
    world.override = ({ url }) => (url.endsWith('/token') ? (answer as never) : undefined);
    const ran = await world.svc(['auth', 'refresh', '--json']);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr.includes('refresh token may be spent')).toBe(exitCode === 9);
    expect(await loginOf(world)).toBeDefined();
  });
});

// What a wall answers, the service may have carried out: the same request again would find its token spent.
describe.each([
  ['HTML', { status: 429, headers: { 'content-type': 'text/html', 'retry-after': '1' }, body: '<html>Slow</html>' }],
  ['JSON of its own', json({ message: 'Slow down.' }, 429)],
  ['an error with more beside it', json({ error: 'slow', request_id: 'x' }, 429)],
])('a 429 of a wall, %s', (_, answer) => {
  test.each([
    ['auth', 'refresh'],
    ['auth', 'keep', '--within', '31d'],
  ])('is not sent again, is exit 9, and the login is kept: %s %s', async (...argv) => {
    const world = await loggedIn();
    const asked = loseAnswersOf(world, '/token', answer);
    const ran = await world.svc(argv);
    expect(ran.exitCode).toBe(9);
    expect(`${ran.stdout}${ran.stderr}`).toContain('refresh token may be spent');
    expect(await loginOf(world)).toMatchObject({ unanswered: true });
    expect(asked()).toBe(1);
  });
});

// No token endpoint answers so, or a gateway does while the request is on its way.
test.each([
  ['the API’s form of a validation', json({ message: 'The given data was invalid.', errors: { code: ['x'] } }, 422)],
  ['an error without a word', json({ error: '' }, 400)],
  ['an error of a gateway', json({ error: 'Payload too large' }, 413)],
  ['a conflict', json({ error: 'Conflict' }, 409)],
  ['a time-out, also with a code of RFC 6749', json({ error: 'invalid_grant' }, 408)],
  ['a hung-up request, also with a code of RFC 6749', json({ error: 'invalid_grant' }, 499)],
])('%s leaves it open whether the refresh was carried out: exit 9, and the login is kept', async (_, answer) => {
  const world = await loggedIn();
  const asked = loseAnswersOf(world, '/token', answer);
  const ran = await world.svc(['auth', 'refresh']);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('refresh token may be spent');
  expect(await loginOf(world)).toMatchObject({ unanswered: true });
  expect(asked()).toBe(1);
});

describe('a limit of the token endpoint', () => {
  const limited = (retryAfter: string, headers = {}) => ({
    status: 429,
    headers: { 'retry-after': retryAfter, ...headers },
    body: '{"error":"slow down"}',
  });

  test('in the form of RFC 6749, with a description, is waited out as well', async () => {
    const world = await loggedIn();
    let asked = 0;
    world.override = ({ url }) =>
      url.endsWith('/token') && ++asked === 1
        ? { ...limited('1'), body: '{"error":"too_many_requests","error_description":"Slow down."}' }
        : undefined;
    expect((await world.svc(['auth', 'refresh'])).exitCode).toBe(0);
    expect(asked).toBe(2);
  });

  test('an error with a code of its own and a description is told in its words', async () => {
    const world = await loggedIn();
    const said = '{"error":"access_denied","error_description":"The account is suspended."}';
    world.override = ({ url }) => (url.endsWith('/token') ? { ...limited('1'), status: 403, body: said } : undefined);
    const ran = await world.svc(['auth', 'refresh']);
    expect(ran).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('access_denied: The account is suspended'),
    });
    expect(await loginOf(world)).toBeDefined();
  });

  test.each(['-5', '0.001', '0', 'soon', '1e-9'])('Retry-After: %s is waited out in growing steps', async (value) => {
    const world = await loggedIn({ left: -5 });
    world.override = ({ url }) => (url.endsWith('/token') ? limited(value) : undefined);
    const began = world.clock.ticks();
    const ran = await world.svc(['contacts', 'list', '--max-wait', '60']);
    expect(ran.exitCode).toBe(7);
    expect(world.sent.length).toBeGreaterThan(2);
    expect(world.sent.length).toBeLessThan(9);
    expect(world.clock.ticks() - began).toBeLessThanOrEqual(60_000);
  });

  test('a date is read against the answer, not against this machine', async () => {
    const world = await loggedIn({ left: -5 });
    const date = { date: 'Thu, 01 Jan 2015 00:00:00 GMT' };
    let left = 1;
    world.override = ({ url }) =>
      url.endsWith('/token') && left-- > 0 ? limited('Thu, 01 Jan 2015 00:00:07 GMT', date) : undefined;
    const began = world.clock.ticks();
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
    expect(world.clock.ticks() - began).toBeGreaterThanOrEqual(7000);
    expect(world.clock.ticks() - began).toBeLessThan(8000);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('%s ends the wait at once', async (name, exitCode) => {
    const world = await loggedIn({ left: -5 });
    const interrupt = new AbortController();
    world.override = ({ url }) => {
      if (!url.endsWith('/token')) return undefined;
      interrupt.abort(name);
      return limited('50');
    };
    const began = world.clock.ticks();
    const ran = await world.svc(['contacts', 'list'], { signal: interrupt.signal });
    expect(ran.exitCode).toBe(exitCode);
    expect(world.sent).toHaveLength(1);
    expect(world.clock.ticks() - began).toBeLessThan(1000);
    expect(await loginOf(world)).toBeDefined();
  });

  test('--max-wait holds on the monotonic clock, also where the wall clock is set', async () => {
    const world = await loggedIn({ left: -5 });
    world.override = ({ url }) => {
      if (url.endsWith('/token')) world.clock.set(3600_000);
      return url.endsWith('/token') ? limited('7') : undefined;
    };
    const began = world.clock.ticks();
    expect((await world.svc(['contacts', 'list', '--max-wait', '60'])).exitCode).toBe(7);
    expect(world.clock.ticks() - began).toBeLessThanOrEqual(60_000);
    expect(world.sent.length).toBeLessThan(9);
  });
});
