import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test as plain } from 'vitest';
import type { Clock } from '../../../src/context.ts';
import { createExchange } from '../../../src/node/exchange.ts';
import { fileSink } from '../../../src/webhooks/deliver/file.ts';
import { createFilter } from '../../../src/webhooks/deliver/filter.ts';
import { httpSink } from '../../../src/webhooks/deliver/http.ts';
import { programSink } from '../../../src/webhooks/deliver/program.ts';
import type { Sink } from '../../../src/webhooks/deliver/sink.ts';
import { startDeliveryWorker } from '../../../src/webhooks/deliver/worker.ts';
import { piece, type WorkerOptions } from '../../../src/webhooks/deliver/worker-state.ts';
import { openFolder } from '../../../src/webhooks/store/folder/folder-store.ts';
import type { InboxStore, Settled } from '../../../src/webhooks/store/inbox-store.ts';
import { endAfterEach } from '../../endings.ts';
import { inTurn } from '../../thorough.ts';
import { startApp } from '../listening.ts';
import { arrival, forBoth } from '../stores.ts';

const clock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};
const endings = endAfterEach();

/** What waits in these tests is dated long ago. */
const retry = { attempts: 3, maxAgeMs: Number.POSITIVE_INFINITY, pauseMs: 5 };

function delivering(store: InboxStore, sink: Sink, more: Partial<WorkerOptions> = {}) {
  const settled: (readonly [id: string, state: string])[] = [];
  const details: Settled[] = [];
  const problems: unknown[] = [];
  const worker = startDeliveryWorker({
    sink,
    store,
    retry,
    clock,
    onSettled: (_sink, one) => {
      details.push(one);
      settled.push([one.id, one.outcome.state]);
    },
    onProblem: (_sink, error) => problems.push(error),
    ...more,
  });
  endings.push(() => worker.stop(0));
  const until = async (ready: () => boolean | Promise<boolean>) => {
    for (let waited = 0; !(await ready()); waited += 5) {
      if (waited > 60_000) throw new Error(`It never happened: ${JSON.stringify({ settled, problems })}`);
      await sleep(5);
    }
  };
  return { ...worker, settled, details, problems, until };
}

/** Takes what the test says. */
const sinkOf = (send: (id: string) => Awaited<ReturnType<Sink['send']>>['how'], got: string[] = []): Sink => ({
  name: 'app',
  most: 1,
  async send([event]) {
    const id = event?.id ?? '';
    const how = send(id);
    if (how === 'taken') got.push(id);
    return how === 'refused' ? { how, error: 'no' } : { how };
  },
});

async function serving(answer: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const apps: readonly (readonly [string, RequestListener, string])[] = [
  ['answers 500', (_, response) => response.writeHead(500).end(), 'HTTP 500'],
  ['redirects', (_, response) => response.writeHead(302, { location: '/' }).end(), 'HTTP 302'],
  ['never answers', () => {}, 'timeout'],
  ['closes at once', (request) => request.socket.destroy(), 'reset'],
  [
    'closes in mid-answer',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.socket?.destroy(), 5);
    },
    'truncated',
  ],
  [
    'trickles a 200 for ever',
    (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    },
    'timeout',
  ],
];

forBoth(({ name, test, make }) => {
  test('events reach the sink in order, through failures, each once', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    // More than are taken at once, and some of them are refused at first.
    const all = Array.from({ length: piece + 10 }, (_, n) => `evt_${n}`);
    await Promise.all(all.map((id) => store.add(arrival(id))));
    const got: string[] = [];
    let calls = 0;
    const sink = sinkOf(() => (++calls % 23 === 0 ? 'refused' : 'taken'), got);
    const { until } = delivering(store, sink);
    await until(() => got.length === all.length);
    expect(got).toEqual(all);
    await until(async () => (await store.counts()).get('app')?.waiting !== 1);
  });

  test('what a sink refuses as often as it may is dead, and those behind it go on', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    for (const id of ['a', 'bad', 'c']) await store.add(arrival(id));
    const { settled, until } = delivering(
      store,
      sinkOf((id) => (id === 'bad' ? 'refused' : 'taken')),
    );
    await until(() => settled.length === 5);
    expect(settled).toEqual([
      ['a', 'delivered'],
      ['bad', 'failed'],
      ['bad', 'failed'],
      ['bad', 'dead'],
      ['c', 'delivered'],
    ]);
    expect((await store.counts()).get('app')).toEqual({ waiting: 0, dead: 1 });
  });

  test('what has waited longer than max_age is dead at its next failure', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    await store.add(arrival('old'));
    await store.add(arrival('new', ['app'], { at: new Date().toISOString() }));
    const { settled, until } = delivering(
      store,
      sinkOf(() => 'refused'),
      { retry: { ...retry, maxAgeMs: 3_600_000 } },
    );
    await until(() => settled.length === 4);
    expect(settled.map(([id, state]) => `${id} ${state}`)).toEqual([
      'old dead',
      'new failed',
      'new failed',
      'new dead',
    ]);
  });

  test('a sink that hangs holds up no other', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    for (let n = 0; n < 30; n++) await store.add(arrival(`evt_${n}`, ['stuck', 'app']));
    const stuck: Sink = {
      name: 'stuck',
      most: 1,
      send: (_, cut) =>
        new Promise((resolve) => cut.addEventListener('abort', () => resolve({ how: 'cut' }), { once: true })),
    };
    delivering(store, stuck);
    const { settled, until } = delivering(
      store,
      sinkOf(() => 'taken'),
    );
    await until(() => settled.length === 30);
    expect((await store.counts()).get('stuck')).toEqual({ waiting: 30, dead: 0 });
  });

  test('a filter lets through what gives true, and what is no envelope; what fails counts as false and is told; one that hangs is tried again, and then dead', {
    tags: ['long'],
  }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    const about = (id: string, data: unknown) =>
      arrival(id, ['app'], { body: Buffer.from(JSON.stringify({ id, event: 'x', data })) });
    await store.add(about('yes', { n: 1 }));
    await store.add(about('no', { n: 2 }));
    await store.add(about('fails', 'text'));
    await store.add(about('hangs', { n: 'for ever' }));
    await store.add(about('yes too', { n: 1 }));
    await store.add(arrival('unreadable', ['app'], { body: Buffer.from('?') }));
    const told: string[] = [];
    const program = 'if .data.n == "for ever" then last(repeat(1)) else .data.n == 1 end';
    const { settled, details, until } = delivering(
      store,
      sinkOf(() => 'taken'),
      {
        // Each time that it hangs, jq is started anew.
        retry: { ...retry, attempts: 2 },
        // A slow machine may need its second for the others too.
        filter: createFilter(
          program,
          (text) => told.push(text),
          (id) => (id === 'hangs' ? AbortSignal.timeout(100) : new AbortController().signal),
        ),
      },
    );
    await until(() => settled.length === 7);
    expect(Object.fromEntries(settled)).toEqual({
      yes: 'delivered',
      no: 'skipped',
      fails: 'skipped',
      hangs: 'dead',
      'yes too': 'delivered',
      unreadable: 'delivered',
    });
    expect(told).toEqual([expect.stringContaining('fails')]);
    const hung = details
      .filter(({ id }) => id === 'hangs')
      .map(({ outcome: { state, tries, error } }) => [state, tries, error]);
    const why = 'the filter took more than a second';
    expect(hung).toEqual([
      ['failed', 1, why],
      ['dead', 2, why],
    ]);
  });

  test('what comes one after the other is gathered: few questions and few writings, and nothing waits for long', {
    tags: ['long'],
  }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    const counts = { taken: 0, written: 0 };
    const counted: InboxStore = {
      ...store,
      take: (...args) => {
        counts.taken++;
        return store.take(...args);
      },
      settle: (...args) => {
        counts.written++;
        return store.settle(...args);
      },
    };
    const got: string[] = [];
    const began = performance.now();
    const { wake, until } = delivering(
      counted,
      sinkOf(() => 'taken', got),
    );
    for (let n = 0; n < 40; n++) {
      await store.add(arrival(`evt_${n}`));
      wake();
      await sleep(1);
    }
    await until(() => got.length === 40);
    const most = (performance.now() - began) / 20 + 3;
    expect(counts.taken).toBeLessThanOrEqual(most);
    expect(counts.written).toBeLessThanOrEqual(most);
  });

  test.each([
    ['before it is told to end', 1],
    ['while it ends', 2],
  ])('an inbox that fails %s is asked again, and what waits is delivered', { tags: ['long'] }, async (_, failing) => {
    const store = await (await make()).open();
    for (let n = 0; n < 5; n++) await store.add(arrival(`evt_${n}`));
    const got: string[] = [];
    let left = failing;
    let fail = () => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const take: typeof store.take = async (sink, most) => {
      if (left-- <= 0) return store.take(sink, most);
      fail();
      throw new Error('The connection broke.');
    };
    const { drain } = delivering(
      { ...store, take },
      sinkOf(() => 'taken', got),
    );
    await failed;
    await drain(30_000);
    await store.close();
    expect(got).toEqual(['evt_0', 'evt_1', 'evt_2', 'evt_3', 'evt_4']);
  });

  test('told to end, it delivers what waits, and leaves what the sink refuses', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    for (let n = 0; n < 5; n++) await store.add(arrival(`evt_${n}`));
    const got: string[] = [];
    const { drain } = delivering(
      store,
      sinkOf((id) => (id === 'evt_3' ? 'refused' : 'taken'), got),
      {
        retry: { ...retry, pauseMs: 60_000 },
      },
    );
    await drain(30_000);
    expect(got).toEqual(['evt_0', 'evt_1', 'evt_2']);
    expect((await store.counts()).get('app')).toEqual({ waiting: 2, dead: 0 });
    await store.close();
  });

  test.each([
    ['once is tried again, and what comes behind it is delivered', 1, ['evt_0', 'evt_1', 'evt_2'], 0],
    ['twice in a row is left', 2, ['evt_0'], 2],
  ])('told to end, a sink that then refuses %s', { tags: ['long'] }, async (_, refusals, delivered, waiting) => {
    const store = await (await make()).open();
    for (let n = 0; n < 3; n++) await store.add(arrival(`evt_${n}`));
    const got: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let refused = 0;
    const sink: Sink = {
      name: 'app',
      most: 1,
      async send([event]) {
        if (event?.id === 'evt_0') await gate;
        else if (refused++ < refusals) return { how: 'refused', error: 'timeout' };
        got.push(event?.id ?? '');
        return { how: 'taken' };
      },
    };
    const { drain } = delivering(store, sink, { retry: { ...retry, attempts: 8 } });
    const drained = drain(60_000);
    open();
    await drained;
    expect(got).toEqual(delivered);
    expect((await store.counts()).get('app')?.waiting ?? 0).toBe(waiting);
    await store.close();
  });

  test('what a sink took is in the inbox while the next event is still under way', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    for (let n = 0; n < 4; n++) await store.add(arrival(`evt_${n}`));
    const ending = new AbortController();
    const got: string[] = [];
    const hanging: Sink = {
      name: 'app',
      most: 1,
      async send([event], cut) {
        got.push(event?.id ?? '');
        if (got.length < 4) return { how: 'taken' };
        await clock.sleep(60_000, AbortSignal.any([cut, ending.signal]));
        return { how: 'taken' };
      },
    };
    const { until, drain } = delivering(store, hanging);
    await until(async () => (await store.counts()).get('app')?.waiting === 1);
    expect(got).toHaveLength(4);
    ending.abort();
    await drain(1_000);
    expect((await store.counts()).get('app')?.waiting ?? 0).toBe(0);
    await store.close();
  });

  test('told to end, it delivers more than it has in hand, and leaves to others what came to them since', {
    tags: ['long'],
  }, async () => {
    const store = await (await make()).open();
    const all = Array.from({ length: piece + 10 }, (_, n) => `evt_${n}`);
    await Promise.all(all.map((id) => store.add(arrival(id))));
    const got: string[] = [];
    const late = new Date(Date.now() + 60_000).toISOString();
    const sink = sinkOf(() => 'taken', got);
    const taking: Sink = {
      ...sink,
      async send(events, cut) {
        // It is there before the last of the others is, however long the disk takes.
        if (events[0]?.id === all[piece + 3]) await store.add(arrival('evt_late', ['app'], { at: late }));
        return sink.send(events, cut);
      },
    };
    const { drain } = delivering(store, taking);
    await drain(30_000);
    expect(got.slice(0, all.length)).toEqual(all);
    expect((await store.counts()).get('app')?.waiting ?? 0).toBe(store.isShared ? 1 : 0);
    await store.close();
  });

  const exchanging = createExchange({});
  // What an app does is the sink's to judge, whatever the inbox is.
  test.each(name === 'Postgres' ? inTurn(apps, 0, 3) : apps)(
    'an app that %s has not taken the event',
    { tags: ['long'] },
    async (_, behaviour, error) => {
      const store = await (await make()).open();
      endings.push(() => store.close());
      await store.add(arrival('a'));
      const { url } = await serving(behaviour);
      const timeoutMs = error === 'timeout' ? 150 : 20_000;
      const { details, until } = delivering(store, httpSink({ name: 'app', url, timeoutMs }, await exchanging));
      await until(() => details.length === 3);
      expect(details.map(({ outcome }) => [outcome.state, outcome.error])).toEqual([
        ['failed', error],
        ['failed', error],
        ['dead', error],
      ]);
    },
  );

  test('an HTTP sink gets the very bytes and the original headers', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    endings.push(() => store.close());
    const app = await startApp();
    endings.push(() => app.close());
    await store.add(arrival('a', ['app'], { headers: { 'x-svc-signature': 'abc', connection: 'close' } }));
    const { until } = delivering(store, httpSink({ name: 'app', url: app.url, timeoutMs: 20_000 }, await exchanging));
    await until(() => app.got.length === 1);
    expect(app.got[0]).toMatchObject({ body: arrival('a').body.toString(), headers: { 'x-svc-signature': 'abc' } });
  });
});

const newFolder = () => mkdtempSync(join(tmpdir(), 'svc-sink-'));
const never = new AbortController().signal;
const program = (script: string, timeoutMs = 60_000, folder = newFolder()) => {
  writeFileSync(join(folder, 'run.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { folder, sink: programSink({ name: 'crm', command: ['./run.sh', '$(id)'], folder, timeoutMs }, clock) };
};

plain(
  'a program gets the envelope on standard input, in the folder of the configuration, without a shell',
  { tags: ['long'] },
  async () => {
    const { folder, sink } = program('cat > got; printf %s "$1" > arg');
    expect(await sink.send([arrival('$(touch x)')], never)).toEqual({ how: 'taken' });
    expect(readFileSync(join(folder, 'got'), 'utf8')).toBe(`${arrival('$(touch x)').body}\n`);
    expect(readFileSync(join(folder, 'arg'), 'utf8')).toBe('$(id)');
  },
);

plain.each([
  ['exits with 3', 'echo "no such customer" >&2; exit 3', 'exit 3: no such customer'],
  ['kills itself', 'kill -9 $$', 'ended by SIGKILL'],
  ['does not read its input', 'exit 1', 'exit 1'],
  ['hangs', 'sleep 100', 'timeout'],
  ['hangs and ignores SIGTERM', 'trap "" TERM; sleep 100', 'timeout'],
  ['floods its output', 'exec yes x >&2', 'timeout'],
])('a program that %s has not taken the event', { tags: ['long'] }, async (_, script, error) => {
  // Only what never ends is ended: on a busy machine the others take their time.
  const { sink } = program(script, error === 'timeout' ? 300 : 60_000);
  const big = arrival('a', ['crm'], { body: Buffer.alloc(1_000_000, 120) });
  expect(await sink.send([big], never)).toEqual({ how: 'refused', error });
});

plain(
  'a program whose child holds its output open has taken the event when it ends, and the child ends with it',
  { tags: ['long'] },
  async () => {
    const { folder, sink } = program('sleep 100 & echo $! > child; exit 0');
    expect(await sink.send([arrival('a')], never)).toEqual({ how: 'taken' });
    const child = Number(readFileSync(join(folder, 'child'), 'utf8'));
    for (let waited = 0; waited < 60_000 && lives(child); waited += 10) await sleep(10);
    expect(lives(child)).toBe(false);
  },
);

const lives = (pid: number): boolean => {
  try {
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

plain('a program that is not there has not taken the event', async () => {
  const sink = programSink({ name: 'crm', command: ['./nothing'], folder: newFolder(), timeoutMs: 1000 }, clock);
  expect(await sink.send([arrival('a')], never)).toEqual({
    how: 'refused',
    error: 'the program ./nothing is not there',
  });
});

/** Time passes only where the sink says so. */
function steppedClock() {
  let now = 0;
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const stepped: Clock = {
    now: () => new Date(now),
    ticks: () => now,
    async sleep(ms, signal) {
      for (const end = now + ms; now < end && !signal?.aborted; ) await turn();
    },
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      now += 100;
      await turn();
    }
  };
  return { stepped, pass };
}

plain('at the end of a drain nothing is cut off: what would not be over in time is not begun', async () => {
  const { stepped, pass } = steppedClock();
  const store = await openFolder({ folder: newFolder(), limit: 100, now: () => new Date() });
  for (let n = 0; n < 60; n++) await store.add(arrival(`evt_${n}`));
  const told = { began: 0, cut: 0, delivered: 0 };
  let begun = () => {};
  const first = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const worker = startDeliveryWorker({
    sink: {
      name: 'app',
      most: 1,
      async send(_, cut) {
        told.began++;
        begun();
        await pass(800);
        if (cut.aborted) told.cut++;
        return cut.aborted ? { how: 'cut' } : { how: 'taken' };
      },
    },
    store,
    retry,
    clock: stepped,
    onSettled: () => told.delivered++,
    onProblem: () => {},
  });
  await first;
  await worker.drain(20_000);
  expect(told).toEqual({ began: told.delivered, cut: 0, delivered: told.delivered });
  expect(told.delivered).toBeGreaterThan(15);
  expect((await store.counts()).get('app')?.waiting).toBe(60 - told.delivered);
  await store.close();
});

plain('a file gets one line an event, also after a line that was cut off', async () => {
  const path = join(newFolder(), 'deep', 'events.jsonl');
  const sink = fileSink({ name: 'archive', path, timeoutMs: 30_000 });
  const pretty = arrival('pretty', [], { body: Buffer.from('{\n  "id": "pretty",\n  "event": "x"\n}') });
  expect(await sink.send([arrival('a'), pretty], never)).toEqual({ how: 'taken' });
  writeFileSync(path, '{"torn', { flag: 'a' });
  await sink.send([arrival('odd', [], { body: Buffer.from([255]), unreadable: 'not JSON' })], never);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines[0]).toBe(arrival('a').body.toString());
  expect(JSON.parse(lines[1] ?? '')).toEqual({ id: 'pretty', event: 'x' });
  expect(lines[2]).toBe('{"torn');
  expect(JSON.parse(lines[3] ?? '')).toMatchObject({ id: 'odd', unreadable: 'not JSON', base64: '/w==' });
});

plain('a file that cannot be written has not taken the event', async () => {
  const folder = newFolder();
  const sink = fileSink({ name: 'archive', path: folder, timeoutMs: 30_000 });
  expect(await sink.send([arrival('a')], never)).toMatchObject({
    how: 'refused',
    error: expect.stringContaining('it is a folder'),
  });
});

plain('a pipe that nobody reads is refused at once, and never waited for', async () => {
  const path = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const sink = fileSink({ name: 'archive', path, timeoutMs: 30_000 });
  const large = arrival('a', [], { body: Buffer.from(`{"id":"a","text":"${'x'.repeat(200_000)}"}`) });
  expect(await sink.send([large], never)).toEqual({
    how: 'refused',
    error: `${path} is a pipe or a device, and no file`,
  });
});
