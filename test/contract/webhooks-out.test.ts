import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { events } from './document.ts';
import { newContact, type Played, person, start } from './sandbox.ts';

// Outbound webhooks (service.md#webhooks), sent by the sandbox to a real receiver.

type Delivery = { headers: IncomingHttpHeaders; raw: Buffer; body: Envelope; path: string };
// biome-ignore lint/suspicious/noExplicitAny: what was sent is what is being judged
type Envelope = { event: string; id: string; created_at: string; data: any };

let receiver: Server;
let received: Delivery[] = [];
let answerWith = 204;

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    received.push({ headers: request.headers, raw, body: JSON.parse(raw.toString()), path: request.url ?? '' });
    response.writeHead(answerWith).end();
  });
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
});
afterAll(() => receiver.close());
afterEach(() => {
  received = [];
  answerWith = 204;
});

const target = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

async function subscribe(world: Played, event_type: string, as = 'oauth webhooks:manage', target_url = target()) {
  const { status, body } = await world.subject.send(as, 'POST /oauth-platform/webhooks', { event_type, target_url });
  expect(status).toBe(201);
  return body as { id: number; signing_secret: string };
}

/** Waits until nothing is being sent. */
const settle = (world: Played) => world.later(0);
const sent = (event?: string) => received.map(({ body }) => body).filter((body) => !event || body.event === event);

async function subscribed(seed: 'empty' | 'demo' = 'empty') {
  const world = start(seed, { allowHttpTargets: true });
  const secrets = new Map<string, string>();
  for (const event of Object.keys(events)) secrets.set(event, (await subscribe(world, event)).signing_secret);
  return { ...world, secrets };
}

test('a delivery is JSON with the envelope, the event in a header and the signature of its very bytes', async () => {
  const world = await subscribed();
  await world.post('/tickets', { subject: 'Drucker brennt 😀' });
  await settle(world);
  const [{ headers, raw, body, path }] = received as [Delivery];
  expect([received.length, path]).toEqual([1, '/hook']);
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-svc-event': 'ticket.created' });
  const key = world.secrets.get('ticket.created') as string;
  expect(headers['x-svc-signature']).toBe(createHmac('sha256', key).update(raw).digest('hex'));
  expect(Object.keys(body)).toEqual(['event', 'id', 'created_at', 'data']);
  expect(body.created_at).toMatch(/^2026-11-20T09:00:00(\.\d+)?([+-]\d\d:\d\d|Z)$/u);
  expect(body.id).toMatch(/\S/u);
});

test('ticket.created fires for POST /tickets, and not for a change, a note or a reply', async () => {
  const world = await subscribed();
  const contact_id = await newContact(world);
  const { ticket } = await world.post('/tickets', { subject: 'Printer', contact_id, priority: 2 });
  await world.patch(`/tickets/${ticket.id}`, { status: 'resolved' });
  await world.post(`/tickets/${ticket.id}/notes`, { body: 'note' });
  await world.post(`/tickets/${ticket.id}/replies`, { body: 'reply' });
  await settle(world);
  expect(sent('ticket.created').map(({ data }) => data)).toEqual([
    {
      ticket_id: ticket.id,
      account_id: 1,
      ticket_number: ticket.ticket_number,
      subject: 'Printer',
      status: 'open',
      priority: 2,
      source: 'api',
      contact_id,
      created_at: ticket.created_at,
    },
  ]);
  expect(JSON.stringify(sent())).not.toMatch(/note|reply/u);
});

test('contact.created fires once for a contact that is added by any route', async () => {
  const world = await subscribed();
  const first = await newContact(world, 1);
  await world.post('/contacts/create', { contacts: [person(2), person(3)] });
  await world.post('/platform/contacts/sync', { contacts: [{ email: 'p4@example.com' }, { email: 'p1@example.com' }] });
  const list = { name: 'Leads', target_industry: 'Retail', notes: 'Fair' };
  const { contact_list_id } = await world.post('/contactslists/create', list);
  const contacts = [
    { name: 'Five', email: 'p5@example.com' },
    { name: 'One', email: 'p1@example.com' },
  ];
  await world.post(`/contactslists/${contact_list_id}/create_sync_contacts`, { contacts });
  await world.patch(`/contacts/${first}`, { company: 'Example' });
  await settle(world);
  const made = sent('contact.created').map(({ data }) => data);
  expect(made.map(({ email }) => email).toSorted()).toEqual([1, 2, 3, 4, 5].map((n) => `p${n}@example.com`));
  expect(Object.keys(made[0]).join(', ')).toBe(events['contact.created']);
});

test('a batch that is refused tells nobody', async () => {
  const world = await subscribed();
  await world.subject.send('key_acme', 'POST /contacts/create', { contacts: [person(1), { name: '' }] });
  await settle(world);
  expect(sent()).toEqual([]);
});

test('call.completed fires when a call finishes', async () => {
  const world = await subscribed();
  const contact_id = await newContact(world);
  await world.act('call_completed', { contact_id });
  await settle(world);
  const [{ data }] = sent('call.completed') as [Envelope];
  expect(Object.keys(data).join(', ')).toBe(events['call.completed']);
  const [call] = (await world.get('/calls')).calls;
  const { phone_call_id, from, to, duration } = call;
  expect(data).toMatchObject({ phone_call_id, contact_id, from, to, duration });
});

test('conversation.message_received fires for what a customer writes, and for nobody else', async () => {
  const world = await subscribed('demo');
  const { id: conversation_id } = (await world.get('/conversations?per_page=1')).conversations[0];
  await world.act('ai_message', { conversation_id, body: 'from the AI' });
  await world.act('internal_note', { conversation_id, body: 'staff only' });
  await world.post(`/conversations/${conversation_id}/messages`, { body: 'from the team' });
  await world.post(`/conversations/${conversation_id}/resolve`);
  await settle(world);
  expect(sent()).toEqual([]);
  await world.act('customer_message', { conversation_id, body: '😀'.repeat(2500) });
  await settle(world);
  const [{ data }] = sent('conversation.message_received') as [Envelope];
  expect(sent()).toHaveLength(1);
  expect(Object.keys(data).join(', ')).toBe(events['conversation.message_received']);
  expect(data).toMatchObject({ conversation_id, account_id: 1, sender_type: 'visitor', body: '😀'.repeat(2000) });
  const { conversation } = await world.get(`/conversations/${conversation_id}`);
  expect(conversation.messages.at(-1).body).toBe('😀'.repeat(2500));
});

test('changelog.published fires when an entry is created as published or moved out of draft, once', async () => {
  const world = await subscribed();
  const entry = { title: 'Dark mode', content: 'It is here.', version: '1.2.0' };
  const { entry: draft } = await world.post('/changelog', entry);
  await world.patch(`/changelog/${draft.id}`, { title: 'Darker mode' });
  await settle(world);
  expect(sent()).toEqual([]);
  const { entry: published } = await world.patch(`/changelog/${draft.id}`, { status: 'published' });
  await world.patch(`/changelog/${draft.id}`, { status: 'published' });
  await world.patch(`/changelog/${draft.id}`, { content: 'Edited.' });
  await world.post('/changelog', { ...entry, title: 'At once', status: 'published' });
  await settle(world);
  const fired = sent('changelog.published').map(({ data }) => data);
  expect(fired.map(({ title }) => title)).toEqual(['Darker mode', 'At once']);
  expect(Object.keys(fired[0]).join(', ')).toBe(events['changelog.published']);
  expect(fired[0]).toMatchObject({
    entry_id: draft.id,
    account_id: 1,
    version: '1.2.0',
    slug: published.slug,
    published_at: published.published_at,
  });
});

test('feedback.created fires for a post, without its author', async () => {
  const world = await subscribed('demo');
  await world.act('feedback_posted', { title: 'More colours', content: 'Please.' });
  await settle(world);
  const [{ data }] = sent('feedback.created') as [Envelope];
  expect(Object.keys(data).join(', ')).toBe(events['feedback.created']);
  expect(data).toMatchObject({ account_id: 1, title: 'More colours' });
  const { posts } = await world.get('/feedback?q=More+colours');
  expect(posts[0]).toMatchObject({
    id: data.post_id,
    title: 'More colours',
    content: 'Please.',
    vote_count: expect.any(Number),
  });
});

test('two subscriptions get a delivery each, with an id of its own; another account gets none', async () => {
  const world = start('empty', { allowHttpTargets: true });
  const first = await subscribe(world, 'ticket.created');
  const second = await subscribe(world, 'ticket.created', 'oauth webhooks:manage identity');
  expect(first.signing_secret).not.toBe(second.signing_secret);
  const token = await world.subject.token(['webhooks:manage'], 2);
  await subscribe(world, 'ticket.created', token, `${target()}/globex`);
  await world.post('/tickets', { subject: 'x' });
  await settle(world);
  expect(received.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  expect(new Set(sent().map(({ id }) => id)).size).toBe(2);
});

test('an answer that is no success is not retried', async () => {
  for (answerWith of [500, 404, 301, 429]) {
    const world = await subscribed();
    received = [];
    await world.post('/tickets', { subject: 'x' });
    await settle(world);
    await world.later(3600);
    expect(received.length, `${answerWith}`).toBe(1);
  }
});

test('a receiver that cannot be reached is tried three times: at once, after ten seconds, after a minute more', async () => {
  const world = start('empty', { allowHttpTargets: true });
  const closed = createServer();
  await new Promise<void>((listening) => closed.listen(0, '127.0.0.1', listening));
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  await subscribe(world, 'ticket.created', undefined, `http://127.0.0.1:${port}/`);
  await world.post('/tickets', { subject: 'x' });
  await world.later(3600);
  const [{ attempts, status }] = (await world.state()).deliveries;
  const times = attempts.map(({ at }: { at: string }) => (Date.parse(at) - Date.parse('2026-11-20T09:00:00Z')) / 1000);
  expect([status, times]).toEqual(['failed', [0, 10, 70]]);
});

test('a subscription that was deleted, or whose app was disconnected, gets nothing more', async () => {
  const world = start('empty', { allowHttpTargets: true });
  const hook = await subscribe(world, 'ticket.created');
  await world.subject.send('oauth webhooks:manage', `DELETE /oauth-platform/webhooks/${hook.id}`);
  await world.post('/tickets', { subject: 'x' });
  await settle(world);
  expect(sent()).toEqual([]);
  await subscribe(world, 'ticket.created');
  await world.subject.control('POST disconnect', { account_id: 1, client_id: 'sandbox_cli' });
  await world.post('/tickets', { subject: 'y' });
  await settle(world);
  expect(sent()).toEqual([]);
});

test('http targets are refused unless they are allowed, and then only on loopback', async () => {
  const hook = (target_url: string) => ({ event_type: 'ticket.created', target_url });
  const allowed = start('empty', { allowHttpTargets: true });
  const strict = start('empty');
  const create = async (world: Played, url: string) =>
    (await world.subject.send('oauth webhooks:manage', 'POST /oauth-platform/webhooks', hook(url))).status;
  expect(await create(strict, 'http://127.0.0.1:9/x')).toBe(422);
  expect(await create(allowed, 'http://127.0.0.1:9/x')).toBe(201);
  expect(await create(allowed, 'http://localhost:9/x')).toBe(201);
  for (const url of [
    'http://example.com/x',
    'http://10.0.0.1/x',
    'http://127.0.0.1.example.com/',
    'ftp://127.0.0.1/',
  ]) {
    expect(await create(allowed, url), url).toBe(422);
  }
});

test('emit sends any data to whoever subscribed, several times or wrongly signed where asked', async () => {
  const world = await subscribed();
  const emit = (body: object) =>
    world.subject.control('POST emit', { event: 'call.completed', data: { any: ['😀'] }, ...body });
  await emit({ duplicate: 2 });
  await emit({ bad_signature: true });
  await settle(world);
  expect(sent().map(({ data }) => data)).toEqual(Array(4).fill({ any: ['😀'] }));
  const ids = sent().map(({ id }) => id);
  expect([ids[0] === ids[1], ids[1] === ids[2], ids[2] === ids[3]]).toEqual([true, true, false]);
  const key = world.secrets.get('call.completed') as string;
  const genuine = received.map(
    ({ headers, raw }) => headers['x-svc-signature'] === createHmac('sha256', key).update(raw).digest('hex'),
  );
  expect(genuine).toEqual([true, true, true, false]);
});

test('a refreshed token is the same connection: it lists and deletes what the first one made', async () => {
  const world = start('empty');
  const { body: pair } = await world.subject.control('POST tokens', { account_id: 1, scopes: ['webhooks:manage'] });
  const hook = await subscribe(world, 'ticket.created', pair.access_token, 'https://hooks.example.com/svc');
  const form = `grant_type=refresh_token&refresh_token=${pair.refresh_token}&client_id=sandbox_cli&client_secret=sandbox_secret`;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const { body: next } = await world.subject.send('none', 'POST /oauth/platform/token', form, type);
  const listed = await world.subject.send(next.access_token, 'GET /oauth-platform/webhooks');
  expect(listed.body.webhooks.map(({ id }: { id: number }) => id)).toEqual([hook.id]);
  const deleted = await world.subject.send(next.access_token, `DELETE /oauth-platform/webhooks/${hook.id}`);
  expect(deleted).toMatchObject({ status: 200, body: { status: 'ok' } });
});
