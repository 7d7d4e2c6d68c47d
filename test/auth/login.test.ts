import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { scopes } from '../../src/api/operation.ts';
import { judgePasted } from '../../src/login/authorize.ts';
import { type AuthWorld, authWorld, loseAnswersOf, lost, origin, type Seen, visit } from './auth-world.ts';

/** Logs in as a person would whose browser does what `browse` says. */
const login = (world: AuthWorld, argv: string[] = [], browse = (url: URL) => world.consent(url).then(visit)) =>
  world.svc(['login', '--redirect-uri', world.redirectUri, ...argv], {
    openBrowser: async (url) => {
      // A browser opens by itself: svc does not wait for it.
      void Promise.resolve().then(() => browse(url));
    },
  });

const status = async (world: AuthWorld) => JSON.parse((await world.svc(['auth', 'status', '--json'])).stdout);

test('after a login in the browser every later command just works', async () => {
  const world = await authWorld();
  let page: Promise<Seen> | undefined;
  const ran = await login(world, [], (url) => {
    page = world.consent(url).then(visit);
    return page;
  });
  expect(ran).toMatchObject({
    exitCode: 0,
    stdout: 'Logged in to Acme (account 1) as profile default. OAuth login, kept in the file.\n',
  });
  expect(await page).toMatchObject({ status: 200, body: expect.stringContaining('svc is connected to Acme') });
  expect(await status(world)).toEqual({
    profile: 'default',
    base_url: origin,
    account: { id: 1, name: 'Acme' },
    credentials: [
      { kind: 'oauth', valid: true, scopes, missing_scopes: [], expires_at: '2026-03-01T13:00:00.000Z', store: 'file' },
    ],
  });
  const listed = await world.svc(['contacts', 'list'], { env: { SVC_BASE_URL: undefined } });
  expect(listed.exitCode).toBe(0);
});

test.each<[string, object]>([
  ['a failure of the service', { status: 500, headers: {}, body: 'oops' }],
  ['a time-out', { lost: 'after-sending', reason: 'timeout', detail: 'No answer within 30 s.' }],
  ['a refused connection', { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }],
  ['a 404', { status: 404, headers: {}, body: '{"error":"Not found"}' }],
  ['a web page', { status: 200, headers: {}, body: '<!doctype html><title>Hello</title>' }],
  ['null', { status: 200, headers: {}, body: 'null' }],
  ['a list', { status: 200, headers: {}, body: '[1]' }],
  ['an account without an id', { status: 200, headers: {}, body: '{"name":"Acme"}' }],
])('a login is kept where its account cannot be read afterwards: %s', async (_, answer) => {
  const world = await authWorld();
  world.override = ({ url }) => (url.endsWith('/platform/account') ? (answer as never) : undefined);
  const ran = await login(world);
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain('Logged in (the account is not known: the service did not say)');
  expect(ran.stderr).toContain('Warning: the login is kept, but its account could not be read: ');
  expect(ran.stderr).toContain('To look again: svc auth status');
  world.override = undefined;
  expect((await world.svc(['contacts', 'list'])).exitCode).toBe(0);
  expect((await status(world)).account).toEqual({ id: 1, name: 'Acme' });
});

test.each([
  ['a lost answer', lost],
  ['a gateway that failed', { status: 502, headers: {}, body: '<html>Bad gateway' }],
  ['a time-out of a gateway', { status: 408, headers: {}, body: '' }],
  ['a limit of a wall', { status: 429, headers: { 'retry-after': '1' }, body: '<html>Slow down' }],
  ['a page', { status: 200, headers: {}, body: '<!doctype html><title>Sign in</title>' }],
  ['half an answer', { status: 200, headers: {}, body: '{"access_token":"canary' }],
] as const)('a code that may be spent says what may be left at the service: exit 9 after %s', async (_, answer) => {
  const world = await authWorld();
  const asked = loseAnswersOf(world, '/token', answer);
  let page: Promise<Seen> | undefined;
  const ran = await login(world, ['--profile', 'work'], (url) => {
    page = world.consent(url).then(visit);
    return page;
  });
  expect([ran.exitCode, asked()]).toEqual([9, 1]);
  expect(ran.stderr).toContain('The service may have given tokens that svc does not have: ');
  expect(ran.stderr).toMatch(
    /up to 30 days: to end them now, disconnect the app in the account\..*svc -p work login/su,
  );
  expect(ran.stderr).not.toContain('canary');
  expect((await page)?.body).toContain('The login did not succeed');
  expect((await status(world)).credentials).toEqual([]);
});

test('so does one that gave a refresh token alone, which could not be used', async () => {
  const world = await authWorld();
  const refreshOnly = { status: 200, headers: {}, body: '{"refresh_token":"refresh_new"}' };
  const refused = { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' } as const;
  world.override = ({ url, body }) => {
    if (!url.endsWith('/token')) return undefined;
    return String(body).includes('authorization_code') ? refreshOnly : refused;
  };
  const ran = await login(world);
  expect([ran.exitCode, ran.stderr]).toEqual([9, expect.stringContaining('disconnect the app in the account')]);
  expect(ran.stderr).not.toContain('The login is kept');
});

test('a code that never left, and one that the service refuses, leave nothing there', async () => {
  const world = await authWorld();
  const answers = [
    [{ lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' }, 10],
    [{ status: 400, headers: {}, body: '{"error":"invalid_grant","error_description":"It has expired."}' }, 4],
  ] as const;
  for (const [answer, exitCode] of answers) {
    world.override = ({ url }) => (url.endsWith('/token') ? answer : undefined);
    const ran = await login(world);
    expect([ran.exitCode, ran.stderr]).toEqual([exitCode, expect.not.stringContaining('disconnect the app')]);
  }
});

test('a login without a refresh token says when it ends', async () => {
  const world = await authWorld();
  world.override = ({ url }) =>
    url.endsWith('/token')
      ? { status: 200, headers: {}, body: '{"access_token":"access_new","token_type":"Bearer","expires_in":3600}' }
      : { status: 200, headers: {}, body: '{"account_id":1,"name":"Acme","setup_url":null}' };
  const ran = await login(world);
  expect(ran.exitCode).toBe(0);
  expect(ran.stderr).toMatch(/the service gave no refresh token, so this login ends at \S+/u);
});

test('a login whose token is refused (401) is not kept', async () => {
  const world = await authWorld();
  world.override = ({ url }) =>
    url.endsWith('/platform/account') ? { status: 401, headers: {}, body: '{"error":"Unauthenticated."}' } : undefined;
  expect((await login(world)).exitCode).toBe(4);
  expect((await status(world)).credentials).toEqual([]);
});

test('each attempt has a state and a verifier of its own, and the verifier never goes into the address', async () => {
  const world = await authWorld();
  const urls: URL[] = [];
  for (let i = 0; i < 2; i++) {
    await login(world, [], (url) => {
      urls.push(url);
      return world.consent(url).then(visit);
    });
  }
  const [one, other] = urls.map(({ searchParams }) => Object.fromEntries(searchParams));
  expect(one).toEqual({
    response_type: 'code',
    client_id: 'sandbox_cli',
    redirect_uri: world.redirectUri,
    scope: scopes.join(' '),
    state: expect.stringMatching(/^[\w-]{43}$/u),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/u),
    code_challenge_method: 'S256',
  });
  expect(other?.state).not.toBe(one?.state);
  expect(other?.code_challenge).not.toBe(one?.code_challenge);
  const [exchange] = world.sent.filter(({ what }) => what === 'POST /oauth/platform/token');
  const verifier = new URLSearchParams(exchange?.body).get('code_verifier');
  expect(verifier).toMatch(/^[\w-]{43,128}$/u);
  expect(String(urls)).not.toContain(verifier);
});

test('stray hits, foreign hosts and wrong states leave the login pending', async () => {
  const world = await authWorld();
  const seen: number[] = [];
  const ran = await login(world, [], async (url) => {
    const back = await world.consent(url);
    const attack = async (change: (url: URL) => void, options = {}) => {
      const changed = new URL(back);
      change(changed);
      seen.push((await visit(changed, options)).status);
    };
    await attack((u) => u.searchParams.set('state', 'guessed'));
    await attack((u) => u.searchParams.delete('state'));
    await attack((u) => u.searchParams.append('state', 'another'));
    await attack((u) => u.searchParams.append('code', 'another'));
    await attack((u) => Object.assign(u, { pathname: '/favicon.ico' }));
    await attack((u) => Object.assign(u, { pathname: '/' }));
    await attack(() => {}, { method: 'POST' });
    await attack(() => {}, { headers: { host: 'evil.example.com' } });
    await attack(() => {}, { headers: { origin: 'https://evil.example.com' } });
    await attack(() => {}, { headers: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' } });
    return visit(back);
  });
  expect(seen).toEqual([400, 400, 400, 400, 404, 404, 405, 421, 403, 403]);
  expect(ran.exitCode).toBe(0);
  expect(world.sent.filter(({ what }) => what === 'POST /oauth/platform/token')).toHaveLength(1);
});

test('the same redirect a second time is not redeemed again', async () => {
  const world = await authWorld();
  const both: Promise<Seen>[] = [];
  const ran = await login(world, [], async (url) => {
    const back = await world.consent(url);
    both.push(visit(back), visit(back));
    return both[0] as Promise<Seen>;
  });
  expect(ran.exitCode).toBe(0);
  expect((await Promise.all(both)).map((seen) => seen.status).sort()).toEqual([200, 409]);
  expect(world.sent.filter(({ what }) => what === 'POST /oauth/platform/token')).toHaveLength(1);
});

test('a login that was declined says so, in the terminal and in the browser', async () => {
  const world = await authWorld();
  let page: Promise<Seen> | undefined;
  const ran = await login(world, ['--client-id', 'other_cli'], (url) => {
    const back = new URL(world.redirectUri);
    back.search = `error=access_denied&state=${url.searchParams.get('state')}`;
    page = visit(back);
    return page;
  });
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('declined in the browser (access_denied)');
  // The id was given by a flag, and nothing of this login was kept.
  expect(ran.stderr).toContain(`To try again: svc login --client-id other_cli --redirect-uri ${world.redirectUri}\n`);
  expect((await page)?.body).toContain('declined in the browser');
});

test('an error of the token endpoint keeps its description', async () => {
  const world = await authWorld();
  const ran = await world.svc(['login', '--redirect-uri', world.redirectUri], {
    env: { SVC_CLIENT_SECRET: 'canary-wrong-secret' },
    openBrowser: async (url) => void world.consent(url).then(visit),
  });
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toMatch(/does not accept the client id or its secret \(invalid_client: .+\)/u);
  expect(ran.stderr).not.toContain('canary');
  expect(await world.written()).not.toContain('canary');
});

test('nobody waits longer than five minutes', async () => {
  const world = await authWorld();
  const ran = await login(world, [], async (url) => {
    await world.clock.longWait;
    world.clock.advance(5 * 60_000);
    return visit(url).catch(() => ({ status: 0, headers: {}, body: '' }));
  });
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('The login was not allowed in the browser within five minutes.');
  expect(ran.stderr).toContain(`Run: svc login --redirect-uri ${world.redirectUri}\n`);
});

test('a busy port is named, with the way out', async () => {
  const world = await authWorld();
  const holder = createServer().listen(Number(new URL(world.redirectUri).port), '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const ran = await login(world);
  holder.close();
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(`Port ${new URL(world.redirectUri).port} on 127.0.0.1`);
  expect(ran.stderr).toContain('--redirect-uri');
});

test('scopes that were not granted are listed, with the command that asks for them', async () => {
  const world = await authWorld();
  const ran = await login(world, ['--scope', 'identity', '--scope', 'contacts:read']);
  expect(ran.stderr).toContain('Not granted: branding:write, contacts:write');
  expect(ran.stderr).toContain('svc auth refresh --scope branding:write');
  expect((await status(world)).credentials[0]).toMatchObject({ scopes: ['identity', 'contacts:read'] });
});

test('without the scope identity the login works, and the account is unknown', async () => {
  const world = await authWorld();
  const ran = await login(world, ['--scope', 'contacts:read']);
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain('the account is not known');
  expect(await status(world)).toMatchObject({ account: null, credentials: [{ valid: true }] });
});

test('an account without a plan is told where to finish its setup', async () => {
  const world = await authWorld();
  const ran = await world.svc(['login', '--with-api-key'], { stdin: 'key_globex\n' });
  expect(ran.stderr).toContain('https://app.example.com/setup/globex');
});

test('an unknown scope is refused before the browser opens', async () => {
  const world = await authWorld();
  const ran = await login(world, ['--scope', 'contacts:delete']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('there is no scope "contacts:delete"');
  expect(world.sent).toEqual([]);
});

test.each([
  [['--with-api-key', '--with-m2m-token']],
  [['--with-api-key', '--client-id', 'x']],
  [['--with-api-key', '--scope', 'identity']],
  [['--with-m2m-token', '--no-browser']],
])('%j cannot be used together', async (flags) => {
  const world = await authWorld();
  const ran = await world.svc(['login', ...flags], { stdin: 'key_acme' });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('cannot be used together');
});

test.each(['ftp://127.0.0.1/callback', 'http://example.com/callback', 'callback', 'http://127.0.0.1:8976/callback#x'])(
  '%s is no redirect URI',
  async (uri) => {
    const world = await authWorld();
    const ran = await world.svc(['login', '--redirect-uri', uri], { stdin: '' });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('is not a redirect URI');
  },
);

test('an auth URL without https is refused, with nothing sent', async () => {
  const world = await authWorld();
  const ran = await login(world, ['--auth-url', 'http://auth.example.com']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('must begin with https://');
  expect(world.sent).toEqual([]);
});

test('in a pipe the first line is the client secret, the next the redirected address', async () => {
  const world = await authWorld();
  async function* lines() {
    yield 'sandbox_secret\n';
    yield `${new URL('?code=x&state=forged', world.redirectUri)}\n`;
    // By now the address has been printed, for whoever reads it.
    const printed = await address;
    yield `${await world.consent(printed)}\n`;
  }
  let show: (url: URL) => void = () => {};
  const address = new Promise<URL>((resolve) => {
    show = resolve;
  });
  const ran = await world.svc(['login', '--redirect-uri', world.redirectUri], {
    env: { SVC_CLIENT_SECRET: undefined },
    stdin: lines(),
    openBrowser: async (url) => show(url),
  });
  expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Logged in to Acme') });
  expect(ran.stderr).toContain('its state differs');
});

const state = 'the-state-of-this-attempt';

test.each<[string, string]>([
  ['http://127.0.0.1:8976/callback?code=abc&state=the-state-of-this-attempt', 'abc'],
  ['  "http://127.0.0.1:8976/callback?state=the-state-of-this-attempt&code=abc"  ', 'abc'],
  ['?code=abc&state=the-state-of-this-attempt', 'abc'],
  ['code=abc&state=the-state-of-this-attempt', 'abc'],
])('what is pasted back as %s holds the code', (pasted, code) => {
  const judged = judgePasted(pasted, 'http://127.0.0.1:8976/callback', state);
  expect(judged instanceof URLSearchParams && judged.get('code')).toBe(code);
});

test.each<[string, RegExp]>([
  ['http://127.0.0.1:8976/callback?code=abc&state=another', /state differs/u],
  ['http://127.0.0.1:8976/callback?code=abc', /state differs/u],
  ['http://127.0.0.1:8976/callback?code=abc&state=x&state=the-state-of-this-attempt', /state differs/u],
  ['http://evil.example.com/callback?code=abc&state=the-state-of-this-attempt', /does not begin with/u],
  ['http://127.0.0.1:8976/other?code=abc&state=the-state-of-this-attempt', /does not begin with/u],
  ['abc', /not the redirected address/u],
  ['https://service.test/oauth/platform/authorize?client_id=x', /does not begin with/u],
])('what is pasted back as %s is refused', (pasted, why) => {
  expect(judgePasted(pasted, 'http://127.0.0.1:8976/callback', state)).toMatch(why);
});
