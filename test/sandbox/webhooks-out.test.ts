import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { scopes } from '../../src/api/operation.ts';
import { webhookEvents } from '../../src/api/webhooks.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';
import { openStateFile } from '../../src/sandbox/store/state-file.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Received = {
  event: string;
  signature: string;
  body: string;
  envelope: { id: string; event: string; data: object };
};

async function receiver(answer: (nth: number) => number | 'hang-up' = () => 204) {
  const received: Received[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const header = (name: string) => String(incoming.headers[name]);
    received.push({
      event: header('x-svc-event'),
      signature: header('x-svc-signature'),
      body,
      envelope: JSON.parse(body) as Received['envelope'],
    });
    const status = answer(received.length);
    if (status === 'hang-up') incoming.socket.destroy();
    else outgoing.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

async function sandbox(options: SandboxOptions = {}) {
  const started = new Date('2026-11-20T09:00:00Z');
  const app = createSandbox({ seed: 'demo', now: () => started, allowHttpTargets: true, rateLimit: 'off', ...options });
  cleanUps.push(() => app.close());
  const send = async (token: string, request: string, body?: unknown) => {
    const [method = '', url = ''] = request.split(' ');
    const answer = await app.handle({
      method,
      url,
      headers: { authorization: `Bearer ${token}`, host: '127.0.0.1', 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: answer.status, body: JSON.parse(answer.body) as any };
  };
  const control = async (request: string, body?: unknown) => {
    const answer = await send('', request.replace(' ', ' /_sandbox/'), body);
    expect(answer.status, `${request}: ${JSON.stringify(answer.body)}`).toBe(200);
    return answer.body;
  };
  const connect = async (account_id = 1): Promise<string> =>
    (await control('POST tokens', { account_id, scopes: [...scopes] })).access_token;
  const subscribe = async (token: string, event_type: string, target_url: string) => {
    const { status, body } = await send(token, 'POST /oauth-platform/webhooks', { event_type, target_url });
    expect(status).toBe(201);
    return body as { id: number; signing_secret: string };
  };
  return { send, control, connect, subscribe, deliveries: async () => (await control('GET state')).deliveries };
}

// What emits each event (Outbound webhooks), and the main field of what arrives.
const causes: [event: string, request: string, body: object, fields: string][] = [
  [
    'contact.created',
    'POST /contacts/create',
    { name: 'Ada', last_name: 'Sample', email: 'ada@example.com', phone: '+12025550100' },
    'contact_id,email,lead_status,name,phone',
  ],
  [
    'contact.created',
    'POST /platform/contacts/sync',
    { contacts: [{ email: 'grace@example.com', name: 'Grace' }] },
    'contact_id,email,lead_status,name,phone',
  ],
  [
    'ticket.created',
    'POST /tickets',
    { subject: 'Help' },
    'account_id,contact_id,created_at,priority,source,status,subject,ticket_id,ticket_number',
  ],
  [
    'changelog.published',
    'POST /changelog',
    { title: 'New things', content: 'Text', status: 'published' },
    'account_id,entry_id,published_at,slug,title,version',
  ],
  [
    'call.completed',
    'POST /_sandbox/act',
    { kind: 'call_completed', account_id: 1, contact_id: 1 },
    'contact_id,duration,ended_reason,from,phone_call_id,to',
  ],
  [
    'feedback.created',
    'POST /_sandbox/act',
    { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' },
    'account_id,category_id,created_at,post_id,status,title',
  ],
  [
    'conversation.message_received',
    'POST /_sandbox/act',
    { kind: 'customer_message', account_id: 1, conversation_id: 1, body: 'Hello' },
    'account_id,body,channel,contact_id,conversation_id,created_at,message_id,sender_type',
  ],
];

test.each(causes)('%s after %s reaches its subscriber, signed, and no other', async (event, request, body, fields) => {
  const { url, received } = await receiver();
  const service = await sandbox();
  const token = await service.connect();
  const secrets = new Map<string, string>();
  for (const each of webhookEvents) secrets.set(each, (await service.subscribe(token, each, url)).signing_secret);
  const stranger = await service.connect(2);
  for (const each of webhookEvents) await service.subscribe(stranger, each, `${url}stranger`);

  const answer = await service.send(token, request, body);
  expect(answer.status).toBeLessThan(300);
  await expect.poll(() => received.length).toBe(1);
  await service.control('POST clock', { advance_seconds: 120 });
  expect(received).toHaveLength(1);
  const [delivery] = received as [Received];
  expect([delivery.event, delivery.envelope.event]).toEqual([event, event]);
  expect(Object.keys(delivery.envelope.data).sort().join()).toBe(fields);
  const secret = secrets.get(event) as string;
  expect(delivery.signature).toBe(createHmac('sha256', secret).update(delivery.body).digest('hex'));
});

test('the AI, the team and internal notes cause no message_received', async () => {
  const { url, received } = await receiver();
  const service = await sandbox();
  const token = await service.connect();
  await service.subscribe(token, 'conversation.message_received', url);
  await service.control('POST act', { kind: 'ai_message', account_id: 1, conversation_id: 1, body: 'AI' });
  await service.control('POST act', { kind: 'internal_note', account_id: 1, conversation_id: 1, body: 'Note' });
  await service.send(token, 'POST /conversations/1/messages', { body: 'Team' });
  await service.control('POST act', { kind: 'customer_message', account_id: 1, conversation_id: 1, body: 'Customer' });
  await expect.poll(() => received.length).toBe(1);
  expect(received[0]?.envelope.data).toMatchObject({ body: 'Customer', sender_type: 'visitor' });
  expect(await service.deliveries()).toHaveLength(1);
});

test('POST clock brings the retries of a receiver that was away, and GET state tells of each attempt', async () => {
  const { url, received } = await receiver((nth) => (nth < 3 ? 'hang-up' : 200));
  const service = await sandbox();
  await service.subscribe(await service.connect(), 'feedback.created', url);
  await service.control('POST act', { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' });
  await expect.poll(() => received.length).toBe(1);
  await service.control('POST clock', { advance_seconds: 10 });
  expect(received).toHaveLength(2);
  await service.control('POST clock', { advance_seconds: 60 });
  expect(received).toHaveLength(3);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(await service.deliveries()).toMatchObject([
    {
      event: 'feedback.created',
      envelope_id: received[0]?.envelope.id,
      target_url: url,
      status: 'delivered',
      attempts: [
        { at: '2026-11-20T09:00:00.000Z', outcome: 'reset', status: null },
        { at: '2026-11-20T09:00:10.000Z', outcome: 'reset', status: null },
        { at: '2026-11-20T09:01:10.000Z', outcome: 'answered', status: 200 },
      ],
      next_attempt_at: null,
    },
  ]);
});

test('emit sends anything to whoever subscribes, doubled or badly signed when asked', async () => {
  const { url, received } = await receiver();
  const service = await sandbox();
  const { signing_secret } = await service.subscribe(await service.connect(), 'ticket.created', url);
  await service.control('POST emit', { event: 'ticket.created', data: { ticket_id: 1 }, duplicate: 2 });
  await expect.poll(() => received.length).toBe(3);
  expect(new Set(received.map(({ envelope }) => envelope.id)).size).toBe(1);
  await service.control('POST emit', { event: 'ticket.created', data: {}, account_id: 2 });
  await service.control('POST emit', { event: 'ticket.created', data: {}, account_id: 1, bad_signature: true });
  await expect.poll(() => received.length).toBe(4);
  const { body, signature } = received[3] as Received;
  expect(signature).toMatch(/^[0-9a-f]{64}$/u);
  expect(signature).not.toBe(createHmac('sha256', signing_secret).update(body).digest('hex'));
});

test('subscriptions belong to the connection that made them, and end when the customer disconnects the app', async () => {
  const { url, received } = await receiver(() => 'hang-up');
  const service = await sandbox();
  const [mine, another] = [await service.connect(), await service.connect()];
  const { id } = await service.subscribe(mine, 'feedback.created', url);
  expect((await service.send(another, 'GET /oauth-platform/webhooks')).body).toEqual({ webhooks: [] });
  expect((await service.send(another, `DELETE /oauth-platform/webhooks/${id}`)).status).toBe(404);

  const post = { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' };
  await service.control('POST act', post);
  await expect.poll(() => received.length).toBe(1);
  await service.control('POST disconnect', { account_id: 1, client_id: 'sandbox_cli' });
  await service.control('POST act', post);
  await service.control('POST clock', { advance_seconds: 3600 });
  expect(received).toHaveLength(1);
  expect(await service.deliveries()).toMatchObject([{ status: 'cancelled', attempts: [{ outcome: 'reset' }] }]);
  expect((await service.send(mine, 'GET /oauth-platform/webhooks')).status).toBe(401);
});

test('a deleted subscription gets nothing more', async () => {
  const { url, received } = await receiver();
  const service = await sandbox();
  const token = await service.connect();
  const { id } = await service.subscribe(token, 'feedback.created', url);
  expect((await service.send(token, `DELETE /oauth-platform/webhooks/${id}`)).status).toBe(200);
  await service.control('POST act', { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' });
  await service.control('POST clock', { advance_seconds: 60 });
  expect([received, await service.deliveries()]).toEqual([[], []]);
});

test('after a reset nothing of the former state is sent', async () => {
  const { url, received } = await receiver(() => 'hang-up');
  const service = await sandbox();
  await service.subscribe(await service.connect(), 'feedback.created', url);
  await service.control('POST act', { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' });
  await expect.poll(() => received.length).toBe(1);
  await service.control('POST reset');
  await service.control('POST clock', { advance_seconds: 3600 });
  expect([received.length, await service.deliveries()]).toEqual([1, []]);
});

test('a retry that was waiting when the sandbox was killed comes from the next one, as do tokens and subscriptions', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-out-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const { url, received } = await receiver((nth) => (nth === 1 ? 'hang-up' : 200));
  const [before, after] = [join(folder, 'before'), join(folder, 'after')];
  const first = await openStateFile(before);
  cleanUps.push(() => first.close());
  const service = await sandbox({ stateFile: first });
  const token = await service.connect();
  await service.subscribe(token, 'feedback.created', url);
  await service.control('POST act', { kind: 'feedback_posted', account_id: 1, title: 'Idea', content: 'Text' });
  await expect.poll(async () => (await service.deliveries())[0].attempts.length).toBe(1);
  // What stands on the disk at this moment is all that a killed process leaves.
  await copyFile(before, after);

  const second = await openStateFile(after);
  cleanUps.push(() => second.close());
  const next = await sandbox({ stateFile: second });
  expect((await next.send(token, 'GET /oauth-platform/webhooks')).body.webhooks).toHaveLength(1);
  await next.control('POST clock', { advance_seconds: 10 });
  expect(received.map(({ body }) => body)).toEqual([received[0]?.body, received[0]?.body]);
  expect((await next.deliveries())[0]).toMatchObject({ status: 'delivered', attempts: [{}, { status: 200 }] });
});
