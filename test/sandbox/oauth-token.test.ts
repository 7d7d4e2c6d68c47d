import { expect, test } from 'vitest';
import { authenticate, disconnect, mintTokens } from '../../src/sandbox/oauth/state.ts';
import { basic, credentials, oauthWorld, parsed, sampleClient, verifier } from './oauth-world.ts';

const other = { ...sampleClient, client_id: 'other_app', client_secret: 'other_secret', name: 'Other app' };
const asOther = { authorization: basic('other_app', 'other_secret') };

const may = (service: ReturnType<typeof oauthWorld>, token: string | undefined) =>
  authenticate(service.connections, token ?? '', service.world.now)?.scopes.join(' ');

test('a code becomes a pair of tokens that say how long they last and what was granted', () => {
  const service = oauthWorld();
  const { status, headers, json } = service.redeem();
  expect(status).toBe(200);
  expect(json).toEqual({
    access_token: expect.stringMatching(/^svc_at_1_[\w-]{43}$/u),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^svc_rt_1_[\w-]{43}$/u),
    scope: 'identity tickets:read tickets:write',
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  });
  expect(may(service, json.access_token)).toBe('identity tickets:read tickets:write');
});

test('a client may authenticate in the body instead of by HTTP Basic', () => {
  const service = oauthWorld();
  const body = { client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  const { json } = service.redeem();
  expect(
    service.token({ grant_type: 'refresh_token', refresh_token: json.refresh_token ?? '', ...body }, {}).status,
  ).toBe(200);
});

test('Basic credentials are form-encoded, so that an id or a secret may hold any character', () => {
  const client = { ...sampleClient, client_id: 'a:b', client_secret: 'p+q %é' };
  const service = oauthWorld({ clients: [client] });
  const authorization = basic('a%3Ab', 'p%2Bq+%25%C3%A9');
  expect(service.token({ grant_type: 'nothing' }, { authorization }).json.error).toBe('unsupported_grant_type');
});

const badClients: [string, Record<string, string>, Record<string, string>, boolean][] = [
  ['no authentication at all', {}, {}, true],
  ['a wrong secret by Basic', {}, { authorization: basic('sandbox_cli', 'wrong') }, true],
  ['an unknown client by Basic', {}, { authorization: basic('nobody', 'sandbox_secret') }, true],
  ['an empty secret', {}, { authorization: basic('sandbox_cli', '') }, true],
  ['Basic that is no base64', {}, { authorization: 'Basic %%%' }, true],
  ['Basic without a colon', {}, { authorization: `Basic ${btoa('sandbox_cli')}` }, true],
  ['Basic with a stray per cent sign', {}, { authorization: basic('sandbox_cli', '%') }, true],
  ['a bearer token', {}, { authorization: 'Bearer sandbox_secret' }, true],
  ['an empty Authorization header', {}, { authorization: '' }, true],
  ['a wrong secret in the body', { client_id: 'sandbox_cli', client_secret: 'wrong' }, {}, false],
  ['an unknown client in the body', { client_id: 'nobody', client_secret: 'sandbox_secret' }, {}, false],
  ['an id without a secret', { client_id: 'sandbox_cli' }, {}, true],
];

test.each(badClients)('invalid_client, 401: %s', (_, form, headers, challenged) => {
  for (const path of ['/oauth/platform/token', '/oauth/platform/revoke']) {
    const answer = parsed(
      oauthWorld().post(path, { grant_type: 'refresh_token', refresh_token: 'x', ...form }, headers),
    );
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
    // RFC 6749, 5.2: the challenge answers an attempt by the Authorization header.
    expect(answer.headers['www-authenticate']).toBe(challenged ? 'Basic realm="svc"' : undefined);
    expect(answer.headers['cache-control']).toBe('no-store');
  }
});

const grant = {
  grant_type: 'authorization_code',
  redirect_uri: 'http://127.0.0.1:8976/callback',
  code_verifier: verifier,
};

const badRequests: [string, Record<string, string>, string][] = [
  ['nothing', {}, 'invalid_request'],
  ['an empty grant_type', { grant_type: '' }, 'invalid_request'],
  ['the password grant', { grant_type: 'password', username: 'a', password: 'b' }, 'unsupported_grant_type'],
  ['client_credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ['no code', grant, 'invalid_request'],
  ['no verifier', { ...grant, code: 'x', code_verifier: '' }, 'invalid_request'],
  ['no redirect_uri', { ...grant, code: 'x', redirect_uri: '' }, 'invalid_request'],
  ['an unknown code', { ...grant, code: 'x' }, 'invalid_grant'],
  [
    'a well-formed code of a connection that is not there',
    { ...grant, code: `svc_ac_9_${'A'.repeat(43)}` },
    'invalid_grant',
  ],
  ['a code that names the prototype', { ...grant, code: '__proto__' }, 'invalid_grant'],
  ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
  ['an unknown refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_grant'],
  ['a huge refresh token', { grant_type: 'refresh_token', refresh_token: 'x'.repeat(60_000) }, 'invalid_grant'],
  ['two client ids', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'other_app' }, 'invalid_request'],
  [
    'Basic and a secret in the body',
    { grant_type: 'refresh_token', client_secret: 'sandbox_secret' },
    'invalid_request',
  ],
];

test.each(badRequests)('400: %s', (_, form, error) => {
  const answer = oauthWorld().token(form);
  expect(answer.status).toBe(400);
  expect(answer.json).toEqual({ error, error_description: expect.stringMatching(/^[ !#-[\]-~]+$/u) });
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('a request that is no form, is too long or repeats a parameter is refused', () => {
  const service = oauthWorld();
  const send = (type: string | undefined, body: string) => {
    const headers = { ...credentials, ...(type === undefined ? {} : { 'content-type': type }) };
    const { status, json } = parsed(service.send('POST', '/oauth/platform/token', headers, body));
    return `${status} ${json.error}`;
  };
  const form = 'application/x-www-form-urlencoded';
  expect(send('application/json', '{"grant_type":"refresh_token"}')).toBe('400 invalid_request');
  expect(send(undefined, 'grant_type=nothing')).toBe('400 invalid_request');
  expect(send(form, `grant_type=nothing&x=${'x'.repeat(70_000)}`)).toBe('413 invalid_request');
  expect(send(form, 'grant_type=refresh_token&grant_type=refresh_token&refresh_token=x')).toBe('400 invalid_request');
  expect(send(form, '%%%=%%%&\0&=&&')).toBe('400 invalid_request');
  expect(send(`${form.toUpperCase()}; charset=UTF-8`, 'grant_type=nothing')).toBe('400 unsupported_grant_type');
});

test.each(['/oauth/platform/token', '/oauth/platform/revoke'])('%s answers POST alone', (path) => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
    const answer = oauthWorld().send(method, path);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  }
});

test('a code works once; a second use is refused and takes back what the first one got', () => {
  const service = oauthWorld();
  const code = service.code();
  const first = service.redeem({ code }).json;
  expect(service.redeem({ code }).json).toMatchObject({ error: 'invalid_grant' });
  expect(may(service, first.access_token)).toBeUndefined();
  expect(service.refresh(first.refresh_token ?? '').json.error).toBe('invalid_grant');
});

test('a used code also takes back tokens that were refreshed since', () => {
  const service = oauthWorld();
  const code = service.code();
  const { json } = service.refresh(service.redeem({ code }).json.refresh_token ?? '');
  service.advance(86_400);
  service.redeem({ code });
  expect(service.refresh(json.refresh_token ?? '').json.error).toBe('invalid_grant');
});

test('a code lives ten minutes', () => {
  const service = oauthWorld();
  const [early, late] = [service.code(), service.code()];
  service.advance(599);
  expect(service.redeem({ code: early }).status).toBe(200);
  service.advance(1);
  expect(service.redeem({ code: late }).json).toMatchObject({
    error: 'invalid_grant',
    error_description: 'The code has expired.',
  });
});

const mismatches: [string, Record<string, string>][] = [
  ['another verifier', { code_verifier: 'A'.repeat(43) }],
  ['a short verifier', { code_verifier: 'short' }],
  ['the challenge as the verifier', { code_verifier: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' }],
  ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:8977/callback' }],
];

test.each(mismatches)('invalid_grant: %s; the code is used up, since somebody else may hold it', (_, change) => {
  const service = oauthWorld();
  const code = service.code();
  expect(service.redeem({ code, ...change }).json.error).toBe('invalid_grant');
  expect(service.redeem({ code }).json.error).toBe('invalid_grant');
});

test('a verifier of fewer than 43 characters is refused even where it matches', () => {
  const service = oauthWorld();
  // base64url SHA-256 of forty-two letters a
  const code = service.code({ code_challenge: 'elOGB_2quSlplZKfRRVlu7gULhhEEXMiqv0rPXawGv8' });
  const { json } = service.redeem({ code, code_verifier: 'a'.repeat(42) });
  expect(json).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('43 to 128') });
});

test('a code, a refresh token and an access token work for nobody but the client they were given to', () => {
  const service = oauthWorld({ clients: [sampleClient, other] });
  const code = service.code();
  const redemption = { ...grant, code };
  expect(service.token(redemption, asOther).json.error).toBe('invalid_grant');
  const { json } = service.redeem({ code });
  const { access_token = '', refresh_token = '' } = json;
  expect(service.token({ grant_type: 'refresh_token', refresh_token }, asOther).json.error).toBe('invalid_grant');
  for (const token of [access_token, refresh_token]) {
    expect(parsed(service.post('/oauth/platform/revoke', { token }, asOther)).json.error).toBe('invalid_grant');
  }
  expect(may(service, access_token)).toBe('identity tickets:read tickets:write');
});

test('an access token lasts an hour on the sandbox clock', () => {
  const service = oauthWorld();
  const { access_token } = service.redeem().json;
  service.advance(3599);
  expect(may(service, access_token)).toBeDefined();
  service.advance(1);
  expect(may(service, access_token)).toBeUndefined();
});

test('a refresh token works once and is followed by a new one; the access token stays good until it expires', () => {
  const service = oauthWorld();
  const first = service.redeem().json;
  const second = service.refresh(first.refresh_token ?? '').json;
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(service.refresh(first.refresh_token ?? '')).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  expect(may(service, first.access_token)).toBeDefined();
  expect(service.refresh(second.refresh_token ?? '').status).toBe(200);
});

test('a refresh token lasts 30 days from the moment it was given', () => {
  const service = oauthWorld();
  const day = 86_400;
  let token = service.redeem().json.refresh_token ?? '';
  service.advance(30 * day - 1);
  token = service.refresh(token).json.refresh_token ?? '';
  service.advance(30 * day - 1);
  token = service.refresh(token).json.refresh_token ?? '';
  service.advance(30 * day);
  expect(service.refresh(token).json).toMatchObject({
    error: 'invalid_grant',
    error_description: expect.stringContaining('expired'),
  });
});

test('a refresh may ask for fewer scopes, for that access token alone, and never for more', () => {
  const service = oauthWorld();
  const first = service.redeem().json.refresh_token ?? '';
  expect(service.refresh(first, { scope: 'identity contacts:read "\\' })).toMatchObject({
    status: 400,
    json: { error: 'invalid_scope', error_description: expect.stringContaining('contacts:read ??') },
  });
  // The refused attempt has not used the token up.
  const fewer = service.refresh(first, { scope: 'tickets:read' }).json;
  expect(fewer.scope).toBe('tickets:read');
  expect(may(service, fewer.access_token)).toBe('tickets:read');
  expect(service.refresh(fewer.refresh_token ?? '').json.scope).toBe('identity tickets:read tickets:write');
});

test('revoking an access token ends it alone; revoking a refresh token ends the access tokens too', () => {
  const service = oauthWorld();
  const revoke = (token = '') => service.post('/oauth/platform/revoke', { token }, credentials).status;
  const first = service.redeem().json;
  const second = service.refresh(first.refresh_token ?? '').json;
  expect(revoke(first.access_token)).toBe(200);
  expect([may(service, first.access_token), may(service, second.access_token)]).toEqual([
    undefined,
    expect.any(String),
  ]);
  expect(revoke(second.refresh_token)).toBe(200);
  expect(may(service, second.access_token)).toBeUndefined();
  expect(service.refresh(second.refresh_token ?? '').json.error).toBe('invalid_grant');
});

test('revoking what is unknown, used or revoked already is fine; naming no token is not', () => {
  const service = oauthWorld();
  const { access_token = '', refresh_token = '' } = service.redeem().json;
  service.refresh(refresh_token);
  for (const token of ['x', refresh_token, access_token, access_token, '__proto__']) {
    expect(service.post('/oauth/platform/revoke', { token, token_type_hint: 'whatever' }, credentials).status).toBe(
      200,
    );
  }
  const { status, json } = parsed(service.post('/oauth/platform/revoke', {}, credentials));
  expect([status, json.error]).toEqual([400, 'invalid_request']);
});

test('when the customer disconnects the app, its tokens, its refresh and an outstanding code are worth nothing', () => {
  const service = oauthWorld();
  const { access_token, refresh_token = '' } = service.redeem().json;
  const code = service.code();
  const elsewhere = mintTokens(
    service.connections,
    { client_id: 'sandbox_cli', account_id: 2, scopes: ['identity'] },
    service.world,
  );
  const app = { client_id: 'sandbox_cli', account_id: 1 };
  expect(disconnect(service.connections, app, service.world.now)).toEqual(['conn_1', 'conn_2']);
  expect(disconnect(service.connections, app, service.world.now)).toEqual([]);
  expect(may(service, access_token)).toBeUndefined();
  expect(service.refresh(refresh_token).json.error).toBe('invalid_grant');
  expect(service.redeem({ code }).json.error).toBe('invalid_grant');
  expect(may(service, elsewhere.access_token)).toBe('identity');
});

test('minted tokens need no browser, may live shorter and each are a connection of their own', () => {
  const service = oauthWorld();
  const consent = { client_id: 'sandbox_cli', account_id: 2, scopes: [] };
  const short = mintTokens(service.connections, { ...consent, expires_in: 5 }, service.world);
  const long = mintTokens(service.connections, consent, service.world);
  expect([short.expires_in, short.scope, long.expires_in]).toEqual([5, '', 3600]);
  const who = (token: string) => authenticate(service.connections, token, service.world.now);
  expect(who(short.access_token)).toMatchObject({ account_id: 2, connection_id: 'conn_1' });
  expect(who(long.access_token)).toMatchObject({ account_id: 2, connection_id: 'conn_2' });
  service.advance(5);
  expect(who(short.access_token)).toBeUndefined();
  expect(service.refresh(short.refresh_token).status).toBe(200);
});

test('what is kept is plain JSON in which no code or token can be found', () => {
  const service = oauthWorld();
  const code = service.code();
  const { access_token = '', refresh_token = '' } = service.redeem({ code }).json;
  const kept = JSON.stringify([...service.rows.values()]);
  expect(JSON.parse(kept)).toEqual([...service.rows.values()]);
  for (const secret of [code, access_token, refresh_token]) expect(kept).not.toContain(secret.slice(-43));
  expect(may(service, refresh_token)).toBeUndefined();
  expect(may(service, code)).toBeUndefined();
});
