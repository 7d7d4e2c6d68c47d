import { describe, expect, test } from 'vitest';
import { bodies, type Endpoint, endpoints } from './document.ts';
import { request, rightful, type Subject, startSubject } from './sandbox.ts';
import { noScope, settled, simple } from './scene.ts';

// 401, 403 and 404 (service.md#errors-1) at every endpoint.

const withScope = endpoints.filter(({ scope }) => scope !== null && scope !== 'm2m');
const withId = endpoints.filter(({ path }) => /\{(?!account)/u.test(path));

describe('401', () => {
  test.for(endpoints)('$id refuses a missing, unknown or malformed token', async (endpoint) => {
    const subject = startSubject();
    for (const authorization of [undefined, 'Bearer nonsense', 'Bearer', 'Bearer ', 'Basic a2V5', 'key_acme', '']) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const answer = await subject.send('none', request(endpoint), bodies[endpoint.id], headers);
      expect(answer.status, authorization).toBe(401);
      expect(answer.body).toEqual(settled(simple(''), answer.body));
    }
  });

  test('an expired token is refused by the sandbox clock', async () => {
    const subject = startSubject();
    const token = await subject.token(['identity']);
    const status = async () => (await subject.send(token, 'GET /platform/account')).status;
    expect(await status()).toBe(200);
    await subject.control('POST clock', { advance_seconds: 3599 });
    expect(await status()).toBe(200);
    await subject.control('POST clock', { advance_seconds: 2 });
    expect(await status()).toBe(401);
  });

  test('the machine-to-machine token is valid only for meetings', async () => {
    const subject = startSubject();
    for (const endpoint of endpoints.filter(({ scope }) => scope !== 'm2m')) {
      const answer = await subject.send('m2m_sandbox', request(endpoint), bodies[endpoint.id]);
      expect(answer.status, endpoint.id).toBe(401);
    }
  });

  test('a token of a connection that the customer ended is refused', async () => {
    const subject = startSubject();
    const token = await subject.token(['identity']);
    await subject.control('POST disconnect', { account_id: 1, client_id: 'sandbox_cli' });
    expect((await subject.send(token, 'GET /platform/account')).status).toBe(401);
  });
});

describe('403', () => {
  test.for(withScope)('$id names the scope that the token lacks', async (endpoint) => {
    const subject = startSubject({ rateLimit: 'off' });
    const others = withScope.map(({ scope }) => scope as string).filter((scope) => scope !== endpoint.scope);
    const answer = await subject.send(`oauth ${others.join(' ')}`, request(endpoint), bodies[endpoint.id]);
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual(settled(noScope(endpoint.scope as string), answer.body));
  });

  test.for(endpoints.filter(({ module }) => module))('$id needs the module $module', async (endpoint) => {
    const subject = startSubject({ seed: 'demo' });
    await subject.control('POST modules', { account_id: 1, [endpoint.module as string]: false });
    for (const as of ['key_acme', rightful(endpoint)]) {
      const answer = await subject.send(as, request(endpoint, 1), bodies[endpoint.id]);
      expect(answer.status).toBe(403);
      expect(answer.body).toEqual(settled(simple(''), answer.body));
      expect(answer.body.error).not.toBe('insufficient_scope');
    }
    await subject.control('POST modules', { account_id: 1, [endpoint.module as string]: true });
    expect((await subject.send('key_acme', request(endpoint, 1), bodies[endpoint.id])).status).not.toBe(403);
  });

  test('a module that is off for one account is on for the other, and touches no other endpoint', async () => {
    const subject = startSubject();
    const off = { support: false, changelog: false, feedback_board: false, roadmap: false };
    await subject.control('POST modules', { account_id: 1, ...off });
    expect((await subject.send('key_globex', 'GET /tickets')).status).toBe(200);
    for (const endpoint of endpoints.filter(({ module, path }) => !module && !path.includes('{'))) {
      const answer = await subject.send(rightful(endpoint), request(endpoint), bodies[endpoint.id]);
      expect(answer.status, endpoint.id).toBe(endpoint.status);
    }
  });

  test.for(['listWebhooks', 'createWebhook', 'deleteWebhook'])('%s refuses an account API key', async (id) => {
    const endpoint = endpoints.find((one) => one.id === id) as Endpoint;
    const answer = await startSubject().send('key_acme', request(endpoint), bodies[id]);
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual(settled(simple(''), answer.body));
  });

  test('an API key passes every scope check', async () => {
    const subject = startSubject({ seed: 'demo' });
    for (const endpoint of withScope.filter(({ scope }) => scope !== 'webhooks:manage')) {
      const answer = await subject.send('key_acme', request(endpoint, 1), bodies[endpoint.id]);
      expect([401, 403], endpoint.id).not.toContain(answer.status);
    }
  });

  test('list endpoints take a token of any scope', async () => {
    const subject = startSubject();
    for (const endpoint of endpoints.filter(({ scope }) => scope === null)) {
      const answer = await subject.send('oauth calls:read', request(endpoint), bodies[endpoint.id]);
      expect([200, 404], endpoint.id).toContain(answer.status);
    }
  });
});

describe('404', () => {
  test.for(withId)('$id knows no record of that id', async (endpoint) => {
    const subject = startSubject({ seed: 'demo' });
    for (const id of [99_999, 0, '-1', '1.5', '99999999999999999999', 'abc', '%2e', '1%20', '1e1', '0x1']) {
      const answer = await subject.send(rightful(endpoint), request(endpoint, id), bodies[endpoint.id]);
      expect(answer.status, `${id}`).toBe(404);
      expect(answer.body).toEqual(settled(simple(''), answer.body));
    }
  });

  test.for(withId.filter(({ scope }) => scope !== 'webhooks:manage'))(
    '$id answers the same for a record of another account',
    async (endpoint) => {
      const subject = startSubject({ seed: 'demo' });
      const ids = await firstIds(subject);
      const id = ids[endpoint.path.split('/')[1] as string] as number;
      const own = await subject.send('key_acme', request(endpoint, id), bodies[endpoint.id]);
      expect([200, 201, 422]).toContain(own.status);
      const others = await subject.send('key_globex', request(endpoint, id), bodies[endpoint.id]);
      const nobodys = await subject.send('key_globex', request(endpoint, 99_999), bodies[endpoint.id]);
      expect([others.status, others.body]).toEqual([404, nobodys.body]);
    },
  );

  test('a path that the document does not have is not found', async () => {
    const subject = startSubject();
    for (const path of ['/', '/contact', '/contacts/1/notes', '/v1/contacts', '/contactslists', '/platform']) {
      const answer = await subject.send('key_acme', `GET ${path}`);
      expect(answer.status, path).toBe(404);
      expect(answer.body).toEqual(settled(simple(''), answer.body));
    }
  });

  /** An id of account 1 by the first segment of the path. */
  async function firstIds(subject: Subject): Promise<Record<string, number>> {
    const get = async (path: string) => (await subject.send('key_acme', `GET ${path}?per_page=1`)).body;
    return {
      contacts: (await get('/contacts')).contacts[0].contact_id,
      contactslists: (await get('/contactslists/list')).data[0].contacts_list_id,
      tickets: (await get('/tickets')).tickets[0].id,
      conversations: (await get('/conversations')).conversations[0].id,
      changelog: (await get('/changelog')).entries[0].id,
    };
  }
});
