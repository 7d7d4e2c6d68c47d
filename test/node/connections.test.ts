// Over which connection a request goes out: reads over a kept one, writes over one that the peer surely keeps.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { createWorld, svc } from '../svc.ts';

// However long this machine takes, a connection is as old as a test says.
beforeEach(() => void vi.useFakeTimers({ toFake: ['hrtime', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const open: { close(): unknown; closeAllConnections(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** What a server got over each connection: each with its method, in the order in which they were opened. */
type Heard = { readonly url: string; readonly connections: string[][] };

async function serving(listener: (...about: [...Parameters<RequestListener>, nth: number]) => void): Promise<Heard> {
  const sockets = new Map<Socket, string[]>();
  const connections: string[][] = [];
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const known = sockets.get(request.socket);
    const heard = known ?? [];
    if (!known) connections.push(heard);
    sockets.set(request.socket, heard);
    listener(request, response, heard.push(request.method ?? ''));
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

const ticket = { id: 8, ticket_number: 'T-8', subject: 'x', status: 'new', contact: { contact_id: 7 } };

/** Answers one request over each connection, says nothing of closing, and takes no second one. */
const closing = () =>
  serving((request, response, nth) => {
    if (nth > 1) return request.socket.resetAndDestroy();
    const body = request.method === 'GET' ? { tickets: [], meta: {} } : { ticket };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });

const past = (url: string) => ({ straight: [{}, url], proxied: [{ HTTP_PROXY: url }, 'http://service.test'] }) as const;

test.each(['straight', 'proxied'] as const)(
  '%s: a write never goes out over the connection of the look before it',
  async (way) => {
    const heard = await closing();
    const [env, base] = past(heard.url)[way];
    const world = createWorld(await createExchange(env));
    const argv = ['tickets', 'create', '--contact', '7', '--subject', 'x', '--description', 'y', '--json'];
    const ran = await svc(world, argv, { env: { SVC_BASE_URL: base, SVC_INSECURE_HTTP: '1' } });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(heard.connections.flat().filter((method) => method === 'POST')).toHaveLength(1);
  },
);

const exchangeWith = async (env: Record<string, string>, url: string) => {
  const exchange = await createExchange(env);
  return (method: string) =>
    exchange({ method, url, headers: {}, timeoutMs: 20_000, ...(method !== 'GET' && { body: '{}' }) });
};

test('through a proxy each write has a connection of its own, and reads share one', async () => {
  const heard = await serving((_, response) => void response.end('{}'));
  const send = await exchangeWith({ HTTP_PROXY: heard.url }, 'http://service.test');
  for (const method of ['GET', 'POST', 'GET', 'DELETE', 'GET'])
    expect(await send(method)).toMatchObject({ status: 200 });
  expect(heard.connections).toEqual([['GET', 'GET', 'GET'], ['POST'], ['DELETE']]);
});

test('a connection that has stayed open after its answer carries the next write, and so does one that has answered twice', async () => {
  const heard = await serving((_, response) => void response.end('{}'));
  const send = await exchangeWith({}, heard.url);
  await send('PATCH');
  vi.advanceTimersByTime(150);
  await send('PATCH');
  await send('PATCH');
  expect(heard.connections).toEqual([['PATCH', 'PATCH', 'PATCH']]);
});

test('a connection that has been silent for a second carries reads and no write', async () => {
  const heard = await serving((_, response) => void response.end('{}'));
  const send = await exchangeWith({}, heard.url);
  for (const method of ['GET', 'GET']) await send(method);
  vi.advanceTimersByTime(1050);
  await send('POST');
  await send('GET');
  expect(heard.connections).toHaveLength(2);
  expect(heard.connections[0]?.slice(0, 2)).toEqual(['GET', 'GET']);
  expect(heard.connections[1]?.[0]).toBe('POST');
});

test('a read whose idle connection was closed is repeated over another', async () => {
  const heard = await serving((request, response, nth) => {
    if (nth > 1) return request.socket.resetAndDestroy();
    response.setHeader('content-type', 'application/json').end('{"contact":{"contact_id":7}}');
  });
  const world = createWorld(await createExchange({}));
  for (let i = 0; i < 3; i++) {
    const ran = await svc(world, ['contacts', 'get', '7', '--json'], { env: { SVC_BASE_URL: heard.url } });
    expect(ran.exitCode).toBe(0);
  }
});

test.each(
  (['straight', 'proxied'] as const).flatMap((way) =>
    ['GET', 'DELETE', 'POST'].map((method) => [way, method] as const),
  ),
)(
  '%s: the body of a %s is told with its length, so that it is never taken for the next request',
  async (way, method) => {
    const heard: (readonly [
      method: string | undefined,
      url: string | undefined,
      length: string | undefined,
      body: string,
    ])[] = [];
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const path = request.url?.replace('http://service.test', '');
      heard.push([request.method, path, request.headers['content-length'], Buffer.concat(pieces).toString('utf8')]);
      response.end('{}');
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const [env, base] = past(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)[way];
    const exchange = await createExchange(env);
    const body = 'POST /hidden HTTP/1.1\r\nhost: é\r\ncontent-length: 0\r\n\r\n';
    const length = `${Buffer.byteLength(body)}`;
    const asked = { method, headers: { 'content-length': '0' }, timeoutMs: 20_000 };
    for (const path of ['/one', '/two']) {
      expect(await exchange({ ...asked, url: `${base}${path}`, body })).toMatchObject({ status: 200 });
    }
    expect(heard).toEqual(['/one', '/two'].map((path) => [method, path, length, body]));
  },
);
