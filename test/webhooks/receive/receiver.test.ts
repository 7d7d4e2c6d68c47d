import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { receiverLimits } from '../../../src/webhooks/receive/limits.ts';
import { markHeader } from '../../../src/webhooks/receive/own-mark.ts';
import { endAfterEach } from '../../endings.ts';
import { dial, endings, envelope, holding, post, receiver, secret, send } from '../receiving.ts';

endAfterEach(endings);

test('a signed delivery is stored with its exact bytes and headers, then answered 204', async () => {
  const { port, stored, receipts } = await receiver();
  const body = `  ${envelope('evt_1', { data: { subject: 'Grüße \u0007' } })}\n`;
  expect(await send(port, post(body))).toBe(204);
  expect(Buffer.from(stored.get('evt_1')?.body ?? []).toString()).toBe(body);
  expect(stored.get('evt_1')?.headers).toMatchObject({ 'x-svc-event': 'ticket.created', host: 'example.com' });
  expect(receipts).toMatchObject([{ kind: 'accepted', envelope: { id: 'evt_1', event: 'ticket.created' } }]);
});

const good = sign(secret, Buffer.from(envelope('evt_1')));
test.each([
  ['missing', ''],
  ['wrong', sign(secret, Buffer.from('other'))],
  ['of another secret', sign('other', Buffer.from(envelope('evt_1')))],
  ['truncated', good.slice(0, 40)],
  ['not hexadecimal', 'z'.repeat(64)],
  ['very long', 'a'.repeat(8_000)],
])('a signature that is %s is answered 401 and nothing is stored', async (_, signature) => {
  const { port, stored, receipts } = await receiver();
  expect(await send(port, post(envelope('evt_1'), { 'x-svc-signature': signature }))).toBe(401);
  expect(stored.size).toBe(0);
  expect(receipts).toMatchObject([{ kind: 'rejected' }]);
});

test('two signature headers are refused, even where one of them is right', async () => {
  const { port, stored } = await receiver();
  const body = envelope('evt_1');
  const request = `POST / HTTP/1.1\r\nhost: a\r\nx-svc-signature: ${good}\r\nx-svc-signature: ${good}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  expect(await send(port, Buffer.from(request))).toBe(401);
  expect(stored.size).toBe(0);
});

test('what svc itself passed on is answered 508 and not stored, and what another one passed on is taken', async () => {
  const { port, stored } = await receiver({ mark: 'mine' });
  expect(await send(port, post(envelope('evt_1'), { [markHeader]: 'mine' }))).toBe(508);
  expect(stored.size).toBe(0);
  expect(await send(port, post(envelope('evt_1'), { [markHeader]: 'another' }))).toBe(204);
  expect(await send(port, post(envelope('evt_2')))).toBe(204);
  const unmarked = await receiver();
  expect(await send(unmarked.port, post(envelope('evt_1'), { [markHeader]: 'mine' }))).toBe(204);
});

test('the path of the first door is part of the address, where there is one', async () => {
  const { origin, url, port } = await receiver({ doors: () => [{ path: '/hooks', secrets: [secret] }] });
  expect([origin, url]).toEqual([`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/hooks`]);
  const none = await receiver({ doors: () => [] });
  expect(none.url).toBe(none.origin);
});

test('a repeat is answered 2xx, marked, and stored once', async () => {
  const { port, stored, receipts } = await receiver();
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
  expect(await send(port, post(envelope('evt_1', { data: {} })))).toBe(204);
  expect(stored.size).toBe(1);
  expect(receipts.map((receipt) => receipt.kind)).toEqual(['accepted', 'repeat']);
});

test('a repeat is not answered before the first copy is on disk', async () => {
  const { inbox, asked, store } = holding();
  const { port, receipts } = await receiver({ inbox });
  const first = dial(port);
  first.socket.write(post(envelope('evt_1')));
  const second = dial(port);
  second.socket.write(post(envelope('evt_1')));
  await expect.poll(() => asked).toHaveLength(2);
  await sleep(50);
  expect([...first.statuses(), ...second.statuses()]).toEqual([]);
  store();
  expect([await first.answered(), await second.answered()]).toEqual([[204], [204]]);
  expect(receipts.map((receipt) => receipt.kind)).toEqual(['accepted', 'repeat']);
});

test.each([
  ['not JSON', 'hello'],
  ['invalid JSON', '{"id":"evt_1"'],
  ['a single byte', '{'],
  ['empty', ''],
  ['not UTF-8', Uint8Array.of(0xff, 0xfe, 0x00)],
  ['without an id', '{"event":"ticket.created"}'],
])('a signed body that is %s is stored, answered 204 and marked unreadable', async (_, body) => {
  const { port, stored, receipts } = await receiver({ forwardTo: () => 'http://127.0.0.1:3000/' });
  expect(await send(port, post(body))).toBe(204);
  expect(receipts).toMatchObject([{ kind: 'unreadable', arrival: { id: 'unreadable_1', event: 'ticket.created' } }]);
  expect(stored.get('unreadable_1')?.to).toBe('http://127.0.0.1:3000/');
  expect(Buffer.from(stored.get('unreadable_1')?.body ?? []).equals(Buffer.from(body as string))).toBe(true);
});

test('only its own path exists, whatever is added to it as a query', async () => {
  const { port, stored } = await receiver({ doors: () => [{ path: '/hooks', secrets: [secret] }] });
  for (const path of ['/', '/hooks/', '/hook', '/hooks/../hooks', '/HOOKS', '//hooks', '/favicon.ico', '/%68ooks']) {
    expect(await send(port, post(envelope('evt_1'), {}, { path }))).toBe(404);
  }
  expect(stored.size).toBe(0);
  expect(await send(port, post(envelope('evt_1'), {}, { path: '/hooks?from=tunnel' }))).toBe(204);
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is answered 405', async (method) => {
  const { port, stored } = await receiver();
  const line = dial(port);
  line.socket.write(post(envelope('evt_1'), {}, { method }));
  expect(await line.answered()).toEqual([405]);
  expect(line.state.text.toLowerCase()).toContain('allow: post');
  expect(stored.size).toBe(0);
});

test('1 MiB is taken; one byte more is answered 413, before it is sent, while it is sent, and in chunks', async () => {
  const { port, stored } = await receiver();
  const full = Buffer.alloc(1024 * 1024, 'x');
  expect(await send(port, post(full))).toBe(204);
  const over = Buffer.alloc(1024 * 1024 + 1, 'x');
  expect(await send(port, post(over))).toBe(413);
  const announced = dial(port);
  announced.socket.write(post('', { 'content-length': '1048577' }));
  expect(await announced.answered()).toEqual([413]);
  const chunked = dial(port);
  chunked.socket.write(post('', { 'content-length': '', 'transfer-encoding': 'chunked' }));
  chunked.socket.write(`${over.length.toString(16)}\r\n`);
  chunked.socket.write(over);
  expect(await chunked.answered()).toEqual([413]);
  await chunked.closed;
  expect(stored.size).toBe(1);
});

test('a chunked body is verified as the bytes that it carries', async () => {
  const { port, stored } = await receiver();
  const body = envelope('evt_1');
  const line = dial(port);
  line.socket.write(post('', { 'content-length': '', 'transfer-encoding': 'chunked', 'x-svc-signature': good }));
  for (const byte of body) line.socket.write(`1\r\n${byte}\r\n`);
  line.socket.write('0\r\n\r\n');
  expect(await line.answered()).toEqual([204]);
  expect(stored.has('evt_1')).toBe(true);
});

test('a sender that asks before sending a large body is told at once', async () => {
  const { port } = await receiver();
  const line = dial(port);
  line.socket.write(post('', { 'content-length': '9000000', expect: '100-continue' }));
  expect(await line.answered()).toEqual([413]);
  const small = dial(port);
  const body = envelope('evt_1');
  small.socket.write(
    post('', { 'content-length': String(body.length), expect: '100-continue', 'x-svc-signature': good }),
  );
  expect(await small.answered()).toEqual([100]);
  small.socket.write(body);
  expect(await small.answered(2)).toEqual([100, 204]);
});

test('the limits are 10 seconds for the headers, 30 for the whole, 1 MiB, and past 10 seconds of silence', () => {
  expect(receiverLimits).toMatchObject({ headersMs: 10_000, wholeMs: 30_000, bodyBytes: 1_048_576 });
  expect(receiverLimits.stallMs).toBeGreaterThan(10_000);
});

test('pipelined requests are each answered, in their order', async () => {
  const { port, stored } = await receiver();
  const line = dial(port);
  line.socket.write(
    Buffer.concat([
      post(envelope('evt_1')),
      post(envelope('evt_2'), { 'x-svc-signature': 'no' }),
      post(envelope('evt_1')),
      post(envelope('evt_3'), {}, { path: '/elsewhere' }),
      post(envelope('evt_4')),
    ]),
  );
  expect(await line.answered(5)).toEqual([204, 401, 204, 404, 204]);
  expect([...stored.keys()]).toEqual(['evt_1', 'evt_4']);
});

test('what is no HTTP is answered 400 and harms nothing', async () => {
  const { port } = await receiver();
  expect(await send(port, Buffer.from('\u0016\u0003\u0001 hello\r\n\r\n'))).toBe(400);
  expect(
    await send(
      port,
      Buffer.from('POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
    ),
  ).toBe(400);
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
});

test('while the disk refuses there is no answer, and the connection is dropped so that the service sends again', {
  tags: ['long'],
}, async () => {
  let refuse = true;
  const stored = new Set<string>();
  const { port, receipts, problem } = await receiver({
    limits: { stallMs: 600 },
    inbox: {
      has: (id) => stored.has(id),
      add: async (arrival) => {
        if (refuse) throw new Error('no space left on device');
        stored.add(arrival.id);
      },
    },
  });
  const line = dial(port);
  line.socket.write(post(envelope('evt_1')));
  await line.closed;
  expect(line.state.text).toBe('');
  expect(receipts).toEqual([]);
  expect(problem).toHaveLength(1);
  refuse = false;
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
  expect(receipts).toMatchObject([{ kind: 'accepted' }]);
});

test('a disk that has room again in time costs no delivery', async () => {
  let failures = 2;
  const { port } = await receiver({
    inbox: {
      has: () => false,
      add: async () => {
        if (failures-- > 0) throw new Error('no space left on device');
      },
    },
  });
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
});

test('a port in use is said with what to do', async () => {
  const { port } = await receiver();
  await expect(receiver({ port })).rejects.toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('in use'),
    hint: expect.stringContaining('--port'),
  });
});

test('nothing but loopback can reach it', async () => {
  const { networkInterfaces } = await import('node:os');
  const { port } = await receiver();
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address && !address.internal && address.family === 'IPv4');
  for (const address of outside) {
    const refused = await new Promise((resolve) => {
      connect(port, address?.address)
        .on('connect', () => resolve(false))
        .on('error', () => resolve(true));
    });
    expect(refused).toBe(true);
  }
});

test('what fits no secret is judged again with those that were stored meanwhile; what fits one asks nothing', async () => {
  let secrets = [secret];
  let readings = 0;
  const { port, stored } = await receiver({
    doors: () => [{ path: '/', secrets }],
    readSecrets: async () => {
      readings++;
      secrets = [secret, 'later'];
      return true;
    },
  });
  const signed = (id: string, key: string) =>
    post(envelope(id), { 'x-svc-signature': sign(key, Buffer.from(envelope(id))) });
  expect(await send(port, signed('evt_1', secret))).toBe(204);
  expect(readings).toBe(0);
  expect(await send(port, signed('evt_2', 'later'))).toBe(204);
  expect(await send(port, signed('evt_3', 'forged'))).toBe(401);
  expect([[...stored.keys()], readings]).toEqual([['evt_1', 'evt_2'], 2]);
});

test('where the secrets cannot be read, what fits none is not answered, so that it comes again', async () => {
  const { port, receipts } = await receiver({ readSecrets: async () => false });
  const forged = post(envelope('evt_1'), { 'x-svc-signature': sign('other', Buffer.from(envelope('evt_1'))) });
  expect(await send(port, forged)).toBeUndefined();
  expect(await send(port, post(envelope('evt_2')))).toBe(204);
  expect(receipts).toMatchObject([{ kind: 'accepted' }]);
});

test('forged deliveries that wait for the secrets keep no good one out', async () => {
  let read = (_: boolean) => {};
  const reading = new Promise<boolean>((resolve) => {
    read = resolve;
  });
  const { port } = await receiver({ maxConnections: () => 8, readSecrets: () => reading });
  const forged = Array.from({ length: 12 }, (_, at) =>
    send(port, post(envelope(`evt_${at}`), { 'x-svc-signature': sign('other', Buffer.from(envelope(`evt_${at}`))) })),
  );
  // The first four wait; the others come again.
  await Promise.race(forged);
  expect(await send(port, post(envelope('good')))).toBe(204);
  read(true);
  const answers = await Promise.all(forged);
  expect(answers.filter((status) => status === 401)).toHaveLength(4);
  expect(answers.filter((status) => status === undefined)).toHaveLength(8);
});
