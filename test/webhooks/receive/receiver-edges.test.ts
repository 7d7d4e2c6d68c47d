import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { listen } from '../../../src/webhooks/receive/listening.ts';
import { endAfterEach } from '../../endings.ts';
import { virtualClock } from '../../svc.ts';
import { dial, endings, holding, post, secret, send, receiver as startReceiver } from '../receiving.ts';

endAfterEach(endings);

/** Time passes only where somebody waits. */
const receiver: typeof startReceiver = (more = {}) => startReceiver({ clock: virtualClock(), ...more });
const envelope = (id: string) => JSON.stringify({ event: 'ticket.created', id });

const at = '2026-03-01T12:00:00.000Z';
const hourMs = 3_600_000;

describe('what is told of a delivery', () => {
  test('that is accepted: what was stored, without fields that it does not have', async () => {
    const { port, stored, receipts } = await receiver();
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
    const arrival = stored.get('evt_1');
    expect(Object.keys(arrival ?? {})).toEqual(['id', 'event', 'at', 'headers', 'body', 'happening']);
    expect(receipts).toEqual([{ kind: 'accepted', arrival, envelope: { id: 'evt_1', event: 'ticket.created' } }]);
    expect(arrival).toMatchObject({ id: 'evt_1', event: 'ticket.created', at, happening: null });
  });

  test.each([{ toString: 1 }, ['2026-01-01'], 7, null])(
    'whose time of publication is %j: taken like any other',
    async (published_at) => {
      const { port, stored } = await receiver();
      const entry = { event: 'changelog.published', id: 'evt_1', data: { entry_id: 5, published_at } };
      expect(await send(port, post(JSON.stringify(entry)))).toBe(204);
      expect(stored.get('evt_1')).toMatchObject({ id: 'evt_1', happening: null });
    },
  );

  test('that is unreadable: why, in the receipt and in the inbox', async () => {
    const { port, stored, receipts } = await receiver();
    expect(await send(port, post('hello'))).toBe(204);
    const arrival = stored.get('unreadable_1');
    expect(arrival).toMatchObject({ event: 'ticket.created', unreadable: 'not JSON' });
    expect(receipts).toEqual([{ kind: 'unreadable', arrival, why: 'not JSON' }]);
  });

  test('that is rejected: when, why and which event it claims', async () => {
    const { port, receipts } = await receiver();
    expect(await send(port, post('hello', { 'x-svc-signature': 'no' }))).toBe(401);
    expect(await send(port, post('hello', { 'x-svc-signature': '', 'x-svc-event': '' }))).toBe(401);
    expect(receipts).toEqual([
      { kind: 'rejected', at, why: 'wrong-length', event: 'ticket.created' },
      { kind: 'rejected', at, why: 'no-signature', event: null },
    ]);
  });

  test('that is repeated: when, and its envelope', async () => {
    const { port, receipts } = await receiver();
    await send(port, post(envelope('evt_1')));
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
    expect(receipts[1]).toEqual({ kind: 'repeat', at, envelope: { id: 'evt_1', event: 'ticket.created' } });
  });

  test('where it goes is asked by its event', async () => {
    const asked: (string | null)[] = [];
    const forwardTo = (event: string | null) => {
      asked.push(event);
      return event === null ? 'http://127.0.0.1:3000/' : undefined;
    };
    const { port, stored } = await receiver({ forwardTo });
    await send(port, post(envelope('evt_1')));
    await send(port, post('hello', { 'x-svc-event': '' }));
    expect(asked).toEqual(['ticket.created', null]);
    expect([...stored.values()].map(({ to }) => to)).toEqual([undefined, 'http://127.0.0.1:3000/']);
  });
});

test('the address has the path that is asked for', async () => {
  const { port, url } = await receiver({ doors: () => [{ path: '/hooks/7', secrets: [secret] }] });
  expect(url).toBe(`http://127.0.0.1:${port}/hooks/7`);
});

describe('while the disk refuses', () => {
  const full = () => Promise.reject(new Error('no space left on device'));

  test('a repeat of what is not stored is not answered either', async () => {
    const { inbox, asked, refuse } = holding();
    const { port, receipts } = await receiver({ limits: { stallMs: 0 }, inbox });
    const first = dial(port);
    first.socket.write(post(envelope('evt_1')));
    const second = dial(port);
    second.socket.write(post(envelope('evt_1')));
    await expect.poll(() => asked).toHaveLength(2);
    refuse(new Error('no space left on device'));
    await Promise.all([first.closed, second.closed]);
    expect([first.state.text, second.state.text, receipts]).toEqual(['', '', []]);
  });

  test('a delivery that was not stored is taken when it comes again, and is no repeat', async () => {
    let left = 1;
    const { port, receipts } = await receiver({
      limits: { stallMs: 0 },
      inbox: { has: () => false, add: () => (left-- > 0 ? full() : Promise.resolve()) },
    });
    expect(await send(port, post(envelope('evt_1')))).toBeUndefined();
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
    expect(receipts.map(({ kind }) => kind)).toEqual(['accepted']);
  });

  test('it is tried again for 12 seconds, four times a second', async () => {
    let tries = 0;
    const clock = virtualClock();
    const began = clock.ticks();
    const add = () => {
      tries++;
      return full();
    };
    const { port } = await receiver({ clock, inbox: { has: () => false, add } });
    expect(await send(port, post(envelope('evt_1')))).toBeUndefined();
    expect(clock.ticks() - began).toBe(12_000);
    expect(tries).toBe(12 * 4 + 1);
  });

  test('it is told once for each time of trouble', async () => {
    const works = [false, false, true, false, true];
    const add = () => (works.shift() ? Promise.resolve() : full());
    const { port, problem } = await receiver({ inbox: { has: () => false, add } });
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
    expect(problem).toHaveLength(1);
    expect(await send(port, post(envelope('evt_2')))).toBe(204);
    expect(problem).toEqual([expect.any(Error), expect.any(Error)]);
  });

  test('a listener that wants to hear of no trouble is no reason to end', async () => {
    const works = [false, true];
    const add = () => (works.shift() ? Promise.resolve() : full());
    const { port } = await receiver({ onProblem: undefined, inbox: { has: () => false, add } });
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
  });
});

describe('a body that is too large', () => {
  test('is answered, and then the line is closed', async () => {
    const { port } = await receiver({ limits: { bodyBytes: 10 } });
    const line = dial(port);
    line.socket.write(post('x'.repeat(11)));
    expect(await line.answered()).toEqual([413]);
    expect(line.state.text).toBe('HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    await line.closed;
  });

  test('does not count against others once it is gone', async () => {
    const { port } = await receiver({ limits: { bodyBytes: 100, heldBytes: 250 } });
    for (let n = 0; n < 5; n++) {
      const line = dial(port);
      line.socket.write(post('', { 'content-length': '', 'transfer-encoding': 'chunked' }));
      line.socket.write(`65\r\n${'x'.repeat(101)}\r\n0\r\n\r\n`);
      expect(await line.answered()).toEqual([413]);
      line.socket.destroy();
      await line.closed;
    }
    expect(await send(port, post(envelope('evt_1')))).toBe(204);
  });

  test('bodies up to the limit are held, one byte more cuts the newest off', async () => {
    const { port } = await receiver({ limits: { heldBytes: 100 } });
    const waiting = dial(port);
    waiting.socket.write(post('', { 'content-length': '60' }));
    waiting.socket.write('x'.repeat(50));
    await sleep(100);
    const fitting = dial(port);
    fitting.socket.write(post('', { 'content-length': '60' }));
    fitting.socket.write('x'.repeat(50));
    await sleep(100);
    expect([waiting.state.closed, fitting.state.closed]).toEqual([false, false]);
    fitting.socket.write('x');
    await fitting.closed;
    expect(fitting.state.text).toBe('');
    expect(waiting.state.closed).toBe(false);
  });
});

test('one connection too many takes the place of the one that is idle longest, and never of one that waits for its answer', async () => {
  const { inbox, begins, store } = holding();
  const { port } = await receiver({ maxConnections: () => 3, inbox, limits: { headersMs: hourMs, wholeMs: hourMs } });
  const waits = dial(port);
  waits.socket.write(post(envelope('evt_1')));
  await begins;
  const idle = dial(port);
  idle.socket.write('POST / HTTP/1.1\r\nhost: x\r\n');
  await once(idle.socket, 'connect');
  const third = dial(port);
  await once(third.socket, 'connect');
  dial(port);
  await idle.closed;
  expect([waits.state.closed, third.state.closed]).toEqual([false, false]);
  store();
  expect(await waits.answered()).toEqual([204]);
});

describe('the end', () => {
  test('waits for the answer to what was received, and keeps no idle connection', async () => {
    const { inbox, begins, store } = holding();
    const { port, close } = await receiver({ inbox });
    const idle = dial(port);
    const busy = dial(port);
    busy.socket.write(post(envelope('evt_1')));
    await begins;
    const closing = close();
    await sleep(50);
    store();
    expect(await busy.answered()).toEqual([204]);
    busy.socket.end();
    await busy.closed;
    idle.socket.destroy();
    await closing;
    expect(await send(port, post(envelope('evt_2')))).toBeUndefined();
  });

  test('keeps what is judged only after it out of the inbox: without an answer it comes again', async () => {
    let [read, asked] = [(_: boolean) => {}, () => {}];
    const reading = new Promise<boolean>((resolve) => {
      read = resolve;
    });
    const asks = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let secrets = [secret];
    const { port, close, stored } = await receiver({
      doors: () => [{ path: '/', secrets }],
      readSecrets() {
        asked();
        return reading;
      },
    });
    const body = envelope('evt_1');
    const line = dial(port);
    line.socket.write(post(body, { 'x-svc-signature': sign('later', Buffer.from(body)) }));
    await asks;
    line.socket.destroy();
    await close();
    secrets = [secret, 'later'];
    read(true);
    await sleep(20);
    expect(stored.size).toBe(0);
  });

  test('comes within about a second, whoever holds a line', { tags: ['long'] }, async () => {
    const { port, close } = await receiver();
    const line = dial(port);
    line.socket.write(post('', { 'content-length': '60' }));
    await sleep(100);
    const began = performance.now();
    await close();
    expect(performance.now() - began).toBeLessThan(20_000);
    await line.closed;
  });
});

test.each([
  ['EADDRINUSE', 'the port is in use'],
  ['EACCES', 'the port needs more rights'],
  ['EMFILE', 'EMFILE'],
  [undefined, 'unknown'],
])('a port that cannot be had (%s) is told with what to do, and what comes later is no crash', async (code, words) => {
  const server = process.getBuiltinModule('node:http').createServer();
  endings.push(() => server.close());
  const error = Object.assign(new Error('no'), { code });
  const refused = listen(server, { port: 0, hint: 'Take another.' });
  server.emit('error', error);
  await expect(refused).rejects.toMatchObject({
    kind: 'failed',
    message: `Cannot listen on 127.0.0.1:0: ${words}.`,
    hint: 'Take another.',
    cause: error,
  });
  expect(() => server.emit('error', error)).not.toThrow();
});
