// @module-tag long
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { refusal } from '../../../src/webhooks/receive/judge.ts';
import { endAfterEach } from '../../endings.ts';
import { dial, endings, envelope, post, receiver, secret, send, trickle } from '../receiving.ts';

endAfterEach(endings);

const good = sign(secret, Buffer.from(envelope('evt_1')));

test('how long a refusal takes does not tell how much of the signature was right', () => {
  const body = Buffer.from(envelope('evt_1'));
  const early = `${good[0] === '0' ? '1' : '0'}${good.slice(1)}`;
  const late = `${good.slice(0, 63)}${good[63] === '0' ? '1' : '0'}`;
  const times = new Map([
    [early, [] as number[]],
    [late, []],
  ]);
  for (let n = 0; n < 4000; n++) {
    for (const [signature, list] of times) {
      const start = process.hrtime.bigint();
      expect(refusal(signature, body, [secret, 'another']) === 'no-match').toBe(true);
      list.push(Number(process.hrtime.bigint() - start));
    }
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] as number;
  const [first, second] = [...times.values()].map(median) as [number, number];
  expect(Math.abs(first - second) / first).toBeLessThan(0.5);
});

test('slow headers, a slow body and a body that never ends are cut off', async () => {
  const { port, stored } = await receiver({ limits: { headersMs: 400, wholeMs: 900 } });
  const slowHeaders = dial(port);
  trickle(slowHeaders.socket, post(envelope('evt_1')), 50);
  const slowBody = dial(port);
  const request = post(envelope('evt_2'));
  slowBody.socket.write(request.subarray(0, request.length - 60));
  trickle(slowBody.socket, request.subarray(request.length - 60), 50);
  const endless = dial(port);
  endless.socket.write(post('', { 'content-length': '', 'transfer-encoding': 'chunked' }));
  const timer = setInterval(() => endless.socket.write('1\r\nx\r\n'), 50);
  endings.push(() => clearInterval(timer));
  await Promise.all([slowHeaders.closed, slowBody.closed, endless.closed]);
  expect(stored.size).toBe(0);
  expect(await send(port, post(envelope('evt_3')))).toBe(204);
});

test('1,000 idle connections keep nobody out, and are cut off', async () => {
  const { port } = await receiver({ limits: { headersMs: 1_500 } });
  const idle = Array.from({ length: 1000 }, () => dial(port));
  await Promise.all(idle.map((line) => new Promise((resolve) => line.socket.once('connect', resolve))));
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
  await Promise.all(idle.map((line) => line.closed));
});

test('more bodies at once than memory should hold are cut off, not answered', async () => {
  const { port } = await receiver({ limits: { heldBytes: 3 * 1024 * 1024 } });
  const half = Buffer.alloc(900_000, 'x');
  const lines = Array.from({ length: 8 }, () => {
    const line = dial(port);
    line.socket.write(post('', { 'content-length': '1000000' }));
    line.socket.write(half);
    return line;
  });
  while (lines.filter((line) => line.state.closed).length < 4) await sleep(5);
  for (const line of lines) line.socket.destroy();
  await sleep(50);
  expect(await send(port, post(envelope('evt_1')))).toBe(204);
});
