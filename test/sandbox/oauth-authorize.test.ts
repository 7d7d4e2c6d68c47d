import { expect, test } from 'vitest';
import { isRegistered } from '../../src/sandbox/oauth/redirect-uri.ts';
import { oauthWorld, sampleClient } from './oauth-world.ts';

const callback = 'http://127.0.0.1:8976/callback';

const redirectUris: [registered: string, asked: string, matches: boolean][] = [
  [callback, callback, true],
  [callback, 'http://127.0.0.1:8977/callback', false],
  [callback, 'http://127.0.0.1/callback', false],
  [callback, 'http://localhost:8976/callback', false],
  [callback, 'http://[::1]:8976/callback', false],
  [callback, 'https://127.0.0.1:8976/callback', false],
  [callback, `${callback}/`, false],
  [callback, `${callback}?x=1`, false],
  [callback, `${callback}#x`, false],
  [callback, 'http://127.0.0.1:8976/callback/../other', false],
  [callback, 'HTTP://127.0.0.1:8976/callback', false],
  ['https://app.example.com/callback', 'https://app.example.com/callback', true],
  ['https://app.example.com/callback', 'https://app.example.com:443/callback', false],
  ['https://*.example.com/callback', 'https://shop.example.com/callback', true],
  ['https://*.example.com/callback', 'https://Shop-1.example.com/callback', true],
  ['https://*.example.com/callback', 'https://*.example.com/callback', false],
  ['https://*.example.com/callback', 'https://example.com/callback', false],
  ['https://*.example.com/callback', 'https://.example.com/callback', false],
  ['https://*.example.com/callback', 'https://a.b.example.com/callback', false],
  ['https://*.example.com/callback', 'http://shop.example.com/callback', false],
  ['https://*.example.com/callback', 'https://shop.example.com:8443/callback', false],
  ['https://*.example.com/callback', 'https://shop.example.com/callback?x=1', false],
  ['https://*.example.com/callback', 'https://shop.example.com/other', false],
  ['https://*.example.com/callback', 'https://elsewhere.test/x.example.com/callback', false],
  ['https://*.example.com/callback', 'https://elsewhere.test?.example.com/callback', false],
  ['https://*.example.com/callback', 'https://elsewhere.test#.example.com/callback', false],
  ['https://*.example.com/callback', 'https://elsewhere.test\\.example.com/callback', false],
  ['https://*.example.com/callback', 'https://user@shop.example.com/callback', false],
  ['https://*.example.com/callback', 'https://elsewhere.test%2f.example.com/callback', false],
  ['https://*.example.com/callback', 'https://shop.example.com.elsewhere.test/callback', false],
  ['https://*.example.com:8443/callback', 'https://shop.example.com:8443/callback', true],
  ['http://*.example.com/callback', 'http://shop.example.com/callback', false],
  ['https://shop*.example.com/callback', 'https://shop1.example.com/callback', false],
  ['https://*/callback', 'https://elsewhere.test/callback', false],
];

test.each(redirectUris)('registered %s, asked for %s: %s', (registered, asked, matches) => {
  expect(isRegistered([registered], asked)).toBe(matches);
});

test('with consent auto the first answer is the code, for account 1 and every scope that was asked for', () => {
  const service = oauthWorld({
    accounts: [
      { account_id: 2, name: 'Globex' },
      { account_id: 1, name: 'Acme' },
    ],
  });
  const answer = service.send('GET', service.authorizePath());
  expect(answer.status).toBe(302);
  const { origin, pathname, searchParams } = new URL(answer.headers.location ?? '');
  expect(origin + pathname).toBe(callback);
  expect(Object.fromEntries(searchParams)).toEqual({ code: expect.any(String), state: 'sample-state' });
  expect(service.rows.get('conn_1')).toMatchObject({
    account_id: 1,
    client_id: 'sandbox_cli',
    scopes: ['identity', 'tickets:read', 'tickets:write'],
  });
});

const untrusted: [string, Record<string, string | undefined>][] = [
  ['no client', { client_id: undefined }],
  ['an empty client', { client_id: '' }],
  ['an unknown client', { client_id: 'nobody' }],
  ['no redirect_uri', { redirect_uri: undefined }],
  ['another port', { redirect_uri: 'http://127.0.0.1:1/callback' }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }],
  ['another host', { redirect_uri: 'https://elsewhere.test/callback' }],
];

test.each(untrusted)('nobody is redirected: %s', (_, changes) => {
  for (const consent of ['auto', 'page'] as const) {
    for (const method of ['GET', 'POST']) {
      const service = oauthWorld({ consent });
      const answer = service.send(method, service.authorizePath(changes));
      expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.body).toContain('This request cannot continue');
    }
  }
});

test('a client or an address that is named twice is not trusted', () => {
  const service = oauthWorld();
  for (const more of ['client_id=sandbox_cli', `redirect_uri=${encodeURIComponent(callback)}`]) {
    expect(service.send('GET', `${service.authorizePath()}&${more}`).status).toBe(400);
  }
});

const refused: [string, Record<string, string | undefined>, string][] = [
  ['no response_type', { response_type: undefined }, 'invalid_request'],
  ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['a challenge without its method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
  ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['an empty challenge', { code_challenge: '' }, 'invalid_request'],
  ['a challenge that is too short', { code_challenge: 'abc' }, 'invalid_request'],
  ['a padded challenge', { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=' }, 'invalid_request'],
  ['no scope', { scope: undefined }, 'invalid_scope'],
  ['a blank scope', { scope: '  ' }, 'invalid_scope'],
  ['an unknown scope', { scope: 'identity everything' }, 'invalid_scope'],
  ['a scope in capitals', { scope: 'IDENTITY' }, 'invalid_scope'],
];

test.each(refused)('the client is told, with its state: %s', (_, changes, error) => {
  for (const consent of ['auto', 'page'] as const) {
    const service = oauthWorld({ consent });
    const answer = service.send('GET', service.authorizePath(changes));
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.location ?? '');
    expect(location.origin + location.pathname).toBe(callback);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      error,
      error_description: expect.stringMatching(/^[ !#-[\]-~]+$/u),
      state: 'sample-state',
    });
    expect(service.rows.size).toBe(0);
  }
});

test('a client is told about a scope that exists but is not registered for it', () => {
  const service = oauthWorld({ clients: [{ ...sampleClient, scopes: ['identity'] }] });
  const answer = service.send('GET', service.authorizePath({ scope: 'identity tickets:read' }));
  expect(answer.headers.location).toContain('error=invalid_scope');
});

test('a parameter that comes twice is refused; a state that does is not sent back', () => {
  const service = oauthWorld();
  const answer = service.send('GET', `${service.authorizePath()}&state=other`);
  const { searchParams } = new URL(answer.headers.location ?? '');
  expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['invalid_request', null]);
});

test('without a state none is sent back, and one of any characters comes back unchanged', () => {
  const service = oauthWorld();
  const stateOf = (state: string | undefined) =>
    new URL(service.send('GET', service.authorizePath({ state })).headers.location ?? '').searchParams.get('state');
  expect(stateOf(undefined)).toBeNull();
  expect(stateOf('a b&c=d#é"<\r\n')).toBe('a b&c=d#é"<\r\n');
});

test('the answer is added to a query that the registered address has, and parameters we do not know are ignored', () => {
  const withQuery = 'https://app.example.com/callback?tenant=1';
  const service = oauthWorld({ clients: [{ ...sampleClient, redirect_uris: [withQuery] }] });
  const answer = service.send('GET', `${service.authorizePath({ redirect_uri: withQuery })}&nonce=1&prompt=login`);
  expect(answer.headers.location).toMatch(
    /^https:\/\/app\.example\.com\/callback\?tenant=1&code=svc_ac_1_[\w-]+&state=sample-state$/u,
  );
});

test('other methods answer 405', () => {
  const service = oauthWorld();
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const answer = service.send(method, service.authorizePath());
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST']);
  }
});

test('a scope that is named twice is granted once, in the order asked for', () => {
  const service = oauthWorld();
  const { json } = service.redeem({ code: service.code({ scope: ' tickets:read identity  tickets:read' }) });
  expect(json.scope).toBe('tickets:read identity');
});
