import { expect, test } from 'vitest';
import { isRegistered } from '../../src/sandbox/oauth/redirect-uri.ts';
import { addressPart, anyText, fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { basic, challenge, oauthWorld, sampleClient, verifier } from './oauth-world.ts';

const callback = 'http://127.0.0.1:8976/callback';
const wildcard = 'https://*.example.com/callback';
const clients = [{ ...sampleClient, redirect_uris: [callback, wildcard] }];

/** Mostly what is right, so that the wrong is met at every depth. */
const mostly = (...right: string[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: anyText() });

const authorizeQuery = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('response_type'), mostly('code')),
    fc.tuple(fc.constant('client_id'), mostly('sandbox_cli')),
    fc.tuple(
      fc.constant('redirect_uri'),
      mostly(callback, 'https://shop.example.com/callback', 'https://elsewhere.test/'),
    ),
    fc.tuple(fc.constant('scope'), mostly('identity', 'identity tickets:read')),
    fc.tuple(fc.constant('state'), anyText()),
    fc.tuple(fc.constant('code_challenge'), mostly(challenge)),
    fc.tuple(fc.constant('code_challenge_method'), mostly('S256', 'plain')),
    fc.tuple(fc.string(), fc.string()),
  ),
  { maxLength: 10 },
);

test('whatever is asked for, nobody is redirected to an address that is not registered', () => {
  fc.assert(
    fc.property(
      authorizeQuery,
      fc.constantFrom('GET', 'POST'),
      fc.constantFrom('auto', 'page'),
      (query, method, consent) => {
        const service = oauthWorld({ clients, consent: consent as 'auto' | 'page' });
        const full = { response_type: 'code', client_id: 'sandbox_cli', redirect_uri: callback, scope: 'identity' };
        const search = new URLSearchParams(query.length % 2 ? [...query] : [...Object.entries(full), ...query]);
        const { status, headers, body } = service.send(method, `/oauth/platform/authorize?${search}`);
        const { location } = headers;
        expect([200, 302, 303, 400, 403]).toContain(status);
        if (location === undefined) {
          expect(body).toContain('<!doctype html>');
          return;
        }
        const asked = search.get('redirect_uri') ?? '';
        expect(isRegistered([callback, wildcard], asked)).toBe(true);
        expect(location.startsWith(`${asked}?`)).toBe(true);
        expect(location).toMatch(/^[!-~]+$/u);
        const given = new URL(location).searchParams;
        expect(given.has('code')).toBe(!given.has('error'));
      },
    ),
    { numRuns: draws(75, 500) },
  );
});

const hosts = fc.oneof(
  fc
    .tuple(fc.constantFrom('http', 'https'), fc.domain(), addressPart(), addressPart(), addressPart())
    .map(([scheme, domain, path, query, fragment]) => `${scheme}://${domain}/${path}?${query}#${fragment}`),
  fc.tuple(fc.string(), fc.string()).map(([a, b]) => `https://${a}.example.com/callback${b}`),
  fc.string().map((a) => `https://${a}.example.com/callback`),
);

test('whatever the wildcard lets pass goes to a host of that domain, as every URL parser sees it', () => {
  fc.assert(
    fc.property(hosts, (asked) => {
      if (!isRegistered([wildcard], asked)) return;
      const { protocol, hostname, port, pathname, search, hash, username } = new URL(asked);
      expect([protocol, port, pathname, search, hash, username]).toEqual(['https:', '', '/callback', '', '', '']);
      expect(hostname).toMatch(/^[a-z\d-]+\.example\.com$/u);
    }),
    { numRuns: draws(250, 2000) },
  );
});

const tokenForm = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('grant_type'), mostly('authorization_code', 'refresh_token')),
    fc.tuple(fc.constant('code'), mostly('svc_ac_1_x')),
    fc.tuple(fc.constant('code_verifier'), mostly(verifier)),
    fc.tuple(fc.constant('redirect_uri'), mostly(callback)),
    fc.tuple(fc.constantFrom('refresh_token', 'token'), mostly('svc_rt_1_x', '__proto__', 'constructor')),
    fc.tuple(fc.constant('scope'), anyText()),
    fc.tuple(fc.constant('client_id'), mostly('sandbox_cli')),
    fc.tuple(fc.constant('client_secret'), mostly('sandbox_secret')),
  ),
  { maxLength: 8 },
);

test('whatever the token endpoint is sent, it answers with an error of RFC 6749 and gives nothing away', () => {
  const headers = fc.option(
    fc.oneof(
      fc.constant(basic('sandbox_cli', 'sandbox_secret')),
      fc.base64String().map((text) => `Basic ${text}`),
      fc.string(),
    ),
    { nil: undefined },
  );
  fc.assert(
    fc.property(tokenForm, headers, fc.constantFrom('token', 'revoke'), (form, authorization, endpoint) => {
      const service = oauthWorld({ clients });
      service.code();
      const before = JSON.stringify([...service.rows.values()]);
      const sent = new URLSearchParams(form).toString();
      const answer = service.post(
        `/oauth/platform/${endpoint}`,
        sent,
        authorization === undefined ? {} : { authorization },
      );
      const body = JSON.parse(answer.body) as Record<string, string>;
      if (answer.status === 200) {
        expect([endpoint, body]).toEqual(['revoke', {}]);
        return;
      }
      expect(answer.status).toBe(body.error === 'invalid_client' ? 401 : 400);
      expect(body.error).toMatch(/^(invalid_(request|client|grant|scope)|unsupported_grant_type)$/u);
      expect(body.error_description).toMatch(/^[ !#-[\]-~]+$/u);
      expect(JSON.stringify([...service.rows.values()])).toBe(before);
    }),
    { numRuns: draws(75, 500) },
  );
});
