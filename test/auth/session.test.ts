import { describe, expect, test } from 'vitest';
import type { CredentialKind } from '../../src/api/operation.ts';
import { updateProfile } from '../../src/config/config-file.ts';
import { type AuthWorld, authWorld, origin, storeOf } from './auth-world.ts';

/** A world whose default profile holds those, named after their kind. */
async function holding(...kinds: CredentialKind[]): Promise<AuthWorld> {
  const world = await authWorld();
  world.override = ({ headers }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account_id: 1, used: headers.authorization }),
  });
  const store = storeOf(world);
  for (const kind of kinds) {
    const secret =
      kind === 'oauth'
        ? {
            auth_url: origin,
            client_id: 'sandbox_cli',
            access_token: 'stored_oauth',
            issued_at: '2026-03-01T12:00:00.000Z',
            expires_at: '2026-03-01T13:00:00.000Z',
            scopes: [],
          }
        : { token: `stored_${kind}` };
    await store.update(`profile/default/${kind}`, async () => JSON.stringify({ base_url: origin, ...secret }));
  }
  return world;
}

const account = ['account', 'get'];
const webhooks = ['webhooks', 'list'];
const meetings = ['meetings', 'list', '--account', '1'];
const key = { SVC_API_KEY: 'env_api_key' };
const access = { SVC_ACCESS_TOKEN: 'env_oauth' };
const m2m = { SVC_M2M_TOKEN: 'env_m2m' };

describe('each operation takes the credential that the service accepts', () => {
  test.each<[CredentialKind[], Record<string, string>, string[], string]>([
    [['api_key', 'oauth', 'm2m'], {}, account, 'stored_api_key'],
    [['api_key', 'oauth', 'm2m'], {}, webhooks, 'stored_oauth'],
    [['api_key', 'oauth', 'm2m'], {}, meetings, 'stored_m2m'],
    [['oauth'], {}, account, 'stored_oauth'],
    [['api_key', 'oauth'], key, account, 'env_api_key'],
    [['api_key', 'oauth'], access, account, 'env_oauth'],
    [['api_key', 'oauth'], { ...key, ...access }, webhooks, 'env_oauth'],
    [[], { ...key, ...access, ...m2m }, meetings, 'env_m2m'],
    [['m2m'], key, meetings, 'stored_m2m'],
    [['api_key'], m2m, account, 'stored_api_key'],
  ])('a profile with %j, an environment with %j: %j goes out with %s', async (held, env, argv, token) => {
    const world = await holding(...held);
    await world.svc(argv, { env });
    // The request, and perhaps the question whose answers these are.
    expect([...new Set(world.sent.map(({ authorization }) => authorization))]).toEqual([`Bearer ${token}`]);
  });
});

describe('what is missing is exit 4 with the command that gets it, and nothing is sent', () => {
  test.each<[CredentialKind[], Record<string, string>, string[], RegExp]>([
    [[], {}, account, /Profile default is not logged in\..*?svc login/su],
    [['api_key'], {}, webhooks, /takes an OAuth login; profile default holds an API key\..*?Run: svc login$/msu],
    [['oauth'], {}, meetings, /takes a machine-to-machine token.*?svc login --with-m2m-token/su],
    [['m2m'], {}, account, /takes an API key or OAuth login.*?svc login --with-api-key/su],
    [
      ['oauth'],
      key,
      webhooks,
      /SVC_API_KEY is set\..*?Set SVC_ACCESS_TOKEN; or unset SVC_API_KEY and run: svc login/su,
    ],
  ])('a profile with %j, an environment with %j: %j', async (held, env, argv, said) => {
    const world = await holding(...held);
    const ran = await world.svc(argv, { env });
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toMatch(said);
    expect(world.sent).toEqual([]);
  });
});

test('without any credential the missing login is told before the missing address', async () => {
  const world = await authWorld();
  expect((await world.svc(account, { env: { SVC_BASE_URL: undefined } })).exitCode).toBe(4);
  const ran = await world.svc(account, { env: { SVC_BASE_URL: undefined, ...key } });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('--base-url');
});

test.each([
  [key, webhooks],
  [key, account],
  [access, account],
])('beside a credential in the environment those of the profile are never sent: %j %j', async (env, argv) => {
  const world = await holding('api_key', 'oauth');
  await world.svc(argv, { env });
  expect(JSON.stringify(world.sent)).not.toContain('stored_');
});

describe('a profile that is named, beside a credential in the environment', () => {
  test.each([
    [['-p', 'default'], {}],
    [[], { SVC_PROFILE: 'default' }],
  ])('%j %j: exit 2 naming both, nothing sent', async (flags, env) => {
    const world = await holding('api_key');
    const ran = await world.svc([...flags, ...account], { env: { ...env, ...key } });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('Profile default');
    expect(ran.stderr).toContain('SVC_API_KEY');
    expect(world.sent).toEqual([]);
  });

  test('is no contradiction where the profile holds nothing', async () => {
    const world = await holding();
    const named = await world.svc(['-p', 'work', ...account], { env: key });
    expect(named.exitCode).toBe(0);
    expect(named.stderr).toMatch(/^There is no profile work; SVC_API_KEY is used\.$/mu);
    for (const words of [['-p', 'work', '--quiet'], []])
      expect((await world.svc([...account, ...words], { env: key })).stderr).not.toContain('There is no profile');
    // In a job that is every run.
    const byVariable = await world.svc([...account], { env: { ...key, SVC_PROFILE: 'work' } });
    expect(byVariable).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('There is no profile') });
  });
});

test('a profile that is not there, beside others and a credential in the environment, is a slip: exit 2, nothing sent', async () => {
  const world = await holding('api_key');
  const ran = await world.svc(['-p', 'defualt', ...account], { env: key });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('There is no profile defualt; did you mean default? Nothing was sent.');
  expect(world.sent).toEqual([]);
});

describe('a stored credential belongs to the origin that it was stored for', () => {
  test.each<[CredentialKind, string[]]>([
    ['api_key', account],
    ['oauth', account],
    ['m2m', meetings],
  ])('%s', async (kind, argv) => {
    const world = await holding(kind);
    const ran = await world.svc([...argv, '--base-url', 'https://evil.example.com']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(
      /belongs to https:\/\/service\.test, not to https:\/\/evil\.example\.com; nothing was sent/u,
    );
    expect(ran.stderr).toContain('svc -p evil.example.com login --base-url https://evil.example.com');
    expect(world.sent).toEqual([]);
  });

  test('another path of the same origin is the same service', async () => {
    const world = await holding('api_key');
    await world.svc([...account, '--base-url', `${origin}/v1/`]);
    expect(world.sent.map(({ what }) => what)).toEqual(['GET /v1/platform/account']);
  });
});

test('a redirect to another origin does not carry the token there', async () => {
  const world = await holding('api_key');
  world.override = () => ({ status: 302, headers: { location: 'https://evil.example.com/' }, body: '' });
  const ran = await world.svc(account);
  expect(ran.exitCode).not.toBe(0);
  expect(world.sent).toHaveLength(1);
});

test.each(['two words', 'with\nnewline', 'ünïcode', '\u0000'])(
  'a token like %j never becomes a header',
  async (token) => {
    const world = await authWorld();
    const ran = await world.svc(account, { env: { SVC_API_KEY: token } });
    expect(ran.exitCode).toBe(2);
    expect(world.sent).toEqual([]);
  },
);

test('a damaged login is told by its profile, without its text, and can be made anew', async () => {
  const world = await holding('api_key');
  await storeOf(world).update('profile/work/api_key', async () => '{"token":"canary-half', 'best');
  const ran = await world.svc(['-p', 'work', ...account]);
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('The saved API key of profile work is damaged');
  expect(ran.stderr).not.toContain('canary');
  expect((await world.svc(account)).exitCode).toBe(0);
});

describe('http:// is for this machine: elsewhere nothing is sent unless it is asked for', () => {
  const far = ['http://api.example.com', 'http://localhost.example.com', 'http://service.test', 'http://10.0.0.1:8080'];
  test.each(far)('%s is exit 2', async (url) => {
    const world = await holding('api_key');
    const runs = [
      await world.svc(account, { env: { ...key, SVC_BASE_URL: url } }),
      await world.svc([...account, '--base-url', url], { env: key }),
      await world.svc(['login', '--with-api-key', '--base-url', url], { stdin: 'key_acme' }),
      await world.svc(['login', '--base-url', url, '--auth-url', origin]),
    ];
    for (const { exitCode, stderr } of runs) {
      expect(exitCode).toBe(2);
      expect(stderr).toContain('--insecure-http');
      expect(stderr).toContain('SVC_INSECURE_HTTP=1');
    }
    expect(world.sent).toEqual([]);
  });

  test('also an address that a profile has kept since before', async () => {
    const world = await holding();
    const url = 'http://api.example.com';
    await updateProfile({ files: { config: `${world.folder}/config`, state: '' }, clock: world.clock }, 'default', {
      base_url: url,
    });
    const store = storeOf(world);
    await store.update('profile/default/api_key', async () => JSON.stringify({ base_url: url, token: 'stored' }));
    const here = { env: { SVC_BASE_URL: undefined } };
    expect((await world.svc(account, here)).exitCode).toBe(2);
    expect(world.sent).toEqual([]);
    expect((await world.svc([...account, '--insecure-http'], here)).exitCode).toBe(0);
    expect(world.sent).toHaveLength(1);
  });

  test.each(['http://127.0.0.1:8080', 'http://127.3.2.1', 'http://[::1]:8080', 'http://localhost'])(
    '%s needs no leave',
    async (url) => {
      const world = await holding();
      const ran = await world.svc(account, { env: { ...key, SVC_BASE_URL: url } });
      expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('http') });
    },
  );

  test.each([
    [['--insecure-http'], {}],
    [[], { SVC_INSECURE_HTTP: '1' }],
  ])('with %j and %j it is sent', async (flags, env) => {
    const world = await holding();
    const ran = await world.svc([...account, ...flags], {
      env: { ...key, ...env, SVC_BASE_URL: 'http://api.example.com' },
    });
    expect(ran.exitCode).toBe(0);
    expect(world.sent).toHaveLength(1);
  });
});

describe('a profile that is not logged in, beside others that are', () => {
  async function besides(...profiles: string[]): Promise<AuthWorld> {
    const world = await authWorld();
    const stored = JSON.stringify({ base_url: origin, token: 'stored_api_key' });
    for (const name of profiles) await storeOf(world).update(`profile/${name}/api_key`, async () => stored);
    return world;
  }

  test('a slip of the finger names the one that is meant, never just the first', async () => {
    const world = await besides('default', 'two');
    const ran = await world.svc(['-p', 'tow', 'tickets', 'list']);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toContain('Profile tow is not logged in; did you mean two?');
    expect(ran.stderr).toContain('Saved: default, two.');
    expect(ran.stderr).not.toContain('--profile default');
    expect(world.sent).toEqual([]);
  });

  test('a logout of it names those that are there, and the one that is meant', async () => {
    const world = await besides('default', 'work');
    const ran = await world.svc(['-p', 'wrok', 'logout']);
    expect(ran).toMatchObject({
      exitCode: 0,
      stderr: 'Profile wrok is not logged in.\nDid you mean work? Saved: default, work.\n',
    });
    expect((await world.svc(['-p', 'staging', 'logout'])).stderr).toContain('in.\nSaved: default, work.\n');
    const own = await world.svc(['-p', 'work', 'logout']);
    expect(own.stderr).not.toContain('Saved');
  });

  test('where none is near, all are named; the only one can be pasted', async () => {
    const several = await (await besides('default', 'two')).svc(['-p', 'staging', 'tickets', 'list']);
    expect(several.stderr).toContain('Other logins are saved: add --profile and one of default, two');
    const one = await (await besides('default')).svc(['-p', 'staging', 'tickets', 'list']);
    expect(one.stderr).toContain('Another login is saved: add --profile default');
  });
});

describe('a key that is copied with something around it', () => {
  test.each([
    ['"key_acme"', 'quotation mark'],
    ["'key_acme'", 'quotation mark'],
    ['SVC_API_KEY=key_acme', 'name of a variable'],
    ['export SVC_API_KEY="key_acme"', 'quotation mark'],
    ['key_a cme', 'white space'],
  ])('%s is refused before a request, and not shown', async (key, said) => {
    const world = await authWorld();
    const given = await world.svc(['account', 'get'], { env: { SVC_API_KEY: key } });
    const typed = await world.svc(['login', '--with-api-key'], { stdin: `${key}\n` });
    for (const ran of [given, typed]) {
      expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(said)]);
      expect(ran.stderr).not.toContain('acme');
    }
    expect(world.sent).toEqual([]);
  });

  test('of profiles only those that are logged in are named as saved', async () => {
    const world = await authWorld();
    await storeOf(world).update('profile/acme/api_key', async () => JSON.stringify({ base_url: origin, token: 'k' }));
    // A setting makes a profile known, and no login.
    await world.svc(['config', 'set', 'base_url', origin, '-p', 'default']);
    const ran = await world.svc(['-p', 'nope', 'tickets', 'list'], { env: { SVC_API_KEY: 'key_acme' } });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('Saved: acme. Leave out')]);
  });
});
