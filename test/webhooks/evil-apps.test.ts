// @module-tag long
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { endAfterEach } from '../endings.ts';
import { svc } from '../svc.ts';
import { listening, liveWorld, startApp } from './listening.ts';

const signed = { SVC_WEBHOOK_SECRET: 'sample-secret' };
const endings = endAfterEach();

/** An app that says what it likes to every request. */
async function evilApp(talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Goes on for as long as somebody takes it. */
const endlessly = (piece: string | Uint8Array) => (socket: Socket) => {
  const push = (): void => {
    while (socket.writable && socket.write(piece));
    if (socket.writable) socket.once('drain', push);
  };
  push();
};

const answer = (head: string, body: Uint8Array = Buffer.from('{}')) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n`), body]);

const evils: [string, (socket: Socket) => void][] = [
  ['Content-Encoding: __proto__', (socket) => void socket.end(answer('content-encoding: __proto__'))],
  ['Content-Encoding: constructor', (socket) => void socket.end(answer('content-encoding: constructor'))],
  ['a bomb', (socket) => void socket.end(answer('content-encoding: gzip', gzipSync(Buffer.alloc(80 << 20))))],
  [
    'an endless body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      endlessly(Buffer.alloc(1 << 16))(socket);
    },
  ],
  ['a hang', () => {}],
  ['garbage', (socket) => void socket.end('\0\u0001\r\n\r\n')],
  ['a flood of 1xx', endlessly('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(100))],
  [
    'another protocol',
    (socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['a close in the middle', (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nab')],
  ['a reset', (socket) => void socket.resetAndDestroy()],
];

test('nothing that an app answers ends the listener, and the other apps get their events', async () => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const good = await startApp();
  endings.push(() => good.close());
  const meet = async (talk: (socket: Socket) => void) => {
    const url = await evilApp(talk);
    const to = ['--forward-to', url, '--route', `feedback.created=${good.url}`];
    const running = await listening(made, ['--json', '--forward-retry', '1', '--timeout', '5', ...to], { env: signed });
    const trigger = (event: string) => svc(made, ['webhooks', 'trigger', event, '--to', running.url], { env: signed });
    expect((await trigger('ticket.created')).exitCode).toBe(0);
    await running.until(() => running.lines().some((line) => line.forward?.state === 'failed'));
    return async () => {
      expect((await trigger('feedback.created')).exitCode).toBe(0);
      await running.until(() => running.lines().some((line) => line.forward?.status === 200));
      expect((await running.end()).exitCode).toBe(0);
    };
  };
  // Once all have met theirs, so that the good app has no flood beside it while it has five seconds to answer.
  const met = await Promise.allSettled(evils.map(([, talk]) => meet(talk)));
  const meetings = await Promise.allSettled(
    met.map((one) => (one.status === 'fulfilled' ? one.value() : Promise.reject(one.reason))),
  );
  const worse = meetings.flatMap((one, i) => (one.status === 'rejected' ? [[evils[i]?.[0], String(one.reason)]] : []));
  expect(worse).toEqual([]);
  expect(good.got).toHaveLength(evils.length);
});

/** What trigger says of an app that got the delivery and answers like that. */
const deliveredTo: Readonly<Record<string, number>> = {
  'Content-Encoding: __proto__': 1,
  'Content-Encoding: constructor': 1,
  'a bomb': 1,
  'an endless body': 1,
  'a hang': 9,
  garbage: 9,
  'a flood of 1xx': 9,
  'another protocol': 9,
  'a close in the middle': 1,
  'a reset': 9,
};

test.each(evils)('trigger to an app that got the delivery and answers with %s: never exit 10', async (what, talk) => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const url = await evilApp(talk);
  // Only an answer that never ends is not waited for: on a busy machine the others take their time.
  const timeout = deliveredTo[what] === 1 ? '60' : '2';
  const argv = ['webhooks', 'trigger', 'ticket.created', '--to', url, '--timeout', timeout, '--json'];
  const ran = await svc(made, argv, { env: signed });
  expect(ran).toMatchObject({ exitCode: deliveredTo[what], stdout: '' });
  expect(ran.stderr).toMatch(ran.exitCode === 1 ? /got the delivery, but/u : /may or may not have got the delivery/u);
  expect(ran.stderr).not.toContain('could not be reached');
});
