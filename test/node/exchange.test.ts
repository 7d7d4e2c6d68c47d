import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { createWorld, svc } from '../svc.ts';

const open: { close(): unknown; closeAllConnections?(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveRaw(listener: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = async (url: string, env: Record<string, string> = {}, timeoutMs = 20_000) =>
  (await createExchange(env))({ method: 'GET', url, headers: {}, timeoutMs });

const json = (response: ServerResponse, body: unknown) => response.end(JSON.stringify(body));

describe('answers', () => {
  test('gzip is asked for and decoded', async () => {
    let accepted: string | undefined;
    const url = await serve((request, response) => {
      accepted = request.headers['accept-encoding'];
      response.setHeader('content-encoding', 'gzip').end(gzipSync('{"name":"Zoë"}'));
    });
    expect(await ask(url)).toMatchObject({ status: 200, body: '{"name":"Zoë"}' });
    expect(accepted).toContain('gzip');
  });

  test('a gzip body that was cut is a lost answer', async () => {
    const url = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(5000)).subarray(0, 20));
    });
    expect(await ask(url)).toMatchObject({ lost: 'after-sending', reason: 'truncated' });
  });

  test('a body that is not of the encoding that it names cannot be read, and was not cut off', async () => {
    for (const encoding of ['gzip', 'deflate']) {
      const url = await serve((_, response) => response.setHeader('content-encoding', encoding).end('plain'));
      expect(await ask(url)).toMatchObject({ lost: 'after-sending', reason: 'unreadable' });
    }
  });

  test('a body shorter than its content-length is a lost answer', async () => {
    const url = await serveRaw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'));
    });
    expect(await ask(url)).toMatchObject({ lost: 'after-sending' });
  });

  test('a 204 is whole with its head, also where the server sends a body behind it', async () => {
    const url = await serveRaw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello'));
    });
    expect(await ask(url)).toMatchObject({ status: 204, body: '' });
  });

  test('a connection that closes without a word is a lost answer', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.destroy()));
    expect(await ask(url)).toMatchObject({ lost: 'after-sending', reason: 'reset' });
  });

  test('what is no HTTP is a lost answer, not a crash', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.end('220 smtp.example.com ESMTP\r\n')));
    expect(await ask(url)).toMatchObject({ lost: 'after-sending' });
  });

  test('an answer that never ends is cut off by the time-out', async () => {
    const url = await serve((_, response) => void response.write('{'));
    expect(await ask(url, {}, 3_000)).toMatchObject({ lost: 'after-sending', reason: 'timeout' });
  });
});

describe('what never left', () => {
  test('a port that nobody listens on', async () => {
    expect(await ask('http://127.0.0.1:1/')).toMatchObject({ lost: 'before-sending', reason: 'refused' });
  });

  test('a name that does not exist', async () => {
    const lost = await ask('http://no-such-host.invalid/');
    expect(lost).toMatchObject({ lost: 'before-sending', reason: 'dns' });
  });

  test('TLS spoken to a plain port', async () => {
    const url = await serve((_, response) => void response.end());
    const lost = await ask(url.replace('http:', 'https:'));
    expect(lost).toMatchObject({ lost: 'before-sending', reason: 'tls' });
    expect(lost).toMatchObject({ detail: expect.stringContaining('speaks plain http://.') });
  });
});

test('connections are kept alive from one request to the next', async () => {
  const sockets = new Set<Socket>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    json(response, {});
  });
  const exchange = await createExchange({});
  for (let i = 0; i < 10; i++) await exchange({ method: 'GET', url, headers: {}, timeoutMs: 20_000 });
  // The first is given back a moment after its answer is whole, so a second one may be opened, and no more.
  expect(sockets.size).toBeLessThanOrEqual(2);
});

test('a handshake that never ends is a time-out before sending, so that a write may be repeated', async () => {
  const url = await serveRaw((socket) => socket.resume());
  const lost = await ask(url.replace('http:', 'https:'), {}, 200);
  expect(lost).toMatchObject({ lost: 'before-sending', reason: 'timeout' });
});

describe('redirects', () => {
  const run = async (url: string, argv: string[]) =>
    svc(createWorld(await createExchange({})), argv, { env: { SVC_BASE_URL: url } });

  test('a read follows one within the origin', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/contacts/7') response.writeHead(307, { location: '/moved/7' }).end();
      else json(response, { contact: { contact_id: 7 } });
    });
    expect((await run(url, ['contacts', 'get', '7', '--json'])).exitCode).toBe(0);
  });

  test('no credential follows one to another origin', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = await serve((request, response) => {
      seen.push(request.headers.authorization);
      json(response, { contact: {} });
    });
    const url = await serve(
      (_, response) => void response.writeHead(302, { location: `${elsewhere}/contacts/7` }).end(),
    );
    const ran = await run(url, ['contacts', 'get', '7']);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('redirects');
    expect(seen).toEqual([]);
  });

  test('a write follows none', async () => {
    let hits = 0;
    const url = await serve((_, response) => {
      hits++;
      response.writeHead(308, { location: '/elsewhere' }).end();
    });
    const ran = await run(url, ['tickets', 'note', '7', '--body', 'x']);
    // It may have been acted on all the same; the target is named with the base URL to use.
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('redirects to /elsewhere');
    expect(hits).toBe(1);
  });

  test('a circle of redirects ends', async () => {
    const url = await serve((_, response) => void response.writeHead(302, { location: '/contacts/7' }).end());
    expect((await run(url, ['contacts', 'get', '7'])).exitCode).toBe(1);
  });
});

test('a base URL keeps its path prefix', async () => {
  const paths: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    paths.push(request.url);
    json(response, { contact: { contact_id: 7 } });
  });
  const world = createWorld(await createExchange({}));
  await svc(world, ['contacts', 'get', '7', '--json'], { env: { SVC_BASE_URL: `${url}/api/v2/` } });
  expect(paths).toEqual(['/api/v2/contacts/7']);
});

test('--debug shows each exchange and no secret', async () => {
  const url = await serve((_, response) => {
    response.setHeader('x-internal-token', 'canary-header');
    json(response, { contact: { contact_id: 7, name: 'Ada', api_secret: 'canary-body' } });
  });
  const world = createWorld(await createExchange({}));
  const ran = await svc(world, ['contacts', 'get', '7', '--debug', '--json'], {
    env: { SVC_BASE_URL: url, SVC_API_KEY: 'canary-key' },
  });
  expect(ran.stderr).toContain('GET');
  expect(ran.stderr).toContain('"name":"Ada"');
  expect(ran.stderr).not.toMatch(/canary/u);
  expect(JSON.parse(ran.stdout)).toMatchObject({ api_secret: 'canary-body' });
  const quiet = await svc(world, ['contacts', 'get', '7', '--debug', '--quiet'], {
    env: { SVC_BASE_URL: url, SVC_API_KEY: 'canary-key' },
  });
  expect(quiet.stderr).toContain('"name":"Ada"');
});

test('a byte order mark before the answer is no part of it', async () => {
  const contact = { contact_id: 7, name: 'Ada' };
  const url = await serve((_, response) => response.end(`\uFEFF${JSON.stringify({ contact })}`));
  const world = createWorld(await createExchange({}));
  const ran = await svc(world, ['contacts', 'get', '7', '--json'], { env: { SVC_BASE_URL: url, SVC_API_KEY: 'key' } });
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject(contact);
});
