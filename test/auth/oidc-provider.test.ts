import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scopes } from '../../src/api/operation.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { type AuthWorld, authWorld, visit } from './auth-world.ts';

/** An authorization server that svc's authors did not write, as a plain OAuth 2 server on the service's own paths. */
async function authorizationServer(redirectUri: string) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'sandbox_cli',
        client_secret: 'sandbox secret: with/odd+characters%',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        application_type: 'native',
      },
    ],
    scopes: [...scopes],
    pkce: { required: () => true },
    routes: {
      authorization: '/oauth/platform/authorize',
      token: '/oauth/platform/token',
      revocation: '/oauth/platform/revoke',
    },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    interactions: { url: (_, { uid }) => `/consent/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    cookies: { keys: ['sample'] },
    ttl: { AccessToken: 3600, Grant: 86_400, RefreshToken: 86_400, Interaction: 600, Session: 600 },
  });
  const answer = provider.callback();
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/consent/')) return answer(request, response);
    // Whoever comes here is logged in and consents to everything.
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: 'sample' } });
    }
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  });
  return { url, provider, server };
}

/** Follows the redirects with the cookies that they set, up to the client's own address. */
async function followTo(callback: string, from: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  for (let url = from; ; ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { status, headers, body } = await visit(url, { headers: { cookie } });
    for (const line of (headers['set-cookie'] as string[] | undefined) ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? [];
      cookies.set(name, value);
    }
    if (status < 300 || status > 399) throw new Error(`${url}: ${status} ${body}`);
    url = new URL(String(headers.location), url);
    if (url.href.startsWith(callback)) return url;
  }
}

let world: AuthWorld;
let server: Server;
let provider: Provider;
let url: string;
let env: Record<string, string>;

beforeEach(async () => {
  world = await authWorld();
  ({ url, provider, server } = await authorizationServer(world.redirectUri));
  const exchange = await createExchange({});
  world.override = async (request) => {
    if (request.url.startsWith(url)) return exchange(request);
    const token = await provider.AccessToken.find(String(request.headers.authorization).slice('Bearer '.length));
    const account = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null };
    return token
      ? { status: 200, headers: {}, body: JSON.stringify(account) }
      : { status: 401, headers: {}, body: '{"error":"unauthenticated"}' };
  };
  env = { SVC_AUTH_URL: url, SVC_CLIENT_SECRET: 'sandbox secret: with/odd+characters%' };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const login = () =>
  world.svc(['login', '--redirect-uri', world.redirectUri], {
    env,
    openBrowser: async (address) => {
      void followTo(world.redirectUri, address).then(visit);
    },
  });
const account = () => world.svc(['account', 'get'], { env: { SVC_AUTH_URL: undefined } });
const tokenCalls = () => world.sent.filter(({ what }) => what.endsWith('/oauth/platform/token')).length;

test('a login at another authorization server works, and rotates its refresh token again and again', async () => {
  expect(await login()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Logged in to Acme') });
  for (let hour = 1; hour <= 3; hour++) {
    world.clock.advance(3601_000);
    expect((await account()).exitCode).toBe(0);
    expect(tokenCalls()).toBe(1 + hour);
  }
});

test('a refresh token that another one has used ends the login, with the words of the server', async () => {
  await login();
  const { refresh_token } = JSON.parse(JSON.parse(await stored()).secrets['profile/default/oauth']);
  const stolen = {
    grant_type: 'refresh_token',
    refresh_token,
    client_id: 'sandbox_cli',
    client_secret: env.SVC_CLIENT_SECRET,
  };
  const thief = await (await createExchange({}))({
    method: 'POST',
    url: `${url}/oauth/platform/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(stolen as Record<string, string>).toString(),
    timeoutMs: 5000,
  });
  expect(thief).toMatchObject({ status: 200 });
  world.clock.advance(3601_000);
  const ran = await account();
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toMatch(/has ended.*invalid_grant/u);
  expect(await stored()).not.toContain('access_token');
});

test('logging out revokes there', async () => {
  await login();
  const token = (await world.svc(['auth', 'token'])).stdout.trim();
  expect(await provider.AccessToken.find(token)).toBeDefined();
  expect((await world.svc(['logout'], { env: { SVC_AUTH_URL: undefined } })).exitCode).toBe(0);
  expect(await provider.AccessToken.find(token)).toBeUndefined();
});

test('an authorization code works once: whoever replays the redirect gets nothing', async () => {
  let back: URL | undefined;
  await world.svc(['login', '--redirect-uri', world.redirectUri], {
    env,
    openBrowser: async (address) => {
      void followTo(world.redirectUri, address).then((at) => {
        back = at;
        return visit(at);
      });
    },
  });
  const replayed = await world.svc(['login', '--no-browser', '--redirect-uri', world.redirectUri], {
    env,
    stdin: `${back}\n`,
    signal: AbortSignal.timeout(500),
  });
  expect(replayed.exitCode).toBe(130);
  expect(replayed.stderr).toContain('its state differs');
});

test.each([['a wrong client secret', { SVC_CLIENT_SECRET: 'canary' }, 4, 'invalid_client']])(
  '%s is told in the words of the server, without the secret',
  async (_, more, exitCode, said) => {
    env = { ...env, ...more };
    const ran = await login();
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(said);
    expect(ran.stderr).not.toContain('canary');
  },
);

const stored = async () => (await world.written()).split('credentials.json\n')[1]?.split('\n/')[0] ?? '';
