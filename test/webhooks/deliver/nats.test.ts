// The NATS sink, against a real nats-server: acknowledged, once each, through kills of the server.
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterEach, expect, test } from 'vitest';
import { messageId, natsSink, subjectOf, subjectsOf } from '../../../src/webhooks/deliver/nats.ts';
import type { Sink } from '../../../src/webhooks/deliver/sink.ts';
import { freePort } from '../../free-port.ts';
import { real } from '../../real-component.ts';
import { startNats } from '../nats-server.ts';

const cleaning: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

async function natsServer() {
  const server = await startNats();
  cleaning.push(() => server.stop());
  return server;
}

const event = (id: string, name: string | null = 'ticket.created') => ({
  id,
  event: name,
  at: '2026-11-20T12:00:00.000Z',
  headers: {},
  body: Buffer.from(JSON.stringify({ id, event: name })),
});

const sinkTo = (url: string, create: boolean): Sink => {
  const sink = natsSink({
    name: 'bus',
    servers: [url],
    subject: 'svc.{event}',
    stream: { name: 'SVC', create },
    timeoutMs: 2_000,
  });
  cleaning.push(async () => sink.close?.());
  return sink;
};

const never = new AbortController().signal;

async function countIn(url: string): Promise<number> {
  const connection = await connect({ servers: [url.replace('nats://', '')] });
  try {
    const { streams } = await jetstreamManager(connection);
    return (await streams.info('SVC')).state.messages;
  } finally {
    await connection.close();
  }
}

test('an unknown name is one token, and no id breaks out of its header', () => {
  expect(subjectOf('svc.{event}', 'ticket.created')).toBe('svc.ticket.created');
  expect(subjectOf('svc.{event}', 'a.>.*')).toBe('svc.a____');
  expect(subjectOf('svc.{event}', null)).toBe('svc.unknown');
  expect(subjectOf('svc.{event}', '')).toBe('svc.unknown');
  expect(subjectsOf('svc.{event}')).toBe('svc.>');
  expect(subjectsOf('svc.all')).toBe('svc.all');
  expect(messageId('evt_1')).toBe('evt_1');
  expect(messageId('a\r\nNats-Rollup: all')).toMatch(/^~[\w-]{43}$/u);
  expect(messageId('\ud800')).not.toBe(messageId('\ud801'));
});

test('a server that is not there is a refusal', async () => {
  const sink = sinkTo(`nats://127.0.0.1:${await freePort()}`, true);
  expect(await sink.send([event('evt_1')], never)).toMatchObject({ how: 'refused' });
});

real('nats-server')('a missing stream is refused by its name until it is there', async () => {
  const { url } = await natsServer();
  expect(await sinkTo(url, false).send([event('evt_1')], never)).toMatchObject({
    how: 'refused',
    error: expect.stringContaining('SVC'),
  });
  expect(await sinkTo(url, true).send([event('evt_1')], never)).toEqual({ how: 'taken' });
  expect(await sinkTo(url, false).send([event('evt_1')], never)).toEqual({ how: 'taken' });
  expect(await countIn(url)).toBe(1);
});

real('nats-server')(
  'each event is once in the stream, though the server is killed and restarted',
  async () => {
    const { url, start, end } = await natsServer();
    const sink = sinkTo(url, true);
    const ids = Array.from({ length: 400 }, (_, at) => `evt_${at}`);
    let sent = 0;
    const load = (async () => {
      for (const id of ids) {
        while ((await sink.send([event(id)], never)).how !== 'taken');
        // A lost answer: it comes once more.
        if (sent % 7 === 0) await sink.send([event(id)], never);
        sent++;
      }
    })();
    for (const [at, signal] of [
      [100, 'SIGKILL'],
      [200, 'SIGTERM'],
      [300, 'SIGKILL'],
    ] as const) {
      while (sent < at) await new Promise(setImmediate);
      await end(signal);
      await start();
    }
    await load;
    expect(await countIn(url)).toBe(ids.length);
  },
  60_000,
);
