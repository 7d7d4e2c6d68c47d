import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';

let server: Server;
beforeAll(async () => {
  server = await serve(
    createSandbox({ seed: 'empty', rateLimit: 'off', now: () => new Date('2026-11-20T09:00:00Z') }),
    0,
  );
});
afterAll(() => server.close());

type Options = { method?: string; headers?: Record<string, string>; body?: string | Uint8Array; agent?: Agent };
type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

function send(path: string, { method = 'GET', headers = {}, body, agent }: Options = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        method,
        agent,
        headers: { authorization: 'Bearer key_acme', ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        });
        response.on('error', reject);
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });
}

const json = { 'content-type': 'application/json' };
const ticket = (subject: string) => JSON.stringify({ subject });

/** Raw bytes in, everything that comes back until the other side is quiet or closes. */
async function raw(bytes: string, until: (received: string) => boolean): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('latin1');
  socket.write(bytes);
  try {
    for await (const chunk of socket) {
      received += chunk;
      if (until(received)) break;
    }
  } catch {
    // A connection that the server cuts is an answer too.
  }
  socket.destroy();
  return received;
}

const isAlive = async () => (await send('/platform/account')).status === 200;

test('a hundred requests go over one connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  agent.on('free', (socket) => ports.add(socket.localPort));
  for (let i = 0; i < 100; i++) expect((await send('/platform/account', { agent })).status).toBe(200);
  expect(ports.size).toBe(1);
  agent.destroy();
});

test('requests that are pipelined are answered in order', async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer key_acme\r\n\r\n`;
  const answers = await raw(
    get('/contacts') + get('/contacts/1') + get('/platform/account') + get('/nowhere'),
    (received) => received.split('HTTP/1.1 ').length === 5 && received.endsWith('}'),
  );
  expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status)).toEqual(['200', '404', '200', '404']);
});

test('a hundred tickets created at once are a hundred tickets', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      send('/tickets', { method: 'POST', headers: json, body: ticket(`t${n}`), agent }),
    ),
  );
  const tickets = answers.map(({ text }) => JSON.parse(text).ticket);
  expect(new Set(tickets.map(({ id }) => id)).size).toBe(100);
  expect(new Set(tickets.map(({ ticket_number }) => ticket_number)).size).toBe(100);
  agent.destroy();
});

test('every content type of JSON is read, with a charset or without', async () => {
  for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']) {
    const answer = await send('/tickets', { method: 'POST', headers: { 'content-type': type }, body: ticket('é😀') });
    expect([answer.status, JSON.parse(answer.text).ticket.subject], type).toEqual([201, 'é😀']);
  }
});

test('a body of another content type is refused', async () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data',
    'json',
    '',
  ];
  for (const type of types) {
    const answer = await send('/tickets', { method: 'POST', headers: { 'content-type': type }, body: ticket('x') });
    expect([415, 422], type).toContain(answer.status);
    expect(JSON.parse(answer.text)).toBeTypeOf('object');
  }
});

test('a byte order mark before the JSON does no harm', async () => {
  const answer = await send('/tickets', { method: 'POST', headers: json, body: `\ufeff${ticket('x')}` });
  expect(answer.status).toBe(201);
});

test('a compressed body is read or refused, never taken for text', async () => {
  const body = gzipSync(ticket('zipped'));
  const answer = await send('/tickets', { method: 'POST', headers: { ...json, 'content-encoding': 'gzip' }, body });
  if (answer.status === 201) expect(JSON.parse(answer.text).ticket.subject).toBe('zipped');
  else expect([415, 422]).toContain(answer.status);
});

test('bytes that are no UTF-8 are refused or replaced, never a crash', async () => {
  const body = Buffer.from([...Buffer.from('{"subject":"'), 0xff, 0xfe, 0xc3, ...Buffer.from('"}')]);
  const answer = await send('/tickets', { method: 'POST', headers: json, body });
  expect([201, 422]).toContain(answer.status);
});

test('a body without a length comes in chunks and is read whole', async () => {
  const answer = await send('/tickets', {
    method: 'POST',
    headers: { ...json, 'transfer-encoding': 'chunked' },
    body: ticket('chunked'),
  });
  expect(answer.status).toBe(201);
});

test('a client that waits for "100 Continue" gets it', async () => {
  const body = ticket('patient');
  const answer = await raw(
    `POST /tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer key_acme\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    (received) => received.includes('HTTP/1.1 201'),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue[\s\S]*HTTP\/1\.1 201/u);
});

test('a body of twelve million bytes is refused with an answer', { tags: ['long'] }, async () => {
  const body = ticket('x'.repeat(12_000_000));
  const answer = await send('/tickets', { method: 'POST', headers: json, body });
  expect([413, 422]).toContain(answer.status);
  expect(JSON.parse(answer.text)).toBeTypeOf('object');
  expect(await isAlive()).toBe(true);
});

test('a client that goes away in the middle of its body leaves nothing behind', async () => {
  const before = JSON.parse((await send('/tickets')).text).meta.total;
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    'POST /tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer key_acme\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"subject":"half',
  );
  socket.destroy();
  expect(await isAlive()).toBe(true);
  expect(JSON.parse((await send('/tickets')).text).meta.total).toBe(before);
});

test('what is no HTTP is cut off, and the others go on', async () => {
  for (const bytes of [
    'GARBAGE\r\n\r\n',
    '\u0000\u0001\u0002\u0003',
    'GET\r\n\r\n',
    'GET /contacts HTTP/9.9\r\n\r\n',
    '\r\n\r\n\r\n{}',
  ]) {
    const answer = await raw(`${bytes}\r\n\r\n`, () => true);
    expect(answer === '' || /^HTTP\/1\.1 (4\d\d|505)/u.test(answer), JSON.stringify(answer)).toBe(true);
  }
  expect(await isAlive()).toBe(true);
});

test('a header of 64 KB, or a path of 64 KB, is refused', async () => {
  const long = 'x'.repeat(65_536);
  for (const bytes of [
    `GET /${long} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${long}\r\n\r\n`,
  ]) {
    expect(await raw(bytes, () => true)).toMatch(/^HTTP\/1\.1 4\d\d/u);
  }
  expect(await isAlive()).toBe(true);
});

test('a request line with a whole URL is understood', async () => {
  const answer = await raw(
    `GET http://127.0.0.1:${server.port}/platform/account HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer key_acme\r\n\r\n`,
    (received) => received.endsWith('}'),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200/u);
});

test('HEAD answers as GET does, without the body', async () => {
  const [head, get] = await Promise.all([send('/contacts', { method: 'HEAD' }), send('/contacts')]);
  expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', get.headers['content-type']]);
  expect((await send('/contacts/999', { method: 'HEAD' })).status).toBe(404);
});

test('a method that a path does not have is refused, with what it has', async () => {
  for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PROPFIND', 'TRACE', 'QUERY']) {
    const answer = await send('/contacts', { method });
    expect([404, 405], method).toContain(answer.status);
    expect(answer.headers['x-ratelimit-limit'], method).toBeDefined();
    if (answer.status === 405) expect(answer.headers.allow).toBe('GET');
    expect(JSON.parse(answer.text)).toEqual({ error: expect.stringMatching(/\S/u) });
  }
});

test('odd paths are refused as paths, never as failures', async () => {
  const odd = [
    '/contacts/',
    '//contacts',
    '/contacts//1',
    '/./contacts',
    '/contacts/../tickets',
    '/contacts/%',
    '/contacts/%zz',
    '/contacts/%00',
    '/contacts/1%2f2',
    '/%63ontacts',
    '/contacts/1;x=1',
    '/contacts?page=1?page=2',
    '/contacts?%',
    '/contacts?page',
    '/contacts?=1',
    '/contacts?page[]=1',
    '/contacts?__proto__=1&constructor=2',
    '/constructor',
    '/__proto__/meetings',
    '/contacts#x',
    '*',
  ];
  for (const path of odd) {
    const { status, text } = await send(path);
    expect([200, 400, 404, 405, 422], `${path} ${status}`).toContain(status);
    if (text) expect(JSON.parse(text), path).toBeTypeOf('object');
  }
});

test('the last of several query values counts, and an empty one counts as none', async () => {
  const meta = async (query: string) => JSON.parse((await send(`/contacts?${query}`)).text).meta;
  expect((await meta('page=1&page=3')).current_page).toBe(3);
  expect((await meta('page=')).current_page).toBe(1);
});

test('the Authorization scheme may be written in any case', async () => {
  for (const authorization of ['bearer key_acme', 'BEARER key_acme', 'Bearer   key_acme']) {
    expect((await send('/platform/account', { headers: { authorization } })).status, authorization).toBe(200);
  }
  for (const authorization of ['Bearer key_acme key_acme', 'Bearer key_acme,', 'Bearer "key_acme"', 'Token key_acme']) {
    expect((await send('/platform/account', { headers: { authorization } })).status, authorization).toBe(401);
  }
});

test('control calls are refused with a foreign Host or Origin, and change nothing', async () => {
  const reset = (headers: Record<string, string>) => send('/_sandbox/reset', { method: 'POST', headers, body: '{}' });
  const before = JSON.parse((await send('/tickets')).text).meta.total;
  const hosts = ['evil.example.com', '127.0.0.1.evil.example.com', 'localhost.evil.example.com', '10.0.0.1', '0.0.0.0'];
  for (const host of hosts) expect([400, 403], host).toContain((await reset({ host })).status);
  const origins = [
    'https://evil.example.com',
    'null',
    `http://127.0.0.1:${server.port + 1}`,
    'http://localhost',
    'file://',
  ];
  for (const origin of origins) expect((await reset({ origin })).status, origin).toBe(403);
  expect(JSON.parse((await send('/tickets')).text).meta.total).toBe(before);
  for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`, `[::1]:${server.port}`]) {
    expect((await send('/_sandbox/state', { headers: { host } })).status, host).toBe(200);
  }
});

test('it listens on the loopback address alone', async () => {
  const { networkInterfaces } = await import('node:os');
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address && !address.internal && address.family === 'IPv4');
  for (const other of others) {
    const socket = connect({ host: other?.address, port: server.port, timeout: 1000 });
    const [error] = await Promise.race([once(socket, 'error'), once(socket, 'connect'), once(socket, 'timeout')]);
    expect(error?.code).toBe('ECONNREFUSED');
    socket.destroy();
  }
});
