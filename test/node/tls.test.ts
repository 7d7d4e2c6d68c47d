import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { selfSigned } from '../certificate.ts';
import { real } from '../real-component.ts';
import { createWorld, svc } from '../svc.ts';

const withTls = real('openssl');

const open: { close(): unknown; closeAllConnections?(): void }[] = [];
const sockets = new Set<Socket>();
// The servers' certificates are made here and vouched for by nobody; NODE_EXTRA_CA_CERTS holds for new processes only.
const distrust = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
const trustAll = () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
};
afterEach(() => {
  if (distrust === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = distrust;
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of open.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function portOf(server: Server): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const garbage = Buffer.from('no record of TLS at all, and never one\r\n');

/** A TLS service behind a wire that a test can break once the service has acted on a request. */
async function service(breaks: (wire: Socket, request: number) => boolean) {
  const acted: string[] = [];
  let wire: Socket | undefined;
  const server = createHttpsServer(selfSigned(), async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    acted.push(`${request.method} ${request.url} ${body}`);
    if (wire && breaks(wire, acted.length)) return;
    response.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  const port = await portOf(server);
  const relay = await portOf(
    createServer((socket) => {
      wire = socket;
      const upstream = connect(port, '127.0.0.1');
      for (const one of [socket, upstream]) sockets.add(one.on('error', () => {}));
      socket.pipe(upstream).pipe(socket);
    }),
  );
  return { acted, url: `https://localhost:${relay}/tickets`, base: `https://localhost:${relay}` };
}

const spoil = (wire: Socket): boolean => wire.write(garbage);

const post = (url: string) => ({ method: 'POST', url, headers: {}, body: '{"subject":"x"}', timeoutMs: 20_000 });

/** A proxy that opens tunnels. */
async function tunnels(): Promise<string> {
  const server = createHttpServer();
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [socket, upstream]) sockets.add(one.on('error', () => {}));
  });
  return `http://127.0.0.1:${await portOf(server)}`;
}

withTls('TLS that breaks after the service has acted is a lost answer, and no certificate is blamed', async () => {
  trustAll();
  const { url, acted } = await service(spoil);
  const lost = await (await createExchange({}))(post(url));
  expect(acted).toEqual(['POST /tickets {"subject":"x"}']);
  expect(lost).toMatchObject({ lost: 'after-sending', reason: 'reset' });
  expect(JSON.stringify(lost)).not.toContain('certificate');
});

withTls('the same on a connection that was used before', async () => {
  trustAll();
  const { url, acted } = await service((wire, request) => request === 2 && spoil(wire));
  const exchange = await createExchange({});
  expect(await exchange(post(url))).toMatchObject({ status: 200 });
  expect(await exchange(post(url))).toMatchObject({ lost: 'after-sending', reason: 'reset' });
  expect(acted).toHaveLength(2);
});

withTls('the same through the tunnel of a proxy', async () => {
  trustAll();
  const { url, acted } = await service(spoil);
  const exchange = await createExchange({ HTTPS_PROXY: await tunnels() });
  expect(await exchange(post(url))).toMatchObject({ lost: 'after-sending', reason: 'reset' });
  expect(acted).toHaveLength(1);
});

withTls('a note whose connection breaks under TLS ends with 9, not with "nothing happened"', async () => {
  trustAll();
  const { base, acted } = await service(spoil);
  const world = createWorld(await createExchange({}));
  const ran = await svc(world, ['tickets', 'note', '7', '--body', 'x'], { env: { SVC_BASE_URL: base } });
  expect(acted).toHaveLength(1);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).not.toContain('Nothing was changed');
});

withTls.each([
  ['straight', false],
  ['through a proxy', true],
])('a certificate that is not accepted ends it before anything is sent, %s', async (_, isProxied) => {
  const { url, acted } = await service(() => false);
  const exchange = await createExchange(isProxied ? { HTTPS_PROXY: await tunnels() } : {});
  const lost = await exchange(post(url));
  expect(lost).toMatchObject({ lost: 'before-sending', reason: 'tls' });
  expect(JSON.stringify(lost)).toContain('certificate');
  expect(acted).toEqual([]);
});

withTls.each([
  ['straight', false],
  ['through a proxy', true],
])('a peer that hangs up during the handshake has got nothing, %s', async (_, isProxied) => {
  const port = await portOf(createServer((socket) => socket.once('data', () => socket.destroy())));
  const exchange = await createExchange(isProxied ? { HTTPS_PROXY: await tunnels() } : {});
  expect(await exchange(post(`https://localhost:${port}/`))).toMatchObject({ lost: 'before-sending' });
});

test.each([
  ['straight', false],
  ['through a proxy', true],
])('a handshake that never ends is a time-out before anything is sent, %s', async (_, isProxied) => {
  const port = await portOf(createServer((socket) => void sockets.add(socket.resume())));
  const exchange = await createExchange(isProxied ? { HTTPS_PROXY: await tunnels() } : {});
  const lost = await exchange({ ...post(`https://localhost:${port}/`), timeoutMs: 300 });
  expect(lost).toMatchObject({ lost: 'before-sending', reason: 'timeout' });
});

test('an interrupt before the connection stands has changed nothing', async () => {
  const port = await portOf(createServer((socket) => void sockets.add(socket.resume())));
  const ending = new AbortController();
  const lost = (await createExchange({}))({ ...post(`https://localhost:${port}/`), signal: ending.signal });
  setTimeout(() => ending.abort('SIGINT'), 100);
  expect(await lost).toMatchObject({ lost: 'before-sending', reason: 'aborted' });
});
