import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { cpuTimer } from '../cpu.ts';
import { createWorld, svc } from '../svc.ts';

const open: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of open.splice(0)) server.close();
});

async function listen(server: Server): Promise<string> {
  open.push(server);
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const answering = (encoding: string, body: Uint8Array) =>
  listen(createServer((_, response) => response.setHeader('content-encoding', encoding).end(body)));

const speaking = (talk: (socket: Socket) => void) =>
  listen(createTcpServer((socket) => socket.once('data', () => talk(socket))));

const ask = async (url: string, timeoutMs = 20_000, env: Record<string, string> = {}) =>
  (await createExchange(env))({ method: 'POST', url, headers: {}, body: '{}', timeoutMs });

const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const text = '{"name":"Zoë"}';

test.each([
  ['gzip', gzipSync(text)],
  ['GZIP', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['br', brotliCompressSync(text)],
  ['deflate', deflateSync(text)],
  ['identity', Buffer.from(text)],
  ['gzip, gzip', gzipSync(gzipSync(text))],
  ['deflate, identity, gzip', gzipSync(deflateSync(text))],
])('%s is decoded', async (encoding, body) => {
  expect(await ask(await answering(encoding, body))).toMatchObject({ status: 200, body: text });
});

test.each([
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'zstd',
  'gzip, __proto__',
  ','.repeat(9),
  'gzip,'.repeat(30),
])('an answer with Content-Encoding: %s never throws', async (encoding) => {
  for (const body of [Buffer.from('{}'), gzipSync('{}'), Buffer.alloc(0)]) {
    const answer = await ask(await answering(encoding, body));
    expect('status' in answer || answer.lost === 'after-sending').toBe(true);
  }
});

test('an unknown encoding is named, and the write is in doubt', async () => {
  const lost = await ask(await answering('zstd', Buffer.from('{}')));
  expect(lost).toMatchObject({ lost: 'after-sending', detail: expect.stringContaining('zstd') });
});

/** 900 mebibytes of zeros, in less than one: a stream of gzip may have many members. */
const bomb = () => {
  const zeros = gzipSync(Buffer.alloc(10 << 20));
  return Buffer.concat(Array.from({ length: 90 }, () => zeros));
};

// Made by the test: `npm test`, which leaves it out, would compress 410 mebibytes for nothing.
test.each([
  ['gzip', bomb],
  ['br', () => brotliCompressSync(Buffer.alloc(200 << 20), quick)],
  ['deflate', () => deflateSync(Buffer.alloc(200 << 20), { level: 1 })],
  ['gzip, gzip', () => gzipSync(bomb())],
])(
  'a bomb in %s is larger than svc reads: bounded in memory and time, and in doubt',
  { tags: ['long'] },
  async (encoding, make) => {
    const body = make();
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 5);
    const computed = cpuTimer();
    const lost = await ask(await answering(encoding, body), 60_000);
    clearInterval(watch);
    expect(lost).toMatchObject({ lost: 'after-sending', detail: expect.stringContaining('larger than svc reads') });
    expect(computed()).toBeLessThan(5_000);
    expect(most - before).toBeLessThan(400 << 20);
  },
);

test('an answer in pieces of one byte takes no more memory than its bytes', { tags: ['long'] }, async () => {
  const pieces = Buffer.from('1\r\nx\r\n'.repeat(20_000));
  const url = await speaking((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    let left = 10;
    const push = (): void => {
      while (left-- > 0) if (!socket.write(pieces)) return void socket.once('drain', push);
      socket.end('0\r\n\r\n');
    };
    push();
  });
  const answer = await ask(url, 20_000);
  expect('status' in answer && answer.body.length).toBe(200_000);
});

test.each([
  [
    'an endless body',
    (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n');
      const push = (): void => {
        while (socket.writable && socket.write(Buffer.alloc(1 << 16)));
        if (socket.writable) socket.once('drain', push);
      };
      push();
    },
  ],
  [
    'a flood of 1xx',
    (socket: Socket) => {
      const push = (): void => {
        while (socket.writable && socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(100)));
        if (socket.writable) socket.once('drain', push);
      };
      push();
    },
  ],
  [
    'a switch to another protocol',
    (socket: Socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  [
    'headers without end',
    (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const push = (): void => {
        while (socket.writable && socket.write('x-a: b\r\n'.repeat(1000)));
        if (socket.writable) socket.once('drain', push);
      };
      push();
    },
  ],
  ['garbage', (socket: Socket) => void socket.end(Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10]))],
  ['nothing at all', () => {}],
  [
    'a close in the middle',
    (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nab'),
  ],
  [
    'a reset in the middle',
    (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nab', () => socket.resetAndDestroy());
    },
  ],
  [
    'two lengths',
    (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
  ],
  [
    'headers called __proto__',
    (socket: Socket) =>
      void socket.end('HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 9\r\n\r\nab'),
  ],
])('%s is a lost answer within the time-out, straight and through a proxy', { tags: ['long'] }, async (_, talk) => {
  const url = await speaking(talk);
  for (const env of [{}, { HTTP_PROXY: url }] as Record<string, string>[]) {
    const start = performance.now();
    const once = () => ask(env.HTTP_PROXY ? 'http://service.invalid/' : url, 700, env);
    let lost = await once();
    // A busy machine may need longer to connect: then nothing was sent.
    while ('lost' in lost && lost.lost === 'before-sending') lost = await once();
    expect(lost).toMatchObject({ lost: 'after-sending' });
    // Without its time-out it would never end; a busy machine takes longer to hear of it.
    expect(performance.now() - start).toBeLessThan(30_000);
  }
});

/** A body of more than 64 MB, in pieces. */
const huge = (packed: boolean) =>
  listen(
    createServer((_, response) => {
      const zip = packed ? createGzip({ level: 1 }) : undefined;
      if (zip) response.setHeader('content-encoding', 'gzip');
      const out = zip ?? response;
      zip?.pipe(response);
      response.on('error', () => {});
      const block = Buffer.alloc(1024 * 1024, 0x20);
      let left = 66;
      const more = () => {
        while (left-- > 0) if (!out.write(block)) return void out.once('drain', more);
        out.end('{}');
      };
      more();
    }),
  );

test.each([
  ['as it is', false],
  ['decompressed', true],
])(
  'an answer that is larger than 64 MB %s is said as that: a read ends at once with 1, a write with 9',
  { tags: ['long'] },
  async (_, packed) => {
    const base = await huge(packed);
    const run = async (argv: string[]) =>
      svc(createWorld(await createExchange({})), [...argv, '--base-url', base.replace(/\/$/u, '')]);
    const read = await run(['contacts', 'list']);
    expect(read).toMatchObject({ exitCode: 1, stdout: '' });
    expect(read.stderr).toContain('larger than svc reads (64 MB)');
    expect(read.stderr).not.toContain('Could not reach');
    const write = await run(['tickets', 'update', '7', '--priority', '4']);
    expect(write.exitCode).toBe(9);
    expect(write.stderr).toContain('larger than svc reads (64 MB)');
  },
);
