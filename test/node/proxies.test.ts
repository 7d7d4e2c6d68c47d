// What goes through the proxies that the environment names, what never does, and what svc says of a proxy that refuses.
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { createWorld, svc } from '../svc.ts';

const open: { close(): unknown; closeAllConnections?(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function listening(server: ReturnType<typeof createTcpServer>): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const ask = async (url: string, env: Record<string, string>, timeoutMs = 20_000) =>
  (await createExchange(env))({ method: 'GET', url, headers: {}, timeoutMs });

/** A proxy that remembers what it was asked for; tunnels lead to the port, whatever was asked for. */
async function proxyTo(
  port: number,
  answer: RequestListener = (_, response) => void response.end('{"through":"proxy"}'),
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, asked };
}

/** A proxy that refuses every request with the status, plain ones and tunnels alike. */
async function refusing(status: number): Promise<string> {
  const body = '<h1>No</h1>';
  const asks = { 'proxy-authenticate': 'Basic realm="x"' };
  const server = createServer((_, response) => void response.writeHead(status, asks).end(body));
  server.on('connect', (_: IncomingMessage, socket: Socket) =>
    socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
  );
  return `http://127.0.0.1:${await listening(server)}`;
}

test('HTTP_PROXY is used, NO_PROXY goes past it', async () => {
  const proxy = await proxyTo(1);
  await ask('http://service.invalid/contacts', { HTTP_PROXY: proxy.url });
  expect(proxy.asked).toEqual(['GET http://service.invalid/contacts']);
  await ask('http://service.invalid/contacts', { HTTP_PROXY: proxy.url, NO_PROXY: 'service.invalid' });
  expect(proxy.asked).toHaveLength(1);
});

test.each(['http', 'https'])(
  '%s: loopback addresses go through no proxy, whatever the environment names',
  async (scheme) => {
    const proxy = await proxyTo(1);
    const [HTTP_PROXY, https_proxy] = [proxy.url, proxy.url];
    for (const host of ['127.0.0.1', '127.8.9.10', 'localhost', 'LOCALHOST', '[::1]']) {
      await ask(`${scheme}://${host}:1/contacts`, { HTTP_PROXY, https_proxy, ALL_PROXY: proxy.url });
    }
    expect(proxy.asked).toEqual([]);
  },
);

test('https goes through a tunnel, and the credential with it', async () => {
  const target = await listening(createTcpServer((socket) => socket.destroy()));
  const proxy = await proxyTo(target);
  await ask('https://service.invalid/contacts', { HTTPS_PROXY: proxy.url });
  expect(proxy.asked).toEqual(['CONNECT service.invalid:443']);
});

test('a proxy that is not there is an error before sending', async () => {
  const lost = await ask('http://service.invalid/', { HTTP_PROXY: 'http://127.0.0.1:1' });
  expect(lost).toMatchObject({ lost: 'before-sending', reason: 'refused' });
});

test('an address of a proxy without a scheme is that of an HTTP proxy', async () => {
  const proxy = await proxyTo(1);
  await ask('http://service.invalid/contacts', { HTTP_PROXY: proxy.url.replace('http://', '') });
  expect(proxy.asked).toHaveLength(1);
});

const run = async (env: Record<string, string>, base: string, argv: string[]) =>
  svc(createWorld(await createExchange(env)), argv, { env: { SVC_BASE_URL: base, SVC_INSECURE_HTTP: '1', ...env } });

const commands: [what: string, argv: string[]][] = [
  ['a read', ['contacts', 'list']],
  ['an update', ['tickets', 'resolve', '7']],
  ['a creation', ['tickets', 'create', '--subject', 'x', '--description', 'y', '--contact', '7']],
  ['a note', ['tickets', 'note', '7', '--body', 'x']],
];

test.each(
  ['http://service.test', 'https://service.test'].flatMap((base) =>
    commands.map(([what, argv]) => [base, what, argv] as const),
  ),
)(
  '%s: a 407 of the proxy to %s is said as that, of a write also that nothing was changed: exit 10',
  async (base, what, argv) => {
    const proxy = await refusing(407);
    const ran = await run({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy }, base, argv);
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain(`The proxy ${new URL(proxy).host}`);
    expect(ran.stderr).toContain('HTTP 407');
    expect(ran.stderr.includes('Nothing was changed.')).toBe(what !== 'a read');
    expect(ran.stderr).not.toMatch(/Could not reach|UND_ERR/u);
  },
);

test('http://: a 407 without the Proxy-Authenticate of a proxy comes from behind it, which may have passed a write on', async () => {
  const proxy = await proxyTo(1, (_, response) => void response.writeHead(407).end('<h1>No</h1>'));
  const exchange = await createExchange({ HTTP_PROXY: proxy.url });
  const url = 'http://service.test/tickets/7/notes';
  const answer = await exchange({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 20_000 });
  expect(answer).toMatchObject({ status: 407, body: '<h1>No</h1>' });
});

test('a proxy that lets no tunnel through is named with its status', async () => {
  const proxy = await refusing(403);
  const ran = await run({ HTTPS_PROXY: proxy }, 'https://service.test', ['contacts', 'list']);
  expect(ran).toMatchObject({ exitCode: 10 });
  expect(ran.stderr).toContain('does not let svc through (HTTP 403)');
});

test.each(['not a url', 'ftp://proxy.test', 'http://', 'http://u:%zz@proxy.test'])(
  'HTTPS_PROXY=%j is a usage error that names the variable and not its value',
  async (value) => {
    const ran = await run({ HTTPS_PROXY: value }, 'https://service.test', ['contacts', 'list']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('HTTPS_PROXY is not the address of a proxy.');
    expect(ran.stderr).not.toContain('%zz');
  },
);

test('svc doctor says of such a variable what is wrong with it', async () => {
  const ran = await run({ HTTPS_PROXY: 'not a url' }, 'https://service.test', ['doctor', '--json']);
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain('HTTPS_PROXY is not the address of a proxy.');
});
