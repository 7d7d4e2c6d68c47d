import { describe, expect, test } from 'vitest';
import { bodies } from './document.ts';
import { account, newContact, start } from './sandbox.ts';

// Control under /_sandbox/, call by call.

describe('state, log and reset', () => {
  test('the state holds what the API does not show', async () => {
    const world = start('demo');
    const { ticket } = await world.post('/tickets', { subject: 'x' });
    await world.post(`/tickets/${ticket.id}/notes`, { body: 'a private note' });
    await world.post('/integrations/partner/events', {
      trigger: 'order_create',
      contact: { name: 'Ada', email: 'shadow@example.com' },
      attribution: { gclid: 'x' },
    });
    await world.subject.send('oauth webhooks:manage', 'POST /oauth-platform/webhooks', bodies.createWebhook);
    await world.subject.control('POST emit', { event: 'ticket.created', data: {} });
    const state = await world.state();
    const text = JSON.stringify(state);
    expect(text).toContain('a private note');
    expect(text).toContain('shadow@example.com');
    for (const kind of ['events', 'enrolments', 'conversions', 'subscriptions', 'deliveries']) {
      expect(state[kind], kind).toEqual(expect.any(Array));
    }
    expect([state.events.length, state.conversions.length, state.subscriptions.length]).toEqual([1, 1, 1]);
  });

  test('the log holds every request with its status and kind of credential, and no secret', async () => {
    const world = start();
    const token = await world.subject.token(['webhooks:manage', 'identity']);
    await world.get('/contacts?page=1');
    await world.subject.send(token, 'POST /oauth-platform/webhooks', bodies.createWebhook);
    await world.subject.send('none', 'GET /contacts');
    await world.subject.send('key_acme', 'POST /tickets', '{"subject": broken');
    const client = 'client_id=sandbox_cli&client_secret=sandbox_secret';
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await world.subject.send(
      'none',
      'POST /oauth/platform/token',
      `grant_type=refresh_token&refresh_token=rt_secret&${client}`,
      form,
    );
    const { body } = await world.subject.control('GET log');
    const entries = Array.isArray(body) ? body : body.log;
    expect(
      entries.map(({ method, path, status, credential }: never) => ({ method, path, status, credential })),
    ).toEqual([
      { method: 'GET', path: '/contacts', status: 200, credential: 'api_key' },
      { method: 'POST', path: '/oauth-platform/webhooks', status: 201, credential: 'oauth' },
      { method: 'GET', path: '/contacts', status: 401, credential: null },
      { method: 'POST', path: '/tickets', status: 422, credential: 'api_key' },
      expect.objectContaining({ method: 'POST', path: '/oauth/platform/token' }),
    ]);
    expect(JSON.stringify(entries)).toContain('https://hooks.example.com/svc');
    for (const secret of [token, 'sandbox_secret', 'rt_secret', 'key_acme']) {
      expect(JSON.stringify(body)).not.toContain(secret);
    }
  });

  test('a reset is as freshly started: records, tokens, clock, faults, log and limits', async () => {
    const world = start('empty', { rateLimit: 'on' });
    const fresh = await world.state();
    const token = await world.subject.token(['identity']);
    await newContact(world);
    await world.later(3600);
    await world.subject.control('POST modules', { account_id: 1, support: false });
    await world.subject.control('POST faults', [{ action: 'status', status: 500, nth: 100 }]);
    for (let i = 0; i < 70; i++) await world.subject.send('key_acme', 'GET /contacts');
    expect((await world.subject.control('POST reset', {})).status).toBe(200);
    expect(await world.state()).toEqual(fresh);
    expect((await world.subject.send(token, 'GET /platform/account')).status).toBe(401);
    const { status, headers } = await world.subject.send('key_acme', 'GET /tickets');
    expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '59']);
    expect(headers.date).toBe('Fri, 20 Nov 2026 09:00:00 GMT');
    expect(JSON.stringify((await world.subject.control('GET log')).body)).not.toContain('/contacts');
  });

  test('a reset may choose the other seed', async () => {
    const world = start('empty');
    await world.subject.control('POST reset', { seed: 'demo' });
    expect((await world.get('/contacts')).meta.total).toBeGreaterThanOrEqual(250);
    await world.subject.control('POST reset', {});
    expect((await world.get('/contacts')).meta.total).toBeGreaterThanOrEqual(250);
    await world.subject.control('POST reset', { seed: 'empty' });
    expect((await world.get('/contacts')).meta.total).toBe(0);
    expect((await world.subject.control('POST reset', { seed: 'no-such' })).status).toBe(422);
  });

  test('a reset may bring its own records, in the shape of the state', async () => {
    const world = start('demo');
    const seed = { contacts: [{ contact_id: 7, account_id: 1, name: 'Ada', email: 'ada@example.com' }] };
    expect((await world.subject.control('POST reset', { seed })).status).toBe(200);
    expect((await world.get('/contacts')).contacts).toMatchObject([{ contact_id: 7, name: 'Ada', company: '' }]);
    for (const wrong of [{ contacts: 5 }, { no_such_kind: [] }, { contacts: [{ name: 'no id' }] }, [], 5, null]) {
      const { status, body } = await world.subject.control('POST reset', { seed: wrong });
      expect([status, Object.keys(body.errors)], JSON.stringify(wrong)).toEqual([422, ['seed']]);
    }
    expect((await world.get('/contacts')).meta.total).toBe(1);
  });
});

describe('clock', () => {
  test('it moves the Date of answers and every time in them', async () => {
    const world = start();
    await world.later(86_400);
    const { headers, body } = await world.subject.send('key_acme', 'POST /tickets', { subject: 'x' });
    expect(headers.date).toBe('Sat, 21 Nov 2026 09:00:00 GMT');
    expect(body.ticket.created_at).toBe('2026-11-21T09:00:00.000Z');
  });

  test('what is no number of seconds is refused', async () => {
    const { subject } = start();
    for (const advance_seconds of [undefined, 'x', null, {}]) {
      expect((await subject.control('POST clock', { advance_seconds })).status).toBe(422);
    }
  });
});

describe('tokens and disconnect', () => {
  test('a pair is what the token endpoint answers, for that account and those scopes', async () => {
    const { subject } = start();
    const { status, body } = await subject.control('POST tokens', {
      account_id: 2,
      scopes: ['identity', 'tickets:read'],
    });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/\S/u),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.stringMatching(/\S/u),
        scope: 'identity tickets:read',
      },
    ]);
    expect((await subject.send(body.access_token, 'GET /platform/account')).body.name).toBe('Globex');
    expect((await subject.send(body.access_token, 'GET /tickets')).status).toBe(200);
    expect((await subject.send(body.access_token, 'GET /contacts')).status).toBe(403);
  });

  test('scopes may be written with spaces between them, as OAuth does', async () => {
    const { subject } = start();
    const { body } = await subject.control('POST tokens', { account_id: 1, scopes: 'identity tickets:read' });
    expect(body.scope).toBe('identity tickets:read');
  });

  test('expires_in shortens the life of the access token', async () => {
    const world = start();
    const token = await world.subject.token(['identity'], 1, 5);
    const status = async () => (await world.subject.send(token, 'GET /platform/account')).status;
    expect(await status()).toBe(200);
    await world.later(6);
    expect(await status()).toBe(401);
  });

  test('the refresh token of a pair works at the token endpoint', async () => {
    const { subject } = start();
    const { body } = await subject.control('POST tokens', { account_id: 1, scopes: ['identity'] });
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: 'sandbox_cli',
      client_secret: 'sandbox_secret',
    });
    const refresh = () =>
      subject.send('none', 'POST /oauth/platform/token', form.toString(), {
        'content-type': 'application/x-www-form-urlencoded',
      });
    const first = await refresh();
    expect([first.status, first.body.scope, first.headers['x-ratelimit-limit']]).toEqual([
      200,
      'identity',
      expect.stringMatching(/^\d+$/u),
    ]);
    expect(await refresh()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('a token is refused for an account or a scope that there is not', async () => {
    const { subject } = start();
    expect((await subject.control('POST tokens', { account_id: 3, scopes: ['identity'] })).status).toBe(422);
    expect((await subject.control('POST tokens', { account_id: 1, scopes: ['everything'] })).status).toBe(422);
    expect((await subject.control('POST tokens', { scopes: ['identity'] })).status).toBe(422);
  });

  test('a disconnected app has no token left in that account, and keeps the others', async () => {
    const { subject } = start();
    const [acme, globex] = [await subject.token(['identity'], 1), await subject.token(['identity'], 2)];
    const status = async (token: string) => (await subject.send(token, 'GET /platform/account')).status;
    await subject.control('POST disconnect', { account_id: 1, client_id: 'sandbox_cli' });
    expect([await status(acme), await status(globex)]).toEqual([401, 200]);
    expect((await subject.control('POST disconnect', { account_id: 1, client_id: 'nobody' })).status).toBe(422);
  });
});

describe('acts', () => {
  test('an act on a record that is not there, or of a kind that there is not, is refused', async () => {
    const world = start('demo');
    expect((await world.act('call_completed', { contact_id: 99_999 })).status).toBe(404);
    expect((await world.act('customer_message', { conversation_id: 99_999, body: 'x' })).status).toBe(404);
    expect((await world.act('no_such_kind')).status).toBe(422);
    expect((await world.act('feedback_posted', {})).status).toBe(422);
  });

  test('a customer message is in the conversation, at the top of the list, and not answered by a person', async () => {
    const world = start('demo');
    const { conversations } = await world.get('/conversations?per_page=100');
    const { id } = conversations.at(-1);
    await world.later(1);
    await world.act('customer_message', { conversation_id: id, body: 'Still there?' });
    expect((await world.get('/conversations?per_page=1')).conversations[0].id).toBe(id);
  });

  test('sends_fail fails replies of tickets and conversations, and stores nothing', async () => {
    const world = start('demo');
    const { id } = (await world.get('/conversations?per_page=1')).conversations[0];
    const before = (await world.get(`/conversations/${id}`)).conversation;
    await world.act('sends_fail', { value: true });
    const sent = await world.subject.send('key_acme', `POST /conversations/${id}/messages`, { body: 'x' });
    expect(sent.status).toBe(422);
    expect((await world.get(`/conversations/${id}`)).conversation).toEqual(before);
    await world.act('sends_fail', { value: false });
    await world.post(`/conversations/${id}/messages`, { body: 'x' });
  });
});

test('control calls need no token, count for no limit and are refused with other methods', async () => {
  const world = start('empty', { rateLimit: 'on' });
  for (let i = 0; i < 100; i++) expect((await world.subject.control('GET state')).status).toBe(200);
  expect((await world.subject.send('key_acme', 'GET /contacts')).headers['x-ratelimit-remaining']).toBe('59');
  expect((await world.subject.control('PUT state')).status).toBe(405);
  expect((await world.subject.control('GET nothing')).status).toBe(404);
  expect((await world.subject.control('POST clock', '{')).status).toBe(422);
  expect((await world.subject.control('POST clock', '[1]')).status).toBe(422);
});

test('modules are switched for one account at a time', async () => {
  const world = start('demo');
  await world.subject.control('POST modules', { account_id: 1, roadmap: false });
  expect((await world.subject.send('key_acme', 'GET /roadmap')).status).toBe(403);
  expect((await world.subject.send('key_acme', 'GET /feedback')).status).toBe(200);
  await account(world.subject, 'key_globex').get('/roadmap');
  expect((await world.subject.control('POST modules', { account_id: 9, roadmap: false })).status).toBe(422);
  expect((await world.subject.control('POST modules', { account_id: 1, roadmap: 'no' })).status).toBe(422);
});
