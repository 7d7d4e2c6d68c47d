import { expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const page = { host: '127.0.0.1:4010', origin: 'https://app.example.com' };
const question = {
  ...page,
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization',
};

const ask = (cors: boolean, method: string, url: string, headers: Record<string, string>) =>
  createSandbox({ seed: 'demo', cors }).handle({ method, url, headers, remoteAddress: '127.0.0.1' });

test('with --cors a page of any origin may ask, and then call', async () => {
  const before = await ask(true, 'OPTIONS', '/contacts/1', question);
  expect(before).toMatchObject({
    status: 204,
    body: '',
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': 'authorization',
    },
  });
  const called = await ask(true, 'GET', '/contacts/1', { ...page, authorization: 'Bearer key_acme' });
  expect(called).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } });
  expect(called.headers['access-control-expose-headers']).toContain('X-RateLimit-Remaining');
  for (const url of ['/contacts/1', '/oauth/platform/token', '/nowhere']) {
    expect((await ask(true, 'POST', url, page)).headers, url).toHaveProperty('access-control-allow-origin', '*');
  }
});

test('the control calls stay closed to pages, and OPTIONS that is no question is refused', async () => {
  const control = await ask(true, 'OPTIONS', '/_sandbox/state', question);
  expect(control.status).toBeGreaterThanOrEqual(400);
  expect(control.headers).not.toHaveProperty('access-control-allow-origin');
  expect((await ask(true, 'OPTIONS', '/contacts', { host: '127.0.0.1' })).status).toBe(405);
});

test('without --cors no page is let in', async () => {
  expect((await ask(false, 'OPTIONS', '/contacts/1', question)).status).toBe(405);
  const called = await ask(false, 'GET', '/contacts/1', { ...page, authorization: 'Bearer key_acme' });
  expect(called.headers).not.toHaveProperty('access-control-allow-origin');
});

test('GET /openapi.json is the description, with the sandbox as its server', async () => {
  const here = 'http://127.0.0.1:4010';
  const answer = await ask(false, 'GET', '/openapi.json', { host: '127.0.0.1:4010' });
  const printed = await svc(sandboxWorld(), ['openapi', '--base-url', here, '--auth-url', here]);
  expect(JSON.parse(answer.body)).toEqual(JSON.parse(printed.stdout));
});

test.each([
  ['/integrations/partner/events', { trigger: 't', contact: { name: 'A', phone: 'junk' } }, 'contact.phone'],
  [
    '/contacts/create',
    { name: 'A', last_name: 'B', email: 'a@b.example', phone: '+12025550100', metadata: [] },
    'metadata',
  ],
  ['/oauth-platform/webhooks', { event_type: 'ticket.created', target_url: 'https://x.example/a b' }, 'target_url'],
])('what the description forbids is refused: %s', async (url, body, field) => {
  const world = sandboxWorld({ seed: 'demo' });
  const scopes = ['sequences:trigger', 'contacts:write', 'webhooks:manage'];
  const tokens = (await world.control('POST', 'tokens', { account_id: 1, scopes })) as { access_token: string };
  const answer = await world.sandbox.handle({
    method: 'POST',
    url,
    headers: { host: '127.0.0.1', authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(422);
  expect(Object.keys(JSON.parse(answer.body).errors)).toEqual([field]);
});
