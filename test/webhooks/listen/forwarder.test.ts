// What listen passes on to the app: each URL has a delivery worker, any status is an answer, and it is tried without end.
import { afterEach, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../../src/context.ts';
import { passedOn } from '../../../src/webhooks/deliver/post.ts';
import { replay, replayOutcome } from '../../../src/webhooks/deliver/replay.ts';
import { createForwarder, type Forwarder, type ForwardOptions } from '../../../src/webhooks/listen/forwarder.ts';
import type { Forwarding } from '../../../src/webhooks/store/forwarding.ts';
import type { Outcome } from '../../../src/webhooks/store/line.ts';
import { virtualClock } from '../../svc.ts';

const to = 'http://127.0.0.1:3000/hooks';
const ok: HttpResponse = { status: 200, headers: {}, body: '' };
const refused: Lost = { lost: 'before-sending', reason: 'refused', detail: '' };
const reset: Lost = { lost: 'after-sending', reason: 'reset', detail: '' };

/** On a clock that only moves when somebody sleeps, one that waits for more never rests. */
const started: Forwarder[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((forwarder) => forwarder.stop(0)));
});

/** An app that answers by script; the last answer holds from then on. */
function setUp(answer: (id: string, request: HttpRequest) => HttpResponse | Lost, more: Partial<ForwardOptions> = {}) {
  const clock = virtualClock();
  const began = clock.now().getTime();
  const got: { id: string; at: number; request: HttpRequest }[] = [];
  const settled: (Outcome & { id: string })[] = [];
  const reports: (Forwarding & { id: string })[] = [];
  const forwarder = createForwarder({
    clock,
    timeoutMs: 1000,
    held: { check: () => {}, lost: new AbortController().signal },
    exchange: async (request) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (request.signal?.aborted) return { lost: 'after-sending', reason: 'aborted', detail: '' };
      const id = Buffer.from(request.body as Uint8Array).toString();
      got.push({ id, at: clock.now().getTime() - began, request });
      return answer(id, request);
    },
    inbox: {
      read: async (id) => ({
        arrival: {
          id,
          event: 'ticket.created',
          at: '',
          headers: { 'x-svc-signature': 'abc', host: 'example.com', connection: 'close', 'content-length': '9' },
          body: Buffer.from(id),
        },
        outcomes: [],
      }),
      settle: async (id, outcome) => void settled.push({ id, ...outcome }),
    },
    report: (id, _, forwarding) => reports.push({ id, ...forwarding }),
    ...more,
  });
  started.push(forwarder);
  const idle = async () => {
    while (forwarder.depth() > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { forwarder, got, settled, reports, idle, clock };
}

test('the app gets the original bytes and headers, without those of the old connection', async () => {
  const { forwarder, got, idle, settled } = setUp(() => ok);
  forwarder.enqueue('evt_1', null, to);
  await idle();
  expect(got[0]?.request).toMatchObject({ method: 'POST', url: to, headers: { 'x-svc-signature': 'abc' } });
  expect(Object.keys(got[0]?.request.headers ?? {})).toEqual(['x-svc-signature']);
  expect(settled).toMatchObject([{ id: 'evt_1', to, status: 200, tries: 1 }]);
});

test('while the app is down it is tried again, ever more rarely, and then gets everything in order', async () => {
  let attempts = 0;
  const { forwarder, got, reports, idle } = setUp(() => (++attempts <= 8 ? refused : ok));
  for (const id of ['evt_1', 'evt_2', 'evt_3']) forwarder.enqueue(id, null, to);
  await idle();
  expect(got.map(({ id }) => id)).toEqual([...Array(9).fill('evt_1'), 'evt_2', 'evt_3']);
  const pauses = got.slice(1, 9).map(({ at }, index) => at - (got[index]?.at ?? 0));
  expect(pauses).toEqual([250, 500, 1000, 2000, 3000, 3000, 3000, 3000]);
  // Each is said to wait once, and once to be through.
  expect(reports.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'evt_1 waiting',
    'evt_2 waiting',
    'evt_3 waiting',
    'evt_1 answered',
    'evt_2 answered',
    'evt_3 answered',
  ]);
});

test('one that comes while the app is down is said to wait at once', async () => {
  let up = false;
  const { forwarder, reports, idle, got } = setUp(() => (up ? ok : refused));
  forwarder.enqueue('evt_1', null, to);
  while (got.length < 2) await new Promise((resolve) => setImmediate(resolve));
  forwarder.enqueue('evt_2', null, to);
  expect(reports.at(-1)).toMatchObject({ id: 'evt_2', state: 'waiting', error: 'refused', tries: 0 });
  up = true;
  await idle();
});

test('any answer of the app is an answer: an error status holds up nothing and is not repeated', async () => {
  const { forwarder, got, reports, idle } = setUp((id) => ({ ...ok, status: id === 'evt_1' ? 500 : 200 }));
  forwarder.enqueue('evt_1', null, to);
  forwarder.enqueue('evt_2', null, to);
  await idle();
  expect(got.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
  expect(reports).toMatchObject([{ status: 500 }, { status: 200 }]);
});

test('a delivery that breaks the app five times does not hold up the others for ever', async () => {
  const { forwarder, got, settled, idle } = setUp((id) => (id === 'poison' ? reset : ok));
  forwarder.enqueue('poison', null, to);
  forwarder.enqueue('evt_2', null, to);
  await idle();
  expect(got.filter(({ id }) => id === 'poison')).toHaveLength(5);
  expect(settled).toMatchObject([
    { id: 'poison', error: 'reset', tries: 5 },
    { id: 'evt_2', status: 200 },
  ]);
});

test('an outcome is in the inbox before the next event goes out: a kill sends one event again at most', async () => {
  const happened: string[] = [];
  const { forwarder, idle } = setUp(
    (id) => {
      happened.push(`sent ${id}`);
      return ok;
    },
    {
      inbox: {
        read: async (id) => ({
          arrival: { id, event: null, at: '', headers: {}, body: Buffer.from(id) },
          outcomes: [],
        }),
        settle: async (id) => {
          await new Promise((resolve) => setImmediate(resolve));
          happened.push(`stored ${id}`);
        },
      },
    },
  );
  for (const id of ['a', 'b', 'c']) forwarder.enqueue(id, null, to);
  await idle();
  expect(happened).toEqual(['sent a', 'stored a', 'sent b', 'stored b', 'sent c', 'stored c']);
});

test('an exchange that throws fails that event alone', async () => {
  const { forwarder, settled, reports, idle } = setUp((id) => {
    if (id === 'evil') throw new TypeError('decoders[encoding] is not a function');
    return ok;
  });
  for (const id of ['evil', 'evt_2']) forwarder.enqueue(id, null, to);
  await idle();
  expect(settled).toMatchObject([
    { id: 'evil', error: 'decoders[encoding] is not a function' },
    { id: 'evt_2', status: 200 },
  ]);
  expect(reports).toMatchObject([{ state: 'failed' }, { state: 'answered' }]);
});

test('a stored event that cannot be sent at all fails alone', async () => {
  const { forwarder, settled, idle } = setUp(() => ok, {
    inbox: {
      // A line of the inbox that somebody damaged.
      read: async (id) => ({ arrival: { id, event: null, at: '', body: Buffer.from(id) } as never, outcomes: [] }),
      settle: async () => {
        throw new Error('disk full');
      },
    },
  });
  forwarder.enqueue('evt_1', null, to);
  await idle();
  expect(settled).toEqual([]);
});

test('an answer that svc cannot read is not asked for again: the app has the event', async () => {
  const { forwarder, got, settled, idle } = setUp(() => ({ lost: 'after-sending', reason: 'too-large', detail: '' }));
  forwarder.enqueue('evt_1', null, to);
  await idle();
  expect(got).toHaveLength(1);
  expect(settled).toMatchObject([{ id: 'evt_1', error: 'too-large' }]);
});

test('with a time limit it is given up after that time, and the next one is tried', async () => {
  const { forwarder, settled, reports, idle } = setUp(() => refused, { retryMs: 2_000 });
  forwarder.enqueue('evt_1', null, to);
  forwarder.enqueue('evt_2', null, to);
  await idle();
  expect(settled).toMatchObject([
    { id: 'evt_1', error: 'refused' },
    { id: 'evt_2', error: 'refused' },
  ]);
  expect(reports.filter(({ state }) => state === 'failed')).toHaveLength(2);
});

test('URLs do not wait for each other', async () => {
  const other = 'http://127.0.0.1:4000/';
  let up = false;
  const { forwarder, got, idle } = setUp((_, { url }) => (url === other || up ? ok : refused));
  forwarder.enqueue('evt_1', null, to);
  forwarder.enqueue('evt_2', null, other);
  while (!got.some(({ id }) => id === 'evt_2')) await new Promise((resolve) => setImmediate(resolve));
  up = true;
  await idle();
});

test('at the end an app that answers still gets what is queued; what waits for one that is down stays owed', async () => {
  const down = 'http://127.0.0.1:4000/';
  const clock = virtualClock();
  const { forwarder, settled } = setUp((_, { url }) => (url === down ? refused : ok), {
    // The grace itself never passes: stopping must not need all of it.
    clock: {
      now: clock.now,
      ticks: clock.ticks,
      sleep: (ms, signal) =>
        ms === 10_000 ? new Promise((resolve) => signal?.addEventListener('abort', () => resolve())) : clock.sleep(ms),
    },
  });
  for (let n = 0; n < 50; n++) forwarder.enqueue(`evt_${n}`, null, to);
  forwarder.enqueue('late', null, down);
  await forwarder.stop(10_000);
  expect(settled).toHaveLength(50);
  expect(forwarder.depth()).toBe(1);
});

test('an app that never answers does not keep svc from ending', async () => {
  const { forwarder, settled } = setUp(() => ok, {
    exchange: (request) =>
      new Promise((resolve) => {
        request.signal?.addEventListener('abort', () =>
          resolve({ lost: 'after-sending', reason: 'aborted', detail: '' }),
        );
      }),
  });
  forwarder.enqueue('evt_1', null, to);
  await forwarder.stop(5_000);
  expect(settled).toEqual([]);
  expect(forwarder.depth()).toBe(1);
});

test('a replay goes out once, and does not settle what is owed', async () => {
  const arrival = {
    id: 'evt_1',
    event: null,
    at: '',
    headers: { 'x-svc-event': 'a', host: 'b' },
    body: Buffer.from('{}'),
  };
  const posting = { to, timeoutMs: 1000 };
  const sent: HttpRequest[] = [];
  const replayed = (answer: () => HttpResponse | Lost) => {
    const exchange = async (request: HttpRequest) => {
      sent.push(request);
      return answer();
    };
    return replay({ exchange, clock: virtualClock() }, { arrival }, posting);
  };
  const good = await replayed(() => ({ ...ok, status: 503 }));
  expect(good).toEqual({ to, state: 'answered', status: 503, error: null, ms: 0, tries: 1 });
  expect(sent[0]).toMatchObject({ url: to, headers: { 'x-svc-event': 'a' }, body: arrival.body });
  expect(replayOutcome(good, new Date(0))).toEqual({
    to,
    at: '1970-01-01T00:00:00.000Z',
    status: 503,
    ms: 0,
    tries: 1,
    replay: true,
  });
  expect(await replayed(() => refused)).toMatchObject({ state: 'failed', error: 'refused', status: null });
  const evil = await replayed(() => {
    throw new TypeError('decoders[encoding] is not a function');
  });
  expect(evil).toMatchObject({ state: 'failed', error: 'decoders[encoding] is not a function', ms: null });
  expect(sent).toHaveLength(3);
});

test('headers of the connection are those of RFC 9110', () => {
  const headers = {
    'transfer-encoding': 'chunked',
    'x-svc-event': 'a',
    'user-agent': 'b',
    expect: '100-continue',
    te: 'c',
  };
  expect(passedOn(headers)).toEqual({ 'x-svc-event': 'a', 'user-agent': 'b' });
});

test('what was sent by hand while the app was down is not forwarded once more, and holds up nothing', async () => {
  let up = false;
  const { forwarder, reports, idle, got } = setUp(() => (up ? ok : refused));
  for (const id of ['evt_1', 'evt_2']) forwarder.enqueue(id, null, to);
  while (got.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const outcome = { to, at: '', status: 200, ms: 1, tries: 1 };
  expect(forwarder.passed('evt_1', { ...outcome, to: `${to}/other` })).toBe(false);
  expect(forwarder.passed('evt_1', outcome)).toBe(true);
  const before = got.length;
  up = true;
  await idle();
  expect(got.slice(before).map(({ id }) => id)).toEqual(['evt_2']);
  expect(got.at(-1)?.id).toBe('evt_2');
  expect(reports.filter(({ state }) => state === 'answered').map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
});
