import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseServiceUrl, withScheme } from '../../src/config/service-url.ts';
import { authWorld, loggedIn, origin, storeOf } from './auth-world.ts';

describe('an address as people type it', () => {
  test.each([
    ['127.0.0.1:4010', 'http://127.0.0.1:4010'],
    ['localhost:4010/v2', 'http://localhost:4010/v2'],
    ['api.example.com', 'https://api.example.com'],
    ['api.example.com:8443/v1', 'https://api.example.com:8443/v1'],
    ['https://api.example.com', undefined],
    ['not an address', undefined],
    ['user@host', undefined],
    ['', undefined],
  ])('%j is %j', (typed, url) => {
    expect(withScheme(typed)).toBe(url);
  });

  test('in a flag it is refused with the whole URL to type', () => {
    expect(() => parseServiceUrl('127.0.0.1:4010', '--base-url')).toThrow(
      expect.objectContaining({ hint: 'Include the scheme: http://127.0.0.1:4010' }),
    );
    expect(() => parseServiceUrl('localhost:4010', '--base-url')).toThrow(
      expect.objectContaining({ hint: 'Include the scheme: http://localhost:4010' }),
    );
  });

  test('at the prompt of login its scheme is assumed, and nonsense is asked for again', async () => {
    const world = await authWorld();
    const answers = ['what?', 'service.test', 'key_acme'];
    const env = { SVC_BASE_URL: undefined };
    const ran = await world.svc(['login', '--with-api-key'], { columns: 80, answers, env });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.stderr).toContain('"what?" is not a URL.');
    expect(world.sent.at(-1)?.what).toBe('GET /platform/account');
  });
});

test('auth list has headers for people', async () => {
  const world = await authWorld();
  await world.svc(['login', '--with-api-key'], { columns: 80, answers: ['key_acme'] });
  const [headers] = (await world.svc(['auth', 'list'], { columns: 80, env: { NO_COLOR: '1' } })).stdout.split('\n');
  expect(headers?.split(/ {2,}/u)).toEqual(['Profile', 'Default', 'Account', 'Base URL', 'Credentials']);
});

describe('config', () => {
  test('unset forgets a setting', async () => {
    const world = await authWorld();
    await world.svc(['config', 'set', 'output', 'json']);
    expect(await world.svc(['config', 'unset', 'output'])).toMatchObject({ exitCode: 0, stderr: 'output is unset.\n' });
    expect((await world.svc(['config', 'get', 'output'])).stderr).toBe('output is not set; the default is table.\n');
    expect((await world.svc(['config', 'get', 'base_url'])).stderr).toBe('base_url is not set.\n');
    expect((await world.svc(['config', 'unset', 'nonsense'])).exitCode).toBe(2);
  });

  test('what changes a setting or an alias prints a document with --json, and nothing in a pipe', async () => {
    const world = await authWorld();
    const printed = async (...argv: string[]) => JSON.parse((await world.svc([...argv, '--json'])).stdout);
    expect((await world.svc(['config', 'set', 'pager', 'cat'])).stdout).toBe('');
    expect(await printed('config', 'set', 'pager', 'less')).toEqual({ key: 'pager', value: 'less', of: 'everything' });
    expect(await printed('config', 'unset', 'pager')).toEqual({ key: 'pager', value: null, of: 'everything' });
    const command = 'tickets list';
    expect(await printed('alias', 'set', 'mine', command)).toEqual({ name: 'mine', command });
    expect(await printed('alias', 'delete', 'mine')).toEqual({ name: 'mine', command: null });
  });

  test('a folder of drafts is the same from wherever svc is run', async () => {
    const world = await authWorld();
    const { stderr } = await world.svc(['config', 'set', 'drafts', 'team/drafts']);
    const folder = resolve('team/drafts');
    expect(stderr).toContain(`drafts is ${folder} now.`);
    expect((await world.svc(['config', 'get', 'drafts'])).stdout).toBe(`${folder}\n`);
  });

  test('default_profile must be one that exists', async () => {
    const world = await loggedIn();
    const ran = await world.svc(['config', 'set', 'default_profile', 'nowhere']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('There is no profile nowhere.');
    expect((await world.svc(['config', 'set', 'default_profile', 'default'])).exitCode).toBe(0);
    await storeOf(world).update('profile/work/api_key', async () => JSON.stringify({ base_url: origin, token: 'x' }));
    expect((await world.svc(['config', 'set', 'default_profile', 'work'])).exitCode).toBe(0);
  });
});

test('after a logout no empty profile is listed', async () => {
  const world = await authWorld();
  await world.svc(['login', '--with-api-key'], { stdin: 'key_acme' });
  await world.svc(['logout']);
  expect((await world.svc(['auth', 'list', '--json'])).stdout).toBe('[]\n');
});

describe('a login that has made webhook subscriptions', () => {
  async function withSubscription() {
    const world = await loggedIn();
    const grant = await world.control('tokens', { account_id: 1, scopes: ['identity', 'webhooks:manage'] });
    const store = storeOf(world);
    await store.update('profile/default/oauth', async (text) =>
      JSON.stringify({ ...JSON.parse(text ?? ''), ...grant, scopes: ['identity', 'webhooks:manage'] }),
    );
    const made = await world.svc(['webhooks', 'create', 'ticket.created', 'https://example.com/h', '--json']);
    expect(made.exitCode).toBe(0);
    return { world, id: JSON.parse(made.stdout).id as number };
  }

  const deletions = (sent: readonly { readonly what: string }[]) =>
    sent.filter(({ what }) => what.startsWith('DELETE')).map(({ what }) => what);

  test('names them in a pipe, and leaves them', async () => {
    const { world, id } = await withSubscription();
    const ran = await world.svc(['logout']);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain(
      `Profile default has made 1 webhook subscription: ${id} (ticket.created to https://example.com/h).`,
    );
    // A later login is another connection, and is shown none of them.
    expect(ran.stderr).toContain(
      'it may go on delivering, and no later login lists or deletes it: to end that, disconnect the app',
    );
    expect(ran.stderr).toContain(`Another time, before the logout: svc webhooks delete ${id}\n`);
    expect(ran.stderr).not.toContain('svc webhooks list');
    expect(deletions(world.sent)).toEqual([]);
  });

  test('offers to remove them on a terminal', async () => {
    const { world, id } = await withSubscription();
    const ran = await world.svc(['logout'], { columns: 80, answers: [true] });
    expect(ran.exitCode).toBe(0);
    expect(deletions(world.sent)).toEqual([`DELETE /oauth-platform/webhooks/${id}`]);
    expect(await storeOf(world).names('webhook/')).toEqual([]);
  });

  test('leaves them after a no, and with --yes, which is about something else', async () => {
    for (const [argv, answers] of [
      [['logout'], [false]],
      [['logout', '--yes'], []],
    ] as const) {
      const { world } = await withSubscription();
      expect((await world.svc(argv, { columns: 80, answers })).exitCode).toBe(0);
      expect(deletions(world.sent)).toEqual([]);
    }
  });

  test('is logged out all the same where they cannot be listed', async () => {
    const { world } = await withSubscription();
    world.override = ({ url }) =>
      url.endsWith('/webhooks') ? { status: 500, headers: {}, body: '{"error":"oops"}' } : undefined;
    expect((await world.svc(['logout'])).exitCode).toBe(0);
    expect((await world.svc(['auth', 'list', '--json'])).stdout).toBe('[]\n');
  });
});
