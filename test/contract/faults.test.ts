import { Agent, request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { bodies } from './document.ts';

// `POST faults` and `DELETE faults`, as a client meets them on a socket.

let server: Server | undefined;
const agent = new Agent({ keepAlive: true });
afterEach(async () => {
  await server?.close();
  server = undefined;
});

type Ended = { status: number; text: string; headers: Record<string, unknown> } | { cut: string; text: string };

async function open() {
  server = await serve(createSandbox({ seed: 'empty', rateLimit: 'off' }), 0);
  const { port } = server;
  const send = (method: string, path: string, body?: unknown): Promise<Ended> =>
    new Promise((resolve) => {
      let text = '';
      const headers = { authorization: 'Bearer key_acme', 'content-type': 'application/json' };
      const sending = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
        response.on('error', ({ message }) => resolve({ cut: message, text }));
      });
      sending.on('error', ({ message }) => resolve({ cut: message, text }));
      sending.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const total = async () => JSON.parse(((await send('GET', '/contacts')) as { text: string }).text).meta.total;
  return { send, total, faults: (...faults: object[]) => send('POST', '/_sandbox/faults', faults) };
}

const create = ['POST', '/contacts/create', bodies.createContacts] as const;

test('status answers that status, once', async () => {
  const { send, faults, total } = await open();
  await faults({ action: 'status', status: 503 });
  const answer = await send(...create);
  expect(answer).toMatchObject({ status: 503, headers: { 'x-ratelimit-limit': '60' } });
  expect(await total()).toBe(0);
});

test('rate-limit answers 429 with the seconds to wait', async () => {
  const { send, faults } = await open();
  await faults({ action: 'rate-limit', retry_after: 7 });
  expect(await send('GET', '/contacts')).toMatchObject({
    status: 429,
    headers: { 'retry-after': '7', 'x-ratelimit-remaining': '0' },
  });
  expect(await send('GET', '/contacts')).toMatchObject({ status: 200 });
});

test('drop-before cuts the connection and nothing was done', async () => {
  const { send, faults, total } = await open();
  await faults({ action: 'drop-before', method: 'POST' });
  expect(await send(...create)).toMatchObject({ cut: expect.stringMatching(/./u) });
  expect(await total()).toBe(0);
});

test('drop-after cuts the connection when it was done', async () => {
  const { send, faults, total } = await open();
  await faults({ action: 'drop-after', method: 'POST' });
  expect(await send(...create)).toMatchObject({ cut: expect.stringMatching(/./u), text: '' });
  expect(await total()).toBe(1);
});

test('truncate sends a part of the answer', async () => {
  const { send, faults, total } = await open();
  await faults({ action: 'truncate', method: 'POST' });
  const answer = await send(...create);
  expect(answer).toMatchObject({ cut: expect.stringMatching(/./u), text: expect.stringMatching(/^\{/u) });
  expect(await total()).toBe(1);
});

test('malformed is no JSON, html is a page', async () => {
  const { send, faults } = await open();
  await faults({ action: 'malformed' }, { action: 'html', nth: 2 });
  const [malformed, html] = [await send('GET', '/contacts'), await send('GET', '/contacts')];
  expect(() => JSON.parse(malformed.text)).toThrow();
  expect(html).toMatchObject({
    text: expect.stringMatching(/<html/iu),
    headers: { 'content-type': expect.stringMatching(/^text\/html/u) },
  });
});

test('delay waits, then answers', async () => {
  const { send, faults } = await open();
  await faults({ action: 'delay', ms: 120 });
  const began = performance.now();
  expect(await send('GET', '/contacts')).toMatchObject({ status: 200 });
  expect(performance.now() - began).toBeGreaterThanOrEqual(115);
});

test('nth and times count the requests that match method and path', async () => {
  const { send, faults } = await open();
  await faults({ action: 'status', status: 500, method: 'GET', path: '/tickets', nth: 2, times: 2 });
  const statuses = [];
  for (const path of ['/contacts', '/tickets', '/tickets?page=1', '/contacts', '/tickets/5', '/tickets']) {
    statuses.push(((await send('GET', path)) as { status: number }).status);
  }
  expect(statuses).toEqual([200, 200, 500, 200, 500, 200]);
});

test('DELETE takes all of them back, and control calls meet none', async () => {
  const { send, faults } = await open();
  await faults({ action: 'status', status: 500, times: 100 });
  expect(await send('GET', '/_sandbox/state')).toMatchObject({ status: 200 });
  expect(await send('GET', '/contacts')).toMatchObject({ status: 500 });
  expect(await send('DELETE', '/_sandbox/faults')).toMatchObject({ status: 200 });
  expect(await send('GET', '/contacts')).toMatchObject({ status: 200 });
});

test('the OAuth endpoints meet faults too', async () => {
  const { send, faults } = await open();
  await faults({ action: 'status', status: 502, path: '/oauth/platform/token' });
  expect(await send('POST', '/oauth/platform/token')).toMatchObject({ status: 502 });
});

test('a fault that is none is refused and none is set', async () => {
  const { send } = await open();
  for (const fault of [
    { action: 'explode' },
    { action: 'status' },
    { action: 'delay' },
    {},
    { action: 'html', nth: 0 },
  ]) {
    expect(await send('POST', '/_sandbox/faults', [fault]), JSON.stringify(fault)).toMatchObject({ status: 422 });
  }
  expect(await send('GET', '/contacts')).toMatchObject({ status: 200 });
});
