// svc auth keep: every login that would end soon is refreshed, and no lost answer is called done.
import { expect, test } from 'vitest';
import { type AuthWorld, authWorld, origin, storeOf } from './auth-world.ts';

const day = 86_400_000;

type Saved = { refresh_token?: string; issued_at: string };

const saved = async (world: AuthWorld, profile: string): Promise<Saved | undefined> => {
  const text = await storeOf(world).read(`profile/${profile}/oauth`);
  return text === undefined ? undefined : (JSON.parse(text) as Saved);
};

/** A login of the profile, refreshed so many days ago. */
async function logIn(world: AuthWorld, profile: string, daysAgo: number, change: object = {}): Promise<void> {
  const grant = await world.control('tokens', { account_id: 1, scopes: ['identity', 'contacts:read'] });
  const issued = world.clock.now().getTime() - daysAgo * day;
  const login = {
    ...{ base_url: origin, auth_url: origin, client_id: 'sandbox_cli', scopes: ['identity', 'contacts:read'] },
    ...{ access_token: grant.access_token, refresh_token: grant.refresh_token },
    ...{ issued_at: new Date(issued).toISOString(), expires_at: new Date(issued + 3_600_000).toISOString() },
    ...change,
  };
  const client = { auth_url: origin, client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  await storeOf(world).update(`profile/${profile}/oauth`, async () => JSON.stringify(login));
  await storeOf(world).update(`profile/${profile}/client`, async () => JSON.stringify(client));
}

/** Nothing of the service, nor of its client, is in the environment, as where cron runs it. */
const bare = { SVC_CLIENT_ID: '', SVC_CLIENT_SECRET: '', SVC_BASE_URL: '', SVC_AUTH_URL: '' };

async function machine(): Promise<AuthWorld> {
  const world = await authWorld();
  const { svc } = world;
  return Object.assign(world, { svc: ((argv, given) => svc(argv, { env: bare, ...given })) as AuthWorld['svc'] });
}

async function keepWhere(world: AuthWorld, answer: NonNullable<AuthWorld['override']>) {
  world.override = answer;
  try {
    return await world.svc(['auth', 'keep', '--json']);
  } finally {
    world.override = undefined;
  }
}

const refreshes = (world: AuthWorld) => world.sent.filter(({ what }) => what.endsWith('/token')).length;

type Line = { profile: string; outcome: string; ends_at: string | null; message: string | null };

test('where no login is saved that ends, a job is told so', async () => {
  const world = await machine();
  const none = await world.svc(['auth', 'keep']);
  expect([none.exitCode, none.stdout]).toEqual([0, '']);
  expect(none.stderr).toContain('No OAuth login is saved here, so there is nothing to keep.');
  await logIn(world, 'fresh', 0);
  expect((await world.svc(['auth', 'keep'])).stderr).toBe('');
});

test('a login whose time lies ahead was made by a wrong clock, and is refreshed; one of a few minutes ahead is not', async () => {
  const world = await machine();
  await logIn(world, 'ahead', -400);
  await logIn(world, 'just-now', -0.01);
  const ran = await world.svc(['auth', 'keep', '--json']);
  expect(ran.exitCode).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual([expect.objectContaining({ profile: 'ahead', outcome: 'refreshed' })]);
  expect(JSON.parse((await world.svc(['auth', 'keep', '--json'])).stdout)).toEqual([]);
});

test('what to do is told with the profile', async () => {
  const world = await machine();
  await logIn(world, 'work', 25);
  const ran = await keepWhere(world, () => ({ status: 500, headers: {}, body: 'no' }));
  const [line] = JSON.parse(ran.stdout) as Line[];
  expect(line?.message).toContain('run: svc -p work login');
  // The refresh token may be spent.
  expect([ran.exitCode, line?.outcome]).toEqual([9, 'unknown']);
});

test('refreshes the logins that would end within a week, and no others', async () => {
  const world = await machine();
  await logIn(world, 'old', 25);
  await logIn(world, 'older', 29);
  await logIn(world, 'young', 5);
  await storeOf(world).update('profile/key/api_key', async () =>
    JSON.stringify({ base_url: origin, token: 'key_acme' }),
  );
  const before = await saved(world, 'young');
  const ran = await world.svc(['auth', 'keep', '--json']);
  expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = JSON.parse(ran.stdout) as Line[];
  expect(lines.map(({ profile, outcome }) => [profile, outcome])).toEqual([
    ['old', 'refreshed'],
    ['older', 'refreshed'],
  ]);
  const inThirtyDays = new Date(world.clock.now().getTime() + 30 * day).toISOString().slice(0, 10);
  for (const { ends_at: ends } of lines) expect(ends?.slice(0, 10)).toBe(inThirtyDays);
  expect(refreshes(world)).toBe(2);
  expect(await saved(world, 'young')).toEqual(before);
  const again = await world.svc(['auth', 'keep', '--json']);
  expect([again.exitCode, again.stdout, refreshes(world)]).toEqual([0, '[]\n', 2]);
});

test('-p NAME keeps that login alone; one that is not there is exit 4', async () => {
  const world = await machine();
  for (const name of ['one', 'two']) await logIn(world, name, 29);
  const before = await saved(world, 'two');
  const ran = await world.svc(['-p', 'one', 'auth', 'keep', '--json']);
  expect(JSON.parse(ran.stdout)).toEqual([expect.objectContaining({ profile: 'one', outcome: 'refreshed' })]);
  expect([refreshes(world), await saved(world, 'two')]).toEqual([1, before]);
  const missing = await world.svc(['-p', 'three', 'auth', 'keep']);
  expect([missing.exitCode, missing.stderr]).toEqual([4, expect.stringContaining('three has no OAuth login to keep')]);
  expect(refreshes(world)).toBe(1);
});

test('--within says which; nonsense is exit 2', async () => {
  const world = await machine();
  await logIn(world, 'young', 5);
  expect((await world.svc(['auth', 'keep', '--within', '24d'])).stdout).toBe('');
  expect((await world.svc(['auth', 'keep', '--within', '25d'])).stdout).toMatch(/^young\t\trefreshed\t/u);
  for (const span of ['soon', '7', '-1d', '']) {
    expect([span, (await world.svc(['auth', 'keep', '--within', span])).exitCode]).toEqual([span, 2]);
  }
});

test('where some cannot be refreshed it is exit 8, each has its line, and the rest is refreshed', async () => {
  const world = await machine();
  await logIn(world, 'a-ended', 29, { refresh_token: 'rt_of_nobody' });
  await logIn(world, 'b-damaged', 29);
  await storeOf(world).update('profile/b-damaged/oauth', async () => '{"half":');
  await logIn(world, 'c-without', 29, { refresh_token: undefined });
  await logIn(world, 'd-good', 29);
  const ran = await world.svc(['auth', 'keep', '--json']);
  expect(ran.exitCode).toBe(8);
  const lines = JSON.parse(ran.stdout) as Line[];
  expect(lines.map(({ profile, outcome }) => [profile, outcome])).toEqual([
    ['a-ended', 'failed'],
    ['b-damaged', 'failed'],
    ['c-without', 'failed'],
    ['d-good', 'refreshed'],
  ]);
  for (const { profile, outcome, message } of lines) {
    if (outcome === 'failed') expect(message).toContain(`svc -p ${profile} login`);
  }
  expect(await saved(world, 'a-ended')).toBeUndefined();
});

test('where none can be refreshed it is exit 4, and a time-out of the network forgets no login', async () => {
  const world = await machine();
  for (const name of ['one', 'two']) await logIn(world, name, 29);
  const before = [await saved(world, 'one'), await saved(world, 'two')];
  const refused = await keepWhere(world, () => ({ lost: 'before-sending', reason: 'refused', detail: 'No.' }));
  expect(refused.exitCode).toBe(4);
  expect((JSON.parse(refused.stdout) as Line[]).map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  expect([await saved(world, 'one'), await saved(world, 'two')]).toEqual(before);
});

test('a lost answer is unknown, and never called refreshed; the login is kept', async () => {
  const world = await machine();
  for (const name of ['cut', 'good']) await logIn(world, name, 29);
  const before = await saved(world, 'cut');
  const ran = await keepWhere(world, ({ body }) =>
    String(body).includes(String(before?.refresh_token))
      ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' }
      : undefined,
  );
  expect(ran.exitCode).toBe(8);
  expect((JSON.parse(ran.stdout) as Line[]).map(({ profile, outcome }) => [profile, outcome])).toEqual([
    ['cut', 'unknown'],
    ['good', 'refreshed'],
  ]);
  expect(await saved(world, 'cut')).toEqual({ ...before, unanswered: true });
});

test('where of none it is known whether it is refreshed it is exit 9', async () => {
  const world = await machine();
  for (const name of ['one', 'two']) await logIn(world, name, 29);
  const ran = await keepWhere(world, () => ({ lost: 'after-sending', reason: 'reset', detail: 'Broken.' }));
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('None of 2 logins is known to be refreshed.');
});

test('two at once refresh each login once or more, and both keep it', async () => {
  const world = await machine();
  for (const name of ['one', 'two']) await logIn(world, name, 29);
  const [a, b] = await Promise.all([world.svc(['auth', 'keep']), world.svc(['auth', 'keep'])]);
  expect([a.exitCode, b.exitCode]).toEqual([0, 0]);
  for (const name of ['one', 'two']) {
    const login = await saved(world, name);
    expect(Date.parse(login?.issued_at ?? '')).toBeGreaterThan(world.clock.now().getTime() - day);
  }
});

test('Ctrl-C says which are refreshed', async () => {
  const world = await machine();
  for (const name of ['one', 'two']) await logIn(world, name, 29);
  const stop = new AbortController();
  const ran = await world.svc(['auth', 'keep'], {
    signal: stop.signal,
    progress: (text = '') => {
      if (text === 'Keeping two') stop.abort('SIGINT');
    },
    env: bare,
  });
  expect([ran.exitCode, ran.stderr]).toEqual([130, expect.stringContaining('Interrupted. Refreshed: one.')]);
});

test('a login that was answered before the end counts as refreshed', async () => {
  const world = await machine();
  await logIn(world, 'one', 29);
  const before = await saved(world, 'one');
  const stop = new AbortController();
  world.override = ({ url }) => void (url.endsWith('/token') && stop.abort('SIGINT'));
  const ran = await world.svc(['auth', 'keep'], { signal: stop.signal, env: bare });
  const isNew = (await saved(world, 'one'))?.refresh_token !== before?.refresh_token;
  expect([ran.exitCode, isNew, ran.stderr]).toEqual([
    130,
    true,
    expect.stringContaining('Interrupted. Refreshed: one.'),
  ]);
});

test('no secret is printed', async () => {
  const world = await machine();
  await logIn(world, 'one', 29);
  const tokens = await saved(world, 'one');
  const ran = await world.svc(['auth', 'keep', '--json', '--debug']);
  for (const secret of [tokens?.refresh_token, 'sandbox_secret', (await saved(world, 'one'))?.refresh_token]) {
    expect(`${ran.stdout}${ran.stderr}`).not.toContain(String(secret));
  }
});
