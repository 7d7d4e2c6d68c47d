import { describe, expect, test } from 'vitest';
import { bodies } from './document.ts';
import { startSubject } from './sandbox.ts';
import { settled, simple } from './scene.ts';

describe('429', () => {
  test('a token may make 60 requests a minute; then it is told how long to wait', async () => {
    const subject = startSubject();
    for (let left = 59; left >= 0; left--) {
      const { status, headers } = await subject.send('key_acme', 'GET /platform/account');
      expect([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([200, '60', `${left}`]);
      expect(headers['retry-after']).toBeUndefined();
    }
    const refused = await subject.send('key_acme', 'GET /platform/account');
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual(settled(simple(''), refused.body));
    expect(refused.headers).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
    });
    // Per token: another one is not held up.
    expect((await subject.send('key_globex', 'GET /platform/account')).status).toBe(200);
    await subject.control('POST clock', { advance_seconds: 59 });
    const still = await subject.send('key_acme', 'GET /platform/account');
    expect([still.status, still.headers['retry-after']]).toEqual([429, '1']);
    await subject.control('POST clock', { advance_seconds: 1 });
    expect((await subject.send('key_acme', 'GET /platform/account')).status).toBe(200);
  });

  test('contacts sync takes 30 calls a minute, and they count for the general limit too', async () => {
    const subject = startSubject();
    const sync = () => subject.send('key_acme', 'POST /platform/contacts/sync', bodies.syncContacts);
    for (let call = 1; call <= 30; call++) expect((await sync()).status).toBe(200);
    const refused = await sync();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (let call = 1; call <= 28; call++) await subject.send('key_acme', 'GET /platform/account');
    const last = await subject.send('key_acme', 'GET /platform/account');
    expect([200, 429]).toContain(last.status);
    expect(Number(last.headers['x-ratelimit-remaining'])).toBeLessThanOrEqual(1);
  });

  test('sliding windows free a request a minute after it was made', async () => {
    const subject = startSubject({ rateLimit: 'sliding' });
    const get = async () => (await subject.send('key_acme', 'GET /platform/account')).status;
    for (let call = 1; call <= 30; call++) expect(await get()).toBe(200);
    await subject.control('POST clock', { advance_seconds: 30 });
    for (let call = 1; call <= 30; call++) expect(await get()).toBe(200);
    expect(await get()).toBe(429);
    await subject.control('POST clock', { advance_seconds: 30 });
    for (let call = 1; call <= 30; call++) expect(await get()).toBe(200);
    expect(await get()).toBe(429);
  });

  test('limits that are off refuse nothing and still show their headers', async () => {
    const subject = startSubject({ rateLimit: 'off' });
    for (let call = 1; call <= 100; call++) {
      const { status, headers } = await subject.send('key_acme', 'GET /platform/account');
      expect([status, Number(headers['x-ratelimit-limit']) > 0]).toEqual([200, true]);
    }
  });
});

test('every answer carries the rate headers: success and each refusal', async () => {
  const subject = startSubject();
  const answers = await Promise.all([
    subject.send('key_acme', 'GET /contacts'),
    subject.send('none', 'GET /contacts'),
    subject.send('key_acme', 'GET /contacts/99999'),
    subject.send('key_acme', 'GET /nowhere'),
    subject.send('key_acme', 'PUT /contacts'),
    subject.send('key_acme', 'POST /tickets', {}),
    subject.send('key_acme', 'POST /tickets', '{'),
    subject.send('oauth identity', 'GET /contacts'),
    subject.send('none', 'POST /oauth/platform/token', 'grant_type=none'),
    subject.send('none', 'POST /oauth/platform/revoke', 'token=none'),
  ]);
  for (const { status, headers } of answers) {
    expect(headers['x-ratelimit-limit'], `${status}`).toMatch(/^\d+$/u);
    expect(headers['x-ratelimit-remaining'], `${status}`).toMatch(/^\d+$/u);
  }
});
