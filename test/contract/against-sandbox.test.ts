import { describe, expect, test } from 'vitest';
import { bodies, type Endpoint, endpoints } from './document.ts';
import { rules } from './limits.ts';
import { type Subject, startSubject } from './sandbox.ts';
import { anything, idsIn, invalid, noScope, type Scene, settled, simple, withIds } from './scene.ts';
import { scenes } from './scenes/index.ts';

async function play(subject: Subject, { steps }: Scene): Promise<void> {
  const ids = new Map<string, unknown>();
  for (const step of steps) {
    const request = withIds(step.send, ids);
    const body = withIds(step.body, ids);
    const answer = step.control
      ? await subject.control(request.replace('/_sandbox/', ''), body)
      : await subject.send(step.as ?? 'key_acme', request, body);
    const expected = withIds(step.answer, ids);
    expect({ request, status: answer.status, body: answer.body }).toEqual({
      request,
      status: step.status,
      body: settled(expected, answer.body),
    });
    for (const [name, value] of idsIn(expected, answer.body)) ids.set(name, value);
    if (!step.control) expect(answer.headers['content-type']).toMatch(/^application\/json/u);
  }
}

test.for(scenes)('$title', async (scene) => play(startSubject({ seed: scene.seed }), scene));

test('every operation of the document is played with success', () => {
  const played = new Set<string>();
  for (const step of scenes.flatMap(({ steps }) => steps)) {
    const found = step.status < 300 && endpoints.find((endpoint) => isRequestOf(endpoint, step.send));
    if (found) played.add(found.id);
  }
  expect(endpoints.map(({ id }) => id).filter((id) => !played.has(id))).toEqual([]);
});

const isRequestOf = ({ method, path }: Endpoint, request: string) =>
  new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/gu, '[^/?]+')}(\\?|$)`, 'u').test(request);

/** A request of the endpoint that would succeed but for the id, which is of no record. */
const request = ({ method, path }: Endpoint, id: number | string = 99_999) =>
  `${method} ${path.replace('{account}', '1').replaceAll(/\{\w+\}/gu, String(id))}`;

const rightful = ({ scope }: Endpoint) => (scope === 'm2m' ? 'm2m_sandbox' : `oauth ${scope ?? 'identity'}`);

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

describe('422', () => {
  test.for(rules)('$id: $field $says', async ({ id, part, field, accepted, refused }) => {
    const subject = startSubject({ seed: 'demo', rateLimit: 'off' });
    const endpoint = endpoints.find((one) => one.id === id) as Endpoint;
    const as = rightful(endpoint);
    const play = async (value: Readonly<Record<string, unknown>>) => {
      const there = request(endpoint, await own(subject, endpoint));
      if (part === 'body') return subject.send(as, there, value);
      return subject.send(as, `${there}?${new URLSearchParams(value as Record<string, string>)}`);
    };
    for (const value of accepted) {
      const answer = await play(value);
      expect(answer.status, `${JSON.stringify(value).slice(0, 80)} ${JSON.stringify(answer.body)}`).toBe(
        endpoint.status,
      );
    }
    for (const value of refused) {
      const answer = await play(value);
      expect([answer.status, answer.body], JSON.stringify(value).slice(0, 80)).toEqual([
        422,
        settled(invalid(field, ''), answer.body),
      ]);
    }
  });

  /** A record that the operation can be tried on: a ticket with a requester, for one. */
  async function own(subject: Subject, { path }: Endpoint): Promise<number> {
    const send = (to: string, body: unknown) => subject.send('key_acme', `POST ${to}`, body);
    const contact = bodies.createContacts;
    switch (path.includes('{') ? path.split('/')[1] : '') {
      case 'contacts':
        return (await send('/contacts/create', contact)).body.contacts.contact_id;
      case 'contactslists':
        return (await send('/contactslists/create', bodies.createContactList)).body.contact_list_id;
      case 'tickets': {
        const contact_id = (await send('/contacts/create', contact)).body.contacts.contact_id;
        return (await send('/tickets', { subject: 'x', contact_id })).body.ticket.id;
      }
      case 'conversations':
        return (await subject.send('key_acme', 'GET /conversations')).body.conversations[0].id;
      case 'changelog':
        return (await send('/changelog', bodies.createChangelogEntry)).body.entry.id;
      default:
        return 0;
    }
  }

  test.for(endpoints.filter(({ id }) => bodies[id]))('$id refuses a body that is no JSON object', async (endpoint) => {
    const subject = startSubject({ seed: 'demo', rateLimit: 'off' });
    const there = request(endpoint, await own(subject, endpoint));
    for (const body of ['{', 'hello', '[1]', '"x"', '5', 'null', '{"a":1}x', '\u0000']) {
      const answer = await subject.send(rightful(endpoint), there, body);
      expect([answer.status, answer.body], body).toEqual([
        422,
        settled({ message: invalid('', '').message, errors: anything({}) }, answer.body),
      ]);
    }
  });

  test.for(endpoints.filter(({ id }) => bodies[id]))('$id ignores a field that it does not know', async (endpoint) => {
    const subject = startSubject({ seed: 'demo' });
    const there = request(endpoint, await own(subject, endpoint));
    const body = { ...(bodies[endpoint.id] as object), unheard_of: { deep: [1] } };
    expect((await subject.send(rightful(endpoint), there, body)).status).toBe(endpoint.status);
  });
});

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
