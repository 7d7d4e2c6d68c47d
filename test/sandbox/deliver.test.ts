import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { build } from 'rolldown';
import { afterEach, expect, test, vi } from 'vitest';
import type { Delivery } from '../../src/sandbox/deliveries/attempts.ts';
import { isAllowedTarget, post } from '../../src/sandbox/deliveries/post.ts';
import { createDeliveries, type DeliveriesOptions, type SendOptions } from '../../src/sandbox/deliveries/schedule.ts';
import { freePort } from '../free-port.ts';
import { real } from '../real-component.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    (server as Partial<{ closeAllConnections(): void }>).closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type Received = { headers: IncomingMessage['headers']; body: Buffer; method: string; path: string };

/** A receiver on a real socket. `answer` gets the number of the request, from 1. */
async function receiver(answer: (nth: number) => number | 'silent' | 'hang-up' = () => 204) {
  const received: Received[] = [];
  const listener: RequestListener = async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { headers, method = '', url: path = '' } = incoming;
    received.push({ headers, method, path, body: Buffer.concat(chunks) });
    const status = answer(received.length);
    if (status === 'hang-up') incoming.socket.destroy();
    else if (status !== 'silent') outgoing.writeHead(status).end('ignored');
  };
  const port = await listen(createServer(listener));
  return { url: `http://127.0.0.1:${port}/hooks?tenant=1`, received };
}

/** Deliveries over a store in memory. The clock moves only when told. */
function sandbox(options: Partial<DeliveriesOptions> = {}, rows = new Map<number, Delivery>()) {
  let time = Date.parse('2026-11-20T12:00:00.000Z');
  let drawn = 0;
  let lastId = Math.max(0, ...rows.keys());
  const deliveries = createDeliveries({
    store: {
      all: () => rows.values(),
      put: (delivery) => rows.set(delivery.id, delivery),
      remove: (id) => rows.delete(id),
      nextId: () => ++lastId,
    },
    now: () => new Date(time),
    random: (bytes) => Buffer.alloc(bytes, ++drawn),
    allowHttpTargets: true,
    isActive: () => true,
    ...options,
  });
  cleanUps.push(() => deliveries.stop());
  return {
    ...deliveries,
    rows,
    send: (target_url: string, { subscription = 1, ...options }: SendOptions & { subscription?: number } = {}) =>
      deliveries.send(
        { id: subscription, account_id: 1, target_url, signing_secret: 'whsec_sample' },
        'contact.created',
        { contact_id: 7, name: 'Zoë' },
        options,
      ),
    /** By the sandbox's clock. */
    pass: (seconds: number) =>
      deliveries.advance(seconds * 1000, (ms) => {
        time += ms;
      }),
    row: (id = 1) => rows.get(id) as Delivery,
    clock: () => new Date(time).toISOString(),
  };
}

const hmac = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('hex');

test('a delivery carries its envelope, its event and a signature over the very bytes', async () => {
  const { url, received } = await receiver();
  const { send, idle, row } = sandbox();
  send(url);
  await idle();
  const [request] = received as [Received];
  expect([request.method, request.path]).toEqual(['POST', '/hooks?tenant=1']);
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'x-svc-event': 'contact.created',
    'x-svc-signature': hmac('whsec_sample', request.body),
    'content-length': String(request.body.length),
  });
  expect(JSON.parse(request.body.toString())).toEqual({
    event: 'contact.created',
    id: 'evt_010101010101010101010101',
    created_at: '2026-11-20T12:00:00.000+00:00',
    data: { contact_id: 7, name: 'Zoë' },
  });
  expect(row()).toMatchObject({
    envelope_id: 'evt_010101010101010101010101',
    event: 'contact.created',
    subscription_id: 1,
    target_url: url,
    body: request.body.toString(),
    status: 'delivered',
    attempts: [{ at: '2026-11-20T12:00:00.000Z', outcome: 'answered', status: 204 }],
    next_attempt_at: null,
  });
});

test('sending returns before anything leaves, so that the API answers first', async () => {
  const { url, received } = await receiver();
  const { send, idle, row } = sandbox();
  send(url);
  expect([received.length, row().status]).toEqual([0, 'pending']);
  await idle();
  expect(received).toHaveLength(1);
});

test.each([200, 201, 204, 299])('%i counts as received', async (status) => {
  const { url } = await receiver(() => status);
  const { send, idle, row } = sandbox();
  send(url);
  await idle();
  expect(row().status).toBe('delivered');
});

test.each([301, 302, 400, 401, 404, 410, 429, 500, 503])('an answer of %i is not sent again', async (status) => {
  const { url, received } = await receiver(() => status);
  const { send, idle, row, pass } = sandbox();
  send(url);
  await idle();
  await pass(3600);
  expect(received).toHaveLength(1);
  expect(row()).toMatchObject({
    status: 'refused',
    attempts: [{ outcome: 'answered', status }],
    next_attempt_at: null,
  });
});

test('a refused connection is tried again after 10 seconds and after a minute more, and then given up', async () => {
  const { send, idle, row, pass } = sandbox();
  send(`http://127.0.0.1:${await freePort()}/`);
  await idle();
  expect(row()).toMatchObject({ status: 'pending', next_attempt_at: '2026-11-20T12:00:10.000Z' });
  await pass(9);
  expect(row().attempts).toHaveLength(1);
  await pass(1);
  expect(row()).toMatchObject({ status: 'pending', next_attempt_at: '2026-11-20T12:01:10.000Z' });
  await pass(59);
  expect(row().attempts).toHaveLength(2);
  await pass(1);
  expect(row()).toMatchObject({ status: 'failed', next_attempt_at: null });
  await pass(86_400);
  expect(row().attempts).toEqual([
    { at: '2026-11-20T12:00:00.000Z', outcome: 'refused', status: null },
    { at: '2026-11-20T12:00:10.000Z', outcome: 'refused', status: null },
    { at: '2026-11-20T12:01:10.000Z', outcome: 'refused', status: null },
  ]);
});

test('a long jump of the clock plays out as the time itself would have', async () => {
  const { send, row, pass, clock } = sandbox();
  send(`http://127.0.0.1:${await freePort()}/`);
  await pass(3600);
  expect(clock()).toBe('2026-11-20T13:00:00.000Z');
  expect(row().attempts.map(({ at }) => at)).toEqual([
    '2026-11-20T12:00:00.000Z',
    '2026-11-20T12:00:10.000Z',
    '2026-11-20T12:01:10.000Z',
  ]);
});

test('a retry is the same delivery: same id, same bytes, same signature', async () => {
  const { url, received } = await receiver((nth) => (nth === 1 ? 'hang-up' : 200));
  const { send, idle, row, pass } = sandbox();
  send(url);
  await idle();
  await pass(10);
  expect(received).toHaveLength(2);
  expect(received[1]?.body).toEqual(received[0]?.body);
  expect(received[1]?.headers['x-svc-signature']).toBe(received[0]?.headers['x-svc-signature']);
  expect(row()).toMatchObject({ status: 'delivered', attempts: [{ outcome: 'reset' }, { outcome: 'answered' }] });
});

test('a receiver that is silent for ten seconds of the sandbox clock has timed out, and is tried again', async () => {
  const { url, received } = await receiver((nth) => (nth === 1 ? 'silent' : 200));
  const { send, row, pass } = sandbox();
  send(url);
  await pass(10);
  expect(row()).toMatchObject({ attempts: [{ outcome: 'timeout' }], next_attempt_at: '2026-11-20T12:00:20.000Z' });
  await pass(10);
  expect(received).toHaveLength(2);
  expect(row().status).toBe('delivered');
});

test('a machine that stands still while a receiver answers makes it no silent one', async () => {
  const { url } = await receiver(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    return 200;
  });
  const { send, row, pass } = sandbox();
  send(url);
  await pass(10);
  expect(row()).toMatchObject({ status: 'delivered', attempts: [{ outcome: 'answered' }] });
});

test('a time-out ends an attempt also when no clock is moved', async () => {
  const { url } = await receiver(() => 'silent');
  const { signal } = new AbortController();
  const began = performance.now();
  const outcome = await post({ target: url, headers: {}, body: Buffer.from('{}'), timeoutMs: 50, signal });
  expect(outcome).toEqual({ outcome: 'timeout' });
  expect(performance.now() - began).toBeGreaterThan(45);
});

test('retries come by themselves as real time passes', async () => {
  const { url, received } = await receiver((nth) => (nth === 1 ? 'hang-up' : 200));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanUps.push(() => vi.useRealTimers());
  let time = 0;
  const { send, idle } = sandbox({ now: () => new Date(time) });
  send(url);
  await idle();
  const realTime = async (ms: number) => {
    time += ms;
    vi.advanceTimersByTime(ms);
    await idle();
  };
  await realTime(9_999);
  expect(received).toHaveLength(1);
  await realTime(1);
  expect(received).toHaveLength(2);
});

test('a host that does not exist and one that answers with no HTTP are connection failures', async () => {
  const port = await listen(createTcpServer((socket) => socket.end('SSH-2.0-sample\r\n')));
  const { send, idle, row } = sandbox();
  send('https://no-such-host.invalid/');
  send(`http://127.0.0.1:${port}/`);
  await idle();
  expect(row(1)).toMatchObject({ status: 'pending', attempts: [{ outcome: 'dns', status: null }] });
  expect(row(2)).toMatchObject({ status: 'pending', attempts: [{ outcome: 'reset', status: null }] });
});

test('an answer counts by its status, even when its body never ends', async () => {
  const port = await listen(
    createServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(200, { 'content-length': 1_000_000 }).write('never the rest');
    }),
  );
  const { send, row, pass } = sandbox();
  send(`http://127.0.0.1:${port}/`);
  await pass(10);
  expect(row()).toMatchObject({ status: 'delivered', attempts: [{ outcome: 'answered', status: 200 }] });
});

real('openssl')(
  'an https target is verified: an unknown certificate is a connection failure',
  { tags: ['long'] },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
    cleanUps.push(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'].concat([
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        key,
        '-out',
        cert,
      ]),
      { stdio: 'ignore' },
    );
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    const port = await listen(createTlsServer(options, (incoming, outgoing) => incoming.resume() && outgoing.end()));
    const { send, idle, row } = sandbox();
    send(`https://localhost:${port}/`);
    await idle();
    expect(row()).toMatchObject({ status: 'pending', attempts: [{ outcome: 'tls', status: null }] });

    // NODE_EXTRA_CA_CERTS is read when a process starts.
    const file = join(folder, 'deliver.mjs');
    await build({
      input: 'src/sandbox/deliveries/post.ts',
      platform: 'node',
      logLevel: 'silent',
      output: { file, format: 'esm' },
    });
    const script = `import { post } from ${JSON.stringify(file)};
    const { signal } = new AbortController();
    const target = 'https://localhost:${port}/';
    console.log(await post({ target, headers: {}, body: Buffer.from('{}'), timeoutMs: 5000, signal }));`;
    const trusting = execa(process.execPath, ['--input-type=module', '-e', script], {
      env: { NODE_EXTRA_CA_CERTS: cert },
    });
    expect((await trusting).stdout).toBe("{ outcome: 'answered', status: 200 }");
  },
);

const targets: [string, boolean, boolean][] = [
  ['https://app.example.com/hooks', false, true],
  ['http://app.example.com/hooks', true, false],
  ['http://127.0.0.1:3000/', false, false],
  ['http://127.0.0.1:3000/', true, true],
  ['http://127.1.2.3/', true, true],
  ['http://localhost:3000/', true, true],
  ['http://[::1]:3000/', true, true],
  ['http://127.0.0.1.example.com/', true, false],
  ['http://localhost.example.com/', true, false],
  ['http://10.0.0.1/', true, false],
  ['ftp://127.0.0.1/', true, false],
  ['file:///etc/hosts', true, false],
  ['nonsense', true, false],
];

test.each(targets)('target %s, http allowed: %s -> %s', (target, allowHttp, allowed) => {
  expect(isAllowedTarget(target, allowHttp)).toBe(allowed);
});

test('an http target is never called where http is not allowed', async () => {
  const { url, received } = await receiver();
  const { send, idle, row, pass } = sandbox({ allowHttpTargets: false });
  send(url);
  await idle();
  await pass(3600);
  expect(received).toHaveLength(0);
  expect(row()).toMatchObject({ status: 'failed', attempts: [{ outcome: 'not_allowed' }] });
});

test('duplicates have the same id and bytes; another event has another id', async () => {
  const { url, received } = await receiver();
  const { send, idle, rows } = sandbox();
  send(url, { duplicate: 2 });
  send(url);
  await idle();
  const ids = received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id).sort();
  expect(ids).toHaveLength(4);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids).size).toBe(2);
  expect([...rows.values()].map(({ status }) => status)).toEqual(Array(4).fill('delivered'));
});

test('a bad signature looks like one and does not verify', async () => {
  const { url, received } = await receiver();
  const { send, idle } = sandbox();
  send(url, { badSignature: true });
  await idle();
  const [request] = received as [Received];
  expect(request.headers['x-svc-signature']).toMatch(/^[0-9a-f]{64}$/u);
  expect(request.headers['x-svc-signature']).not.toBe(hmac('whsec_sample', request.body));
});

test('many deliveries start in the order of their events, a few at a time', async () => {
  const { url, received } = await receiver();
  const { send, idle, rows } = sandbox();
  for (let nth = 0; nth < 100; nth++) send(url);
  await idle();
  expect(received).toHaveLength(100);
  const arrived = received.map(({ body }) => [...rows.values()].find((row) => row.body === body.toString())?.id ?? 0);
  // Eight are under way at once, so none is overtaken by more than that.
  arrived.forEach((id, at) => {
    expect(Math.abs(id - 1 - at)).toBeLessThan(8);
  });
});

test('a silent receiver holds up no other subscription', async () => {
  const silent = await receiver(() => 'silent');
  const quick = await receiver();
  const { send } = sandbox();
  for (let nth = 0; nth < 20; nth++) send(silent.url, { subscription: 1 });
  send(quick.url, { subscription: 2 });
  await expect.poll(() => quick.received.length).toBe(1);
  expect(silent.received.length).toBeLessThanOrEqual(8);
});

test('when its subscription has ended, a waiting delivery is not tried again', async () => {
  let active = true;
  const { send, idle, row, pass } = sandbox({ isActive: () => active });
  send(`http://127.0.0.1:${await freePort()}/`);
  await idle();
  active = false;
  await pass(10);
  expect(row()).toMatchObject({ status: 'cancelled', next_attempt_at: null });
  expect(row().attempts).toHaveLength(1);
});

test('what is under way when the sandbox stops is sent by the next one', async () => {
  const { url, received } = await receiver((nth) => (nth === 1 ? 'silent' : 200));
  const first = sandbox();
  first.send(url);
  await expect.poll(() => received.length).toBe(1);
  await first.stop();
  expect(first.row()).toMatchObject({ status: 'pending', attempts: [] });

  const kept = JSON.parse(JSON.stringify([...first.rows])) as [number, Delivery][];
  const second = sandbox({}, new Map(kept));
  second.resume();
  await second.pass(0);
  expect(received[1]?.body).toEqual(received[0]?.body);
  expect(second.row().status).toBe('delivered');
});
