import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../src/auth/session.ts';
import { settle } from '../../src/config/settings.ts';
import { type AuthWorld, authWorld, loginOf, origin, storeOf, visit } from './auth-world.ts';

const scopes = ['identity', 'contacts:read', 'contacts:write', 'tickets:read', 'tickets:write'];
const blind = scopes.filter((scope) => scope !== 'identity');
const app = { client_id: 'sandbox_cli' };

type As = { readonly account: number; readonly told?: boolean; readonly scopes?: readonly string[] };

/** What `svc login` leaves behind. `told`: the account is kept with it, as since this version. */
async function logIn(world: AuthWorld, { account, told = true, scopes: granted = scopes }: As): Promise<void> {
  const grant = await world.control('tokens', { account_id: account, scopes: granted });
  const issued = world.clock.now().getTime();
  const login = {
    base_url: origin,
    auth_url: origin,
    client_id: 'sandbox_cli',
    access_token: grant.access_token,
    refresh_token: grant.refresh_token,
    issued_at: new Date(issued).toISOString(),
    expires_at: new Date(issued + 3600_000).toISOString(),
    scopes: granted,
    ...(told && { account_id: account }),
  };
  const client = { auth_url: origin, client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  await storeOf(world).update('profile/default/oauth', async () => JSON.stringify(login));
  await storeOf(world).update('profile/default/client', async () => JSON.stringify(client));
}

type Ticket = { readonly id: number; readonly account_id: number; readonly subject: string };

async function rowsOf(world: AuthWorld, account: number): Promise<readonly string[]> {
  const { tickets } = (await world.state()) as { tickets?: readonly Ticket[] };
  const own = (tickets ?? []).filter(({ account_id: id, subject }) => id === account && /^Row \d/u.test(subject));
  return own.map(({ subject }) => subject).sort();
}

/** Rows 1 to 4; after the second, somebody does `meanwhile` in another terminal. */
async function bulk(world: AuthWorld, meanwhile: () => Promise<void>) {
  const file = join(world.folder, 'rows.csv');
  await writeFile(file, 'subject\nRow 1\nRow 2\nRow 3\nRow 4\n');
  let writes = 0;
  world.watch = async ({ method, url }) => {
    if (method !== 'POST' || !url.endsWith('/tickets') || ++writes !== 3) return;
    await meanwhile();
  };
  const ran = await world.svc(['tickets', 'create', '--from', file, '--yes', '--concurrency', '1', '--json']);
  world.watch = undefined;
  return ran;
}

/** The customer of account 1 ends the connection, so that the tokens of before are refused. */
const endFirst = (world: AuthWorld) => world.control('disconnect', { account_id: 1, ...app });

async function world(): Promise<AuthWorld> {
  const made = await authWorld();
  await made.control('modules', { account_id: 2, support: true });
  return made;
}

describe('a run that began in one account writes into no other', () => {
  test('when the profile was logged in to another account and the old token is refused', async () => {
    const here = await world();
    await logIn(here, { account: 1 });
    const ran = await bulk(here, async () => {
      await endFirst(here);
      await logIn(here, { account: 2 });
    });
    expect([await rowsOf(here, 1), await rowsOf(here, 2)]).toEqual([['Row 1', 'Row 2'], []]);
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain(
      'Profile default was logged in to account 2 while this command was at work in account 1.',
    );
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 4, done: 2, unsent: 2, unknown: 0 });
    // The other login is as good as before.
    expect(await loginOf(here)).toMatchObject({ account_id: 2 });
  });

  test('when its own token is about to end: the new login is not even refreshed', async () => {
    const here = await world();
    await logIn(here, { account: 1 });
    const ran = await bulk(here, async () => {
      await logIn(here, { account: 2 });
      here.clock.advance(3590_000);
    });
    expect([await rowsOf(here, 1), await rowsOf(here, 2)]).toEqual([['Row 1', 'Row 2', 'Row 3'], []]);
    expect(ran.exitCode).toBe(8);
    expect(here.sent.filter(({ what }) => what.endsWith('/token'))).toEqual([]);
  });

  test.each<[string, As, As, number, string[], string[]]>([
    [
      'that does not say its account, and may not be asked',
      { account: 1 },
      { account: 2, told: false, scopes: blind },
      8,
      ['Row 1', 'Row 2'],
      [],
    ],
    [
      'of the same account that may not be asked',
      { account: 1 },
      { account: 1, told: false, scopes: blind },
      8,
      ['Row 1', 'Row 2'],
      [],
    ],
    ['of another account, by asking', { account: 1 }, { account: 2, told: false }, 8, ['Row 1', 'Row 2'], []],
    [
      'of the same account, by asking',
      { account: 1 },
      { account: 1, told: false },
      0,
      ['Row 1', 'Row 2', 'Row 3', 'Row 4'],
      [],
    ],
    ['of the same account', { account: 1 }, { account: 1 }, 0, ['Row 1', 'Row 2', 'Row 3', 'Row 4'], []],
    [
      'of the same account, after one that the run has asked',
      { account: 1, told: false },
      { account: 1 },
      0,
      ['Row 1', 'Row 2', 'Row 3', 'Row 4'],
      [],
    ],
    [
      'after one whose account is not known',
      { account: 1, told: false, scopes: blind },
      { account: 2 },
      8,
      ['Row 1', 'Row 2'],
      [],
    ],
  ])('when it finds a login %s', async (_, first, second, exitCode, inOne, inTwo) => {
    const here = await world();
    await logIn(here, first);
    const ran = await bulk(here, async () => {
      await endFirst(here);
      await logIn(here, second);
    });
    expect([await rowsOf(here, 1), await rowsOf(here, 2)]).toEqual([inOne, inTwo]);
    expect(ran.exitCode).toBe(exitCode);
  });

  test('when the profile was logged out, and in to another account with an API key or a login', async () => {
    const here = await world();
    await logIn(here, { account: 1 });
    const ran = await bulk(here, async () => {
      await endFirst(here);
      await storeOf(here).update('profile/default/oauth', async () => undefined);
      const key = { base_url: origin, token: 'key_globex', account_id: 2 };
      await storeOf(here).update('profile/default/api_key', async () => JSON.stringify(key));
    });
    expect([await rowsOf(here, 1), await rowsOf(here, 2)]).toEqual([['Row 1', 'Row 2'], []]);
    expect(ran.exitCode).toBe(8);
  });

  test('and a refresh by another process is no other login, also of one that an older version has kept', async () => {
    const here = await world();
    await logIn(here, { account: 1, told: false, scopes: blind });
    const ran = await bulk(here, async () => {
      expect((await here.svc(['auth', 'refresh'])).exitCode).toBe(0);
      const { access_token: fresh } = (await loginOf(here)) ?? {};
      here.override = ({ headers }) =>
        headers.authorization && headers.authorization !== `Bearer ${fresh}`
          ? {
              status: 401,
              headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '9' },
              body: '{"error":"Unauthenticated."}',
            }
          : undefined;
    });
    expect(ran.exitCode).toBe(0);
    expect(await rowsOf(here, 1)).toEqual(['Row 1', 'Row 2', 'Row 3', 'Row 4']);
  });
});

test('a login keeps with its tokens which account it is of, and which login it is', async () => {
  const here = await authWorld();
  await here.svc(['login', '--redirect-uri', here.redirectUri], {
    openBrowser: async (url) => {
      void here.consent(url).then(visit);
    },
  });
  const login = await loginOf(here);
  expect(login).toMatchObject({ account_id: 1, login_id: expect.stringMatching(/^[\da-f]{32}$/u) });
  await here.svc(['auth', 'refresh']);
  const refreshed = await loginOf(here);
  expect(refreshed?.access_token).not.toBe(login?.access_token);
  expect(refreshed).toMatchObject({ account_id: 1, login_id: login?.login_id });
});

test('a login to another account that cannot be kept leaves no account beside the old one', async () => {
  const here = await world();
  await here.svc(['login', '--with-api-key', '--insecure-storage'], { stdin: 'key_acme\n' });
  const config = async () => JSON.parse(await readFile(join(here.folder, 'config', 'config.json'), 'utf8'));
  expect((await config()).profiles.default.account).toEqual({ id: 1, name: 'Acme' });
  here.watch = async () => {
    // From here on the store cannot be written, as on a full disk.
    await rm(join(here.folder, 'config', 'credentials.json'), { force: true });
    await mkdir(join(here.folder, 'config', 'credentials.json'), { recursive: true });
  };
  const ran = await here.svc(['login', '--with-api-key', '--insecure-storage'], { stdin: 'key_globex\n' });
  expect(ran.exitCode).not.toBe(0);
  expect((await config()).profiles.default.account).toBeUndefined();
});

test('a login that moves the profile to another account names the one that it was of', async () => {
  const here = await world();
  const logInAs = (key: string, ...more: string[]) =>
    here.svc(['login', '--with-api-key', '-p', 'k', ...more], { stdin: `${key}\n` });
  expect((await logInAs('key_acme')).stderr).not.toContain('before');
  expect((await logInAs('key_acme')).stderr).not.toContain('before');
  expect((await logInAs('key_globex')).stderr).toContain('Profile k was of Acme (account 1) before.\n');
  const told = JSON.parse((await logInAs('key_acme', '--json')).stdout);
  expect(told).toMatchObject({ account: { id: 1 }, account_before: { id: 2, name: 'Globex' } });
  expect(JSON.parse((await logInAs('key_acme', '--json')).stdout)).not.toHaveProperty('account_before');
});

test('a session is of the account that the profile had when it was opened, though its first request comes later', async () => {
  const here = await world();
  await logIn(here, { account: 1 });
  const { exchange, clock } = here;
  const signal = new AbortController().signal;
  const ctx = { env: {}, tokens: storeOf(here), exchange, clock, signal, notice: () => {}, progress: () => {} };
  const settings = settle({}, { SVC_BASE_URL: origin }, {});
  const session = await openSession(ctx, settings);
  const first = (await loginOf(here))?.access_token;
  await logIn(here, { account: 2 });
  const bearer = await session.bearer({ credentials: ['oauth'] });
  expect(bearer.token).toBe(first);
  await endFirst(here);
  await expect(session.renew(bearer)).rejects.toMatchObject({ kind: 'auth' });
  // A second session of the same process is no way around it.
  await expect(openSession(ctx, settings).then((other) => other.renew(bearer))).rejects.toMatchObject({ kind: 'auth' });
});
