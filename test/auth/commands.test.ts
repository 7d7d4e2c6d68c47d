import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AuthWorld, authWorld, origin, visit } from './auth-world.ts';

const withKey = (world: AuthWorld, key: string, ...argv: string[]) =>
  world.svc(['login', '--with-api-key', ...argv], { stdin: `${key}\n` });

const browse = (world: AuthWorld, ...argv: string[]) =>
  world.svc([...argv], { openBrowser: async (url) => void world.consent(url).then(visit) });

const login = (world: AuthWorld, ...argv: string[]) =>
  browse(world, 'login', '--redirect-uri', world.redirectUri, ...argv);

const json = async (world: AuthWorld, ...argv: string[]) => JSON.parse((await world.svc([...argv, '--json'])).stdout);

const revoked = (world: AuthWorld) => world.sent.filter(({ what }) => what.endsWith('/revoke')).length;

describe('login with a secret', () => {
  test('is tried first, kept for the profile, and used from then on', async () => {
    const world = await authWorld();
    const ran = await withKey(world, '  key_acme  ');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toBe('Logged in to Acme (account 1) as profile default. API key, kept in the file.\n');
    const { stdout } = await world.svc(['whoami'], { env: { SVC_BASE_URL: undefined } });
    const rows = stdout.split('\n').map((row) => row.split('\t').slice(0, 4));
    expect(rows).toEqual([
      ['profile', 'default'],
      ['base_url', origin],
      ['account', 'Acme'],
      ['account_id', '1'],
      ['api_key', 'valid', 'file', ''],
      [''],
    ]);
  });

  test.each([
    ['a wrong key', 'key_wrong\n', 4],
    ['nothing', '', 2],
    ['an empty line', '\n', 2],
    ['a key with a space', 'key acme\n', 2],
    ['a file that is no key', 'x'.repeat(70_000), 2],
  ])('%s is refused and not stored', async (_, stdin, exitCode) => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--with-api-key'], { stdin });
    expect(ran.exitCode).toBe(exitCode);
    expect(await world.written()).not.toContain('key');
  });

  test('is asked for, masked, on a terminal', async () => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--with-api-key'], { columns: 80, answers: ['key_acme'] });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout + ran.stderr).not.toContain('key_acme');
  });

  test('is never asked for with --no-input: exit 2', async () => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--with-api-key', '--no-input'], { columns: 80 });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('standard input');
  });

  test('a machine-to-machine token is tried against the one place that takes it', async () => {
    const world = await authWorld();
    const m2m = (token: string) => world.svc(['login', '--with-m2m-token'], { stdin: token });
    expect((await m2m('m2m_wrong')).exitCode).toBe(4);
    expect((await m2m('m2m_sandbox')).exitCode).toBe(0);
    expect(await json(world, 'whoami')).toMatchObject({ account: null, credentials: [{ kind: 'm2m', valid: true }] });
  });

  test('a machine-to-machine token beside a login whose account is known is of that account', async () => {
    const world = await authWorld();
    await login(world);
    const ran = await world.svc(['login', '--with-m2m-token'], { stdin: 'm2m_sandbox' });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.stdout).toContain('Logged in to Acme (account 1)');
    expect(ran.stdout).not.toContain('not known');
    world.override = ({ url }) =>
      url.endsWith('/meetings') ? { status: 404, headers: {}, body: '{"error":"Not found."}' } : undefined;
    const other = await world.svc(['login', '--with-m2m-token'], { stdin: 'm2m_sandbox' });
    expect(other.stdout).toContain('the account is not known');
  });

  test('a second account in one profile is refused, in a profile of its own welcome', async () => {
    const world = await authWorld();
    await login(world);
    const ran = await withKey(world, 'key_globex');
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('belongs to account 1 (Acme), this to 2 (Globex); nothing was stored');
    const [, advice = ''] = /Use a separate profile: svc (.+)\n/u.exec(ran.stderr) ?? [];
    const typed = await world.svc(advice.split(' '), { stdin: 'key_globex', env: { SVC_BASE_URL: undefined } });
    expect(typed, advice).toMatchObject({ exitCode: 0 });
    expect((await withKey(world, 'key_globex', '--profile', 'globex')).exitCode).toBe(0);
    // The same kind of credential is simply replaced.
    expect((await withKey(world, 'key_acme', '--profile', 'globex')).exitCode).toBe(0);
  });

  test.each([
    ['a failure of the service', { status: 503, headers: {}, body: 'oops' }],
    ['JSON that is no account', { status: 200, headers: {}, body: '{"account_id":"one"}' }],
  ])('%s says nothing against the key: it is kept, with a warning', async (_, answer) => {
    const world = await authWorld();
    world.override = () => answer;
    const ran = await withKey(world, 'key_acme');
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toMatch(/Warning: the login is kept, but its account could not be read/u);
    world.override = undefined;
    expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
  });

  test('the address of another product is told as such', async () => {
    const world = await authWorld();
    world.override = () => ({ status: 404, headers: {}, body: '{"error":"no such path"}' });
    const ran = await withKey(world, 'key_acme');
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('is not the service');
  });

  test('without an address: exit 2 with advice', async () => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--with-api-key'], { stdin: 'key_acme', env: { SVC_BASE_URL: undefined } });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('--base-url');
  });

  test('a variable that overrides it is named', async () => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--with-api-key'], { stdin: 'key_acme', env: { SVC_API_KEY: 'x' } });
    expect(ran.stderr).toContain('SVC_API_KEY is set and overrides this login');
  });
});

describe('status', () => {
  test('without any login: the shape, and exit 4', async () => {
    const world = await authWorld();
    const ran = await world.svc(['auth', 'status', '--json']);
    expect(ran.exitCode).toBe(4);
    expect(JSON.parse(ran.stdout)).toEqual({ profile: 'default', base_url: origin, account: null, credentials: [] });
    expect(ran.stderr).toContain('Run: svc login');
    expect(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { kind: 'auth', exit_code: 4 },
    });
  });

  test('of a key that was deleted in the account: not valid, exit 4', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    world.override = () => ({ status: 401, headers: {}, body: '{"error":"Unauthenticated."}' });
    const ran = await world.svc(['auth', 'status', '--json']);
    expect(ran.exitCode).toBe(4);
    expect(JSON.parse(ran.stdout).credentials).toMatchObject([{ kind: 'api_key', valid: false }]);
    expect(ran.stderr).toContain('svc login --with-api-key');
  });

  test('one credential that works is enough', async () => {
    const world = await authWorld();
    await login(world);
    await withKey(world, 'key_acme');
    await world.control('disconnect', { account_id: 1, client_id: 'sandbox_cli' });
    const ran = await world.svc(['auth', 'status', '--json']);
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      account: { id: 1, name: 'Acme' },
      credentials: [
        { kind: 'api_key', valid: true },
        { kind: 'oauth', valid: false },
      ],
    });
  });

  test('of credentials from the environment', async () => {
    const world = await authWorld();
    const { access_token } = await world.control('tokens', { account_id: 1, scopes: ['contacts:read'] });
    const env = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: String(access_token), SVC_M2M_TOKEN: 'm2m_sandbox' };
    const ran = await world.svc(['auth', 'status', '--json'], { env });
    expect(JSON.parse(ran.stdout).credentials).toMatchObject([
      { kind: 'api_key', valid: true, store: 'environment' },
      { kind: 'oauth', valid: true, store: 'environment', scopes: null },
      { kind: 'm2m', valid: true, store: 'environment' },
    ]);
    expect((await world.svc(['contacts', 'list'], { env })).exitCode).toBe(0);
    expect(await world.written()).toBe('');
    const served = async (own: Partial<typeof env>) => (await world.svc(['whoami'], { env: own })).stdout;
    expect(await served(env)).toContain(
      'oauth\tvalid\tenvironment\t\twebhook subscriptions, where its scopes allow them; which it has is not known\t',
    );
    // It is not said what a token may do whose scopes nobody knows.
    expect(await served({ SVC_ACCESS_TOKEN: env.SVC_ACCESS_TOKEN })).toContain(
      'oauth\tvalid\tenvironment\t\twhat its scopes and the modules of the account allow, and no meetings; which scopes it has is not known\t',
    );
  });

  test('of a login that was disconnected: the store that it was kept in, not that of new ones', async () => {
    const world = await authWorld();
    await login(world);
    await world.control('disconnect', { account_id: 1, client_id: 'sandbox_cli' });
    // Nothing is in it.
    const keyring = { read: async () => undefined, write: async () => {}, remove: async () => {} };
    const ran = await world.svc(['whoami', '--json'], { keyring });
    expect(ran.exitCode).toBe(4);
    expect(JSON.parse(ran.stdout).credentials).toMatchObject([{ kind: 'oauth', valid: false, store: 'file' }]);
  });

  test('in a pipe says what a terminal is told too: what is served, and the scopes granted and not', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity', '--scope', 'webhooks:manage');
    const { stdout } = await world.svc(['auth', 'status']);
    const [kind, state, place, expires, serves, granted, missing] =
      stdout.trimEnd().split('\n').at(-1)?.split('\t') ?? [];
    expect([kind, state, place, serves, granted]).toEqual([
      'oauth',
      'valid',
      'file',
      'what was granted, and no meetings',
      'identity webhooks:manage',
    ]);
    expect(expires).toBe('2026-03-01T13:00:00.000Z');
    expect(missing?.split(' ')).toContain('tickets:read');
  });

  test('on a terminal says which credential serves what', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity', '--scope', 'webhooks:manage');
    await withKey(world, 'key_acme');
    const ran = await world.svc(['whoami'], { columns: 60, env: { NO_COLOR: '1' } });
    expect(ran.stdout).toBe(
      [
        'Profile  default',
        'Service  https://service.test',
        'Account  Acme (1)',
        '',
        'API key      works, kept in the file',
        '             serves everything but webhook subscriptions and',
        '             meetings',
        '',
        'OAuth login  works, kept in the file',
        '             serves webhook subscriptions',
        '             granted: identity webhooks:manage',
        '             not granted: branding:write contacts:read',
        '             contacts:write calls:read tickets:read',
        '             tickets:write conversations:read',
        '             conversations:write changelog:read',
        '             changelog:write feedback:read sequences:trigger',
        '             until 2026-03-01 13:00, refreshed by itself',
        '',
      ].join('\n'),
    );
  });

  test('without a network: exit 10, and nothing is forgotten', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    world.override = () => ({ lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' });
    expect((await world.svc(['whoami'])).exitCode).toBe(10);
    expect((await world.svc(['auth', 'token'])).stdout).toBe('key_acme\n');
  });
});

describe('profiles', () => {
  test('are listed with what they hold, the default first, without asking the service', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    await withKey(world, 'key_globex', '--profile', 'aaa');
    const before = world.sent.length;
    const row = { base_url: origin, credentials: ['api_key'] };
    expect(await json(world, 'auth', 'list')).toEqual([
      { profile: 'default', default: true, account: { id: 1, name: 'Acme' }, ...row },
      { profile: 'aaa', default: false, account: { id: 2, name: 'Globex' }, ...row },
    ]);
    expect(world.sent).toHaveLength(before);
  });

  test('switching to one whose sends are held less asks a person at a terminal', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    await withKey(world, 'key_globex', '--profile', 'globex');
    await world.svc(['config', 'set', 'sends', 'draft']);
    for (const line of [
      ['auth', 'switch', 'globex', '--yes'],
      ['config', 'set', 'default_profile', 'globex'],
    ]) {
      expect(await world.svc(line)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('at a terminal') });
    }
    expect((await world.svc(['auth', 'switch', 'globex'], { columns: 80, answers: [false] })).exitCode).toBe(1);
    expect((await json(world, 'whoami')).account).toEqual({ id: 1, name: 'Acme' });
    expect((await world.svc(['auth', 'switch', 'globex'], { columns: 80, answers: [true] })).exitCode).toBe(0);
    expect((await json(world, 'whoami')).account).toEqual({ id: 2, name: 'Globex' });
    expect((await world.svc(['auth', 'switch', 'default'])).exitCode).toBe(0);
  });

  test('switching changes which one is used', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    const other = await withKey(world, 'key_globex', '--profile', 'globex');
    expect(other.stderr).toContain('Without --profile svc uses default. To change that: svc auth switch globex');
    expect((await world.svc(['auth', 'switch', 'globex'])).exitCode).toBe(0);
    expect((await json(world, 'whoami')).account).toEqual({ id: 2, name: 'Globex' });
    const ran = await world.svc(['auth', 'switch', 'nowhere']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('default, globex'.split(', ').sort().reverse().join(', '));
  });

  test('logging out of the one that is used says how another is', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    await withKey(world, 'key_globex', '--profile', 'globex');
    await withKey(world, 'key_globex', '--profile', 'third');
    expect((await world.svc(['logout', '--profile', 'third'])).stderr).not.toContain('auth switch');
    await withKey(world, 'key_globex', '--profile', 'third');
    const several = await world.svc(['logout']);
    expect(several.stderr).toContain('still uses default. To change that: svc auth switch NAME (globex or third)');
    await withKey(world, 'key_acme');
    await world.svc(['logout', '--profile', 'third']);
    expect((await world.svc(['logout'])).stderr).toContain(
      'still uses default. To change that: svc auth switch globex',
    );
    expect((await world.svc(['logout', '--profile', 'globex'])).stderr).not.toContain('auth switch');
  });

  test('names that are no names are refused', async () => {
    const world = await authWorld();
    for (const name of ['../x', '', '__proto__', 'a b', 'x'.repeat(65)]) {
      expect((await world.svc(['login', '--with-api-key', '--profile', name], { stdin: 'key_acme' })).exitCode).toBe(2);
      expect((await world.svc(['auth', 'switch', name])).exitCode).toBe(2);
    }
    expect(await world.written()).toBe('');
  });
});

test('the token is printed as svc would send it, or the one that is asked for', async () => {
  const world = await authWorld();
  await login(world);
  await withKey(world, 'key_acme');
  expect((await world.svc(['auth', 'token'])).stdout).toBe('key_acme\n');
  const { stdout } = await world.svc(['auth', 'token', '--kind', 'oauth']);
  expect((await world.svc(['account', 'get'], { env: { SVC_ACCESS_TOKEN: stdout.trim() } })).exitCode).toBe(0);
  expect((await world.svc(['auth', 'token', '--kind', 'm2m'])).exitCode).toBe(4);
});

describe('logout', () => {
  test('revokes at the service, then forgets', async () => {
    const world = await authWorld();
    await login(world);
    const token = (await world.svc(['auth', 'token'])).stdout.trim();
    expect((await world.svc(['logout'])).exitCode).toBe(0);
    expect((await world.svc(['account', 'get'], { env: { SVC_ACCESS_TOKEN: token } })).exitCode).toBe(4);
    expect((await world.svc(['account', 'get'])).exitCode).toBe(4);
    expect(await world.written()).not.toContain(token);
    expect(await world.written()).not.toContain('sandbox_secret');
  });

  test('keeps a login that it could not revoke, until --local-only', async () => {
    const world = await authWorld();
    await login(world);
    world.override = ({ url }) =>
      url.endsWith('/revoke') ? { lost: 'after-sending', reason: 'timeout', detail: 'No answer.' } : undefined;
    const ran = await world.svc(['logout']);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('may or may not have been revoked, and is kept');
    expect(ran.stderr).toContain('--local-only');
    const all = await world.svc(['logout', '--all', '--yes']);
    expect([all.exitCode, all.stderr]).toEqual([9, expect.stringContaining('svc logout --all --local-only')]);
    expect((await world.svc(['account', 'get'])).exitCode).toBe(0);
    expect((await world.svc(['logout', '--local-only'])).exitCode).toBe(0);
    expect((await world.svc(['account', 'get'])).exitCode).toBe(4);
  });

  test('says what is still good at the service, and how it ends there', async () => {
    const world = await authWorld();
    await login(world);
    await withKey(world, 'key_acme');
    const both = (await world.svc(['logout'])).stderr;
    expect(both).toContain('The OAuth login was revoked at the service.');
    expect(both).toMatch(/The \S.* was not revoked, which svc cannot do\. It stays valid until you delete it/u);
    await login(world);
    const local = (await world.svc(['logout', '--local-only'])).stderr;
    expect(local).toContain('The OAuth login was not revoked: whoever has its tokens can use them for up to 30 days.');
    expect(local).toContain('disconnect the app in the account');
    expect(local).not.toContain('was revoked at');
    expect((await world.svc(['logout'])).stderr).not.toContain('revoked');
  });

  test('that stops after the refresh token says so: exit 8', async () => {
    const world = await authWorld();
    await login(world);
    let revocations = 0;
    world.override = ({ url }) =>
      url.endsWith('/revoke') && ++revocations > 1
        ? { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }
        : undefined;
    const ran = await world.svc(['logout']);
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain('was not revoked, and is kept');
    expect(ran.stderr).toContain('Before that, the refresh token of profile default was revoked.');
    expect(ran.stderr).toContain('It is safe to run the command again');
  });

  test.each([
    ['an empty success', { status: 204, headers: {}, body: '' }],
    ['a token that is unknown there', { status: 400, headers: {}, body: '{"error":"invalid_token"}' }],
  ])('takes %s for revoked', async (_, answer) => {
    const world = await authWorld();
    await login(world);
    world.override = ({ url }) => (url.endsWith('/revoke') ? answer : undefined);
    expect((await world.svc(['logout'])).exitCode).toBe(0);
    expect(await json(world, 'auth', 'list')).toEqual([]);
  });

  test('of one profile leaves the others; --all takes them all', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    await withKey(world, 'key_globex', '--profile', 'globex');
    await login(world, '--profile', 'browser');
    await world.svc(['logout']);
    expect(
      (await json(world, 'auth', 'list')).filter((one: { credentials: [] }) => one.credentials.length > 0),
    ).toHaveLength(2);
    expect((await world.svc(['logout', '--all', '--yes'])).exitCode).toBe(0);
    expect(revoked(world)).toBe(2);
    expect(
      (await json(world, 'auth', 'list')).filter((one: { credentials: [] }) => one.credentials.length > 0),
    ).toEqual([]);
  });

  test('--all is confirmed like a delete; in a pipe it takes --yes', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    await withKey(world, 'key_globex', '--profile', 'globex');
    const held = async () =>
      (await json(world, 'auth', 'list')).filter((one: { credentials: [] }) => one.credentials.length > 0);
    const piped = await world.svc(['auth', 'logout', '--all']);
    expect(piped.exitCode).toBe(2);
    expect(piped.stderr).toContain('Refusing to log out of every profile (default, globex) without confirmation.');
    expect(piped.stderr).toContain('--yes');
    expect((await world.svc(['logout', '--all', '--local-only', '--no-input'], { columns: 80 })).exitCode).toBe(2);
    expect((await world.svc(['logout', '--all'], { columns: 80, answers: [false] })).exitCode).toBe(1);
    expect(await held()).toHaveLength(2);
    expect((await world.svc(['logout', '--all'], { columns: 80, answers: [true] })).exitCode).toBe(0);
    expect(await held()).toEqual([]);
    // With nothing to forget there is nothing to ask.
    expect((await world.svc(['logout', '--all'])).exitCode).toBe(0);
  });

  test('where nobody is logged in is a success', async () => {
    const world = await authWorld();
    const ran = await world.svc(['logout']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: 'Profile default is not logged in.\n' });
  });

  test('--all and a named profile cannot be used together', async () => {
    const world = await authWorld();
    expect((await world.svc(['logout', '--all', '-p', 'work'])).exitCode).toBe(2);
  });
});

describe('more scopes', () => {
  test('take a new consent with those that are there and the new ones', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity', '--scope', 'contacts:read');
    const ran = await browse(world, 'auth', 'refresh', '--scope', 'tickets:write');
    expect(ran.exitCode).toBe(0);
    const [{ scopes }] = (await json(world, 'auth', 'status')).credentials;
    expect(scopes).toEqual(['identity', 'contacts:read', 'tickets:write']);
  });

  test.each([
    ['nothing', ''],
    ['the secret first, as a login in a pipe takes it', 'sandbox_secret\n'],
  ])('take the secret that is stored, in a pipe with %s too', async (_, stdin) => {
    const world = await authWorld();
    await login(world, '--scope', 'identity');
    const ran = await world.svc(['auth', 'refresh', '--scope', 'tickets:write'], {
      env: { SVC_CLIENT_SECRET: undefined },
      stdin,
      openBrowser: async (url) => void world.consent(url).then(visit),
    });
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('redirected address') });
  });

  test('that are there already need no browser', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity');
    const ran = await world.svc(['auth', 'refresh', '--scope', 'identity'], {
      openBrowser: () => Promise.reject(new Error('The browser was opened.')),
    });
    expect(ran.exitCode).toBe(0);
  });

  test('and refreshing act on the profile, whatever the environment holds', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity');
    const env = { SVC_API_KEY: 'key_globex' };
    expect((await world.svc(['auth', 'refresh'], { env })).exitCode).toBe(0);
    const elsewhere = await world.svc(['auth', 'refresh', '--base-url', 'https://evil.example.com']);
    expect(elsewhere.exitCode).toBe(2);
  });

  test('of a profile without an OAuth login: exit 4', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    expect((await world.svc(['auth', 'refresh'])).exitCode).toBe(4);
  });

  test('a 403 names the scope and the command that mends it', async () => {
    const world = await authWorld();
    await login(world, '--scope', 'identity');
    const ran = await world.svc(['contacts', 'list']);
    expect(ran.exitCode).toBe(5);
    expect(ran.stderr).toContain('svc auth refresh --scope contacts:read');
  });

  test('that a saved key lacks is not to be had by a refresh', async () => {
    const world = await authWorld();
    await withKey(world, 'key_acme');
    const body = JSON.stringify({ error: 'insufficient_scope', error_description: 'Needs contacts:read.' });
    world.override = ({ url }) => (url.includes('/contacts') ? { status: 403, headers: {}, body } : undefined);
    const ran = await world.svc(['contacts', 'list']);
    expect([ran.exitCode, ran.stderr]).toEqual([
      5,
      expect.stringContaining('With one that has contacts:read: svc login'),
    ]);
    expect(ran.stderr).not.toContain('auth refresh');
  });
});

describe('where logins cannot be written', () => {
  test.each([
    ['config', ['login', '--with-api-key']],
    ['config', ['config', 'set', 'output', 'json']],
  ])('a file in the place of the folder %s: %j says so', async (name, argv) => {
    const world = await authWorld();
    await writeFile(join(world.folder, name), 'a file');
    const ran = await world.svc(argv, { stdin: 'key_acme' });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(join(world.folder, name));
    expect(ran.stderr).toContain('a part of the path is a file');
    expect(ran.stderr).not.toContain('failed unexpectedly');
  });
});

describe('config', () => {
  test('keeps what it is told, per profile where it belongs to one', async () => {
    const world = await authWorld();
    const set = (...argv: string[]) => world.svc(['config', 'set', ...argv]);
    await set('base_url', 'https://api.example.com/v1/', '-p', 'work');
    await set('output', 'json');
    expect((await world.svc(['config', 'get', 'base_url', '-p', 'work'])).stdout).toContain(
      'https://api.example.com/v1',
    );
    expect((await json(world, 'config', 'get', 'base_url')).value).toBeNull();
    await set('output', '');
    expect((await world.svc(['config', 'get', 'output'])).stdout).toBe('');
    const list = await json(world, 'config', 'list');
    expect(list.map(({ key }: { key: string }) => key)).toEqual([
      'default_profile',
      'base_url',
      'auth_url',
      'client_id',
      'redirect_uri',
      'sends',
      'hold',
      'drafts',
      'output',
      'color',
      'pager',
      'audit',
    ]);
  });

  test.each([
    ['output', 'xml'],
    ['color', 'blue'],
    ['audit', 'loud'],
    ['base_url', 'nowhere'],
    ['redirect_uri', 'http://example.com/'],
    ['default_profile', '../x'],
    ['api_key', 'x'],
  ])('%s %s is refused', async (key, value) => {
    const world = await authWorld();
    expect((await world.svc(['config', 'set', key, value])).exitCode).toBe(2);
    expect(await world.written()).toBe('');
  });

  describe('a setting of a profile that is not there', () => {
    const near =
      /^Error: There is no profile oatuh; did you mean oauth\?\nThere are: default, oauth\. To make it: svc (-p oatuh login|login --profile oatuh)\n$/u;

    async function withOauth() {
      const world = await authWorld();
      await world.svc(['login', '--with-api-key'], { stdin: 'key_acme' });
      await world.svc(['login', '--with-api-key', '-p', 'oauth'], { stdin: 'key_acme' });
      return world;
    }

    test.each([
      ['config', 'set', 'sends', 'draft', '-p', 'oatuh'],
      ['config', 'set', 'default_profile', 'oatuh'],
      ['auth', 'switch', 'oatuh'],
    ])('%s %s %s %s %s is refused, with the near one', async (...argv) => {
      const world = await withOauth();
      const before = await world.written();
      expect(await world.svc(argv)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(near) });
      expect(await world.written()).toBe(before);
    });

    test('another setting is kept and noted, and so is a guard with a credential of the environment or without a near name', async () => {
      const world = await withOauth();
      const noted = (name: string, near = '.') =>
        `Nothing else is saved of profile ${name}${near} To log in there: svc -p ${name} login\n`;
      expect(await world.svc(['config', 'set', 'base_url', 'https://api.example.com', '-p', 'oatuh'])).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(noted('oatuh', '; did you mean oauth?')),
      });
      // From then on there is something of it.
      expect((await world.svc(['config', 'set', 'sends', 'draft', '-p', 'oatuh'])).exitCode).toBe(0);
      expect(await world.svc(['config', 'set', 'sends', 'draft', '-p', 'staging'])).toMatchObject({
        exitCode: 0,
        stderr: `sends of profile staging is draft now.\n${noted('staging')}`,
      });
      const env = { SVC_API_KEY: 'key_acme' };
      expect((await world.svc(['config', 'set', 'sends', 'draft', '-p', 'ouath'], { env })).exitCode).toBe(0);
      expect((await world.svc(['config', 'unset', 'sends', '-p', 'oauht'])).exitCode).toBe(0);
    });

    test.each([{}, { SVC_API_KEY: 'key_acme' }])('logins that cannot be read keep no setting back: %j', async (env) => {
      const world = await withOauth();
      await writeFile(join(world.folder, 'config', 'credentials.json'), '{bad');
      for (const name of ['default', 'new'])
        expect((await world.svc(['config', 'set', 'sends', 'draft', '-p', name], { env })).exitCode).toBe(0);
    });

    test('is noted where nothing at all is saved', async () => {
      const { exitCode, stderr } = await (await authWorld()).svc(['config', 'set', 'sends', 'draft', '-p', 'ci']);
      expect(exitCode).toBe(0);
      expect(stderr).toContain('Nothing else is saved of profile ci.');
    });
  });

  test('keys that svc does not know are kept', async () => {
    const world = await authWorld();
    await world.svc(['config', 'set', 'pager', 'less']);
    const path = join(world.folder, 'config', 'config.json');
    const config = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...config, of_tomorrow: { a: 1 }, profiles: { work: { b: 2 } } }));
    await world.svc(['config', 'set', 'client_id', 'x', '-p', 'work']);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      of_tomorrow: { a: 1 },
      pager: 'less',
      profiles: { work: { b: 2, client_id: 'x' } },
    });
  });

  test.each(['{"output":', '[]', '{"profiles":{"work":7}}', '{"pager":{}}'])(
    'a broken file (%s) is named, exit 2, and left as it is',
    async (broken) => {
      const world = await authWorld();
      await world.svc(['config', 'set', 'pager', 'less']);
      const path = join(world.folder, 'config', 'config.json');
      await writeFile(path, broken);
      for (const argv of [
        ['config', 'list'],
        ['config', 'set', 'pager', 'more'],
        ['contacts', 'list'],
      ]) {
        const ran = await world.svc(argv);
        expect(ran.exitCode).toBe(2);
        expect(ran.stderr).toContain(path);
      }
      expect(await readFile(path, 'utf8')).toBe(broken);
    },
  );
});

test.each([
  ['login', ['--base-url URL', '--client-id ID', 'SVC_CLIENT_SECRET']],
  ['login --base-url https://service.test', ['--client-id ID', 'SVC_CLIENT_SECRET']],
  ['login --client-id x', ['--base-url URL', 'SVC_CLIENT_SECRET']],
  ['login --with-api-key', ['--base-url URL', 'standard input']],
])('svc %s without anything else names all that is missing at once', async (line, named) => {
  const world = await authWorld();
  const env = { SVC_BASE_URL: undefined, SVC_CLIENT_ID: undefined, SVC_CLIENT_SECRET: undefined };
  const ran = await world.svc(line.split(' '), { env, stdin: '' });
  expect(ran.exitCode).toBe(2);
  for (const one of named) expect(ran.stderr).toContain(one);
  if (line.includes('--base-url')) expect(ran.stderr).not.toContain('--base-url URL');
});
