// A folder inbox that is rewritten while serve works: nothing accepted is lost, killed, doubled or brought out of order.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../../src/context.ts';
import type { Sink } from '../../../src/webhooks/deliver/sink.ts';
import { startDeliveryWorker } from '../../../src/webhooks/deliver/worker.ts';
import { openFolder } from '../../../src/webhooks/store/folder/folder-store.ts';
import { openInbox } from '../../../src/webhooks/store/folder/inbox.ts';
import { type Built, buildSvc } from '../../built.ts';
import { endAfterEach } from '../../endings.ts';
import { draws } from '../../thorough.ts';
import { startApp } from '../listening.ts';
import { body, deliver, secret } from '../serving.ts';
import { arrival, outcome } from '../stores.ts';

const endings = endAfterEach();
let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});

/** Each rewrite is the same race again: where SVC_TEST_RUNS asks for more, there are more of them. */
const many = process.env.SVC_TEST_RUNS ? 5_000 : draws(500, 2_000);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A clock whose sleeps end after a turn of the event loop: pauses take no time, and everything still interleaves. */
const quickClock: Clock = { now: () => new Date(), ticks: () => performance.now(), sleep: turn };

/** A disk each of whose steps takes as many turns of the event loop as `turns` says. */
function unevenDisk(turns: () => number) {
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    for (const step of ['read', 'write', 'datasync', 'sync', 'stat', 'truncate'] as const) {
      const real = file[step].bind(file) as (...all: unknown[]) => Promise<unknown>;
      Object.defineProperty(file, step, {
        value: async (...all: unknown[]) => {
          for (let left = turns(); left > 0; left--) await turn();
          return real(...all);
        },
      });
    }
    return file;
  };
  return { openFile };
}

const plans = fc.record({
  keep: fc.integer({ min: 1, max: 60 }),
  events: fc.integer({ min: 50, max: 250 }),
  atOnce: fc.integer({ min: 1, max: 24 }),
  /** Few lines: then nearly all is in the index, and little in memory. */
  indexedAfter: fc.constantFrom(5, 40, 100_000),
  /** How many turns a step of the disk takes. */
  turns: fc.infiniteStream(fc.integer({ min: 0, max: 4 })),
  /** What a sink does with an attempt: 0 refuses, the others take after so many turns. */
  answers: fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
});

test('whatever the disk and the sinks do, each accepted event reaches each sink once, in order, and none is dead', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ keep, events, atOnce, indexedAfter, turns, answers }) => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
      const disk = { ...unevenDisk(() => turns.next().value ?? 0), indexedAfter };
      const store = await openFolder({ folder, limit: keep, now: () => new Date(), disk });
      const got: Record<string, string[]> = { app: [], crm: [] };
      const odd: string[] = [];
      const sinkOf = (name: string): Sink => ({
        name,
        most: 1,
        async send([event]) {
          const how = answers.next().value ?? 1;
          for (let left = how; left > 0; left--) await turn();
          if (how === 0) return { how: 'refused', error: 'no' };
          got[name]?.push(JSON.parse(String(event?.body)).id);
          return { how: 'taken' };
        },
      });
      const workers = ['app', 'crm'].map((name) =>
        startDeliveryWorker({
          sink: sinkOf(name),
          store,
          retry: { attempts: 1_000, maxAgeMs: Number.POSITIVE_INFINITY, pauseMs: 1 },
          clock: quickClock,
          onSettled: (sink, { id, outcome: { state } }) => {
            if (state !== 'delivered' && state !== 'failed') odd.push(`${id} ${sink} ${state}`);
          },
          onProblem: (sink, error) => odd.push(`${sink}: ${error}`),
        }),
      );
      const accepted: string[] = [];
      let next = 0;
      const sender = async () => {
        while (next < events) {
          const id = `evt_${next++}`;
          accepted.push(id);
          expect(await store.add(arrival(id, ['app', 'crm']))).toBe('stored');
        }
      };
      await Promise.all(Array.from({ length: atOnce }, sender));
      const isThrough = async () => [...(await store.counts()).values()].every(({ waiting }) => waiting === 0);
      while (!(await isThrough())) await turn();
      await Promise.all(workers.map((worker) => worker.stop(1_000)));
      await store.close();
      expect(odd).toEqual([]);
      expect(got).toEqual({ app: accepted, crm: accepted });
    }),
    { numRuns: draws(3, 12) },
  );
});

test('serve with keep 20 delivers many times as many events, each once and in order, while it rewrites its inbox all the time', {
  tags: ['long'],
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rewritten-'));
  const app = await startApp();
  endings.push(() => app.close());
  writeFileSync(
    join(folder, 'c.yaml'),
    `listen: { port: 0 }\ninbox: inbox\nkeep: 20\nsinks:\n  - { name: app, http: { url: "${app.url}" } }\n  - { name: archive, file: { path: archive.jsonl } }\n`,
  );
  const env = { PATH: process.env.PATH, SVC_STATE_DIR: folder, SVC_CONFIG_DIR: folder, SVC_TOKEN_STORE: 'file' };
  const argv = [built.script, 'webhooks', 'serve', '--config', join(folder, 'c.yaml'), '--json'];
  const child = spawn(process.execPath, argv, { env: { ...env, SVC_WEBHOOK_SECRET: secret } });
  const gone = once(child, 'exit');
  endings.push(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    said.out += text;
  });
  await new Promise<void>((ready) => {
    child.stderr.on('data', (text) => {
      said.err += text;
      if (said.err.includes('Listening on')) ready();
    });
  });
  const url = /Listening on (\S+),/u.exec(said.err)?.[1] ?? '';
  const accepted: string[] = [];
  let next = 0;
  const sender = async () => {
    while (next < many) {
      const id = `evt_${next++}`;
      if ((await deliver(url, body(id))) === 204) accepted.push(id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
  for (let waited = 0; app.got.length < accepted.length && waited < 60_000; waited += 20) await sleep(20);
  child.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
  const archived = readFileSync(join(folder, 'archive.jsonl'), 'utf8').trimEnd().split('\n');
  expect(accepted).toHaveLength(many);
  expect(said.err).not.toContain('dead');
  expect([app.ids().length, archived.length]).toEqual([many, many]);
  expect(new Set(app.ids())).toEqual(new Set(accepted));
  expect(archived.map((line) => JSON.parse(line).id)).toEqual(app.ids());
  expect(JSON.parse(said.out).sinks.map(({ dead }: { dead: number }) => dead)).toEqual([0, 0]);
});

test('a disk that refuses one read costs nothing; an event whose line is surely damaged is a dead letter that says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const disk = { refuses: 0 };
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    const read = file.read.bind(file) as (...all: unknown[]) => Promise<unknown>;
    Object.defineProperty(file, 'read', {
      value: async (...all: unknown[]) => {
        if (disk.refuses-- > 0) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
        return read(...all);
      },
    });
    return file;
  };
  const store = await openFolder({ folder, limit: 100, now: () => new Date(), disk: { openFile } });
  for (const id of ['a', 'b', 'c']) await store.add(arrival(id));
  const path = join(folder, 'inbox.jsonl');
  // One line of the same length, so that all others stay where they are.
  await writeFile(path, (await readFile(path, 'latin1')).replace('{"id":"b"', '{"id":"?"'), 'latin1');
  disk.refuses = 1;
  const got: string[] = [];
  const settled: string[] = [];
  const problems: string[] = [];
  const worker = startDeliveryWorker({
    sink: {
      name: 'app',
      most: 1,
      async send([event]) {
        got.push(String(event?.id));
        return { how: 'taken' };
      },
    },
    store,
    retry: { attempts: 3, maxAgeMs: Number.POSITIVE_INFINITY, pauseMs: 1 },
    clock: quickClock,
    onSettled: (_, { id, outcome: { state, error } }) => settled.push(`${id} ${state} ${error ?? ''}`.trim()),
    onProblem: (_, error) => problems.push(String(error)),
  });
  while (settled.length < 3) await turn();
  await worker.stop(1_000);
  await store.close();
  expect(got).toEqual(['a', 'c']);
  expect(problems).toEqual(['Error: i/o error']);
  expect([...settled].sort()).toEqual([
    'a delivered',
    'b dead its line in the inbox is damaged, and what it held is lost',
    'c delivered',
  ]);
});

test('a line that somebody moved within the file is found again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const inbox = await openInbox(folder, { limit: 100 });
  for (const id of ['a', 'b']) await inbox.add(arrival(id));
  await inbox.settle('b', outcome('failed', 3));
  const path = join(folder, 'inbox.jsonl');
  const [limit, ...lines] = (await readFile(path, 'utf8')).replaceAll('\0', '').trimEnd().split('\n');
  await writeFile(path, [limit, ...lines.reverse()].map((line) => `${line}\n`).join(''));
  expect((await inbox.read('b'))?.arrival.id).toBe('b');
  expect((await inbox.read('a'))?.arrival.id).toBe('a');
  await inbox.close();
});

test('a file that somebody edited in place is not rewritten by places that do not hold any more: what waits stays whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const inbox = await openInbox(folder, { limit: 10 });
  for (const id of ['waits', 'edited', 'waits too']) await inbox.add(arrival(id));
  const path = join(folder, 'inbox.jsonl');
  await writeFile(path, (await readFile(path, 'latin1')).replace('"edited"', '"edited and longer"'), 'latin1');
  for (let n = 0; n < 200; n++) await inbox.add(arrival(`evt_${n}`, []));
  for (const id of ['waits', 'waits too', 'evt_199']) expect((await inbox.read(id))?.arrival.id, id).toBe(id);
  await inbox.close();
  const again = await openInbox(folder, { limit: 10 });
  for (const id of ['waits', 'waits too', 'evt_199']) expect((await again.read(id))?.arrival.id, id).toBe(id);
  await again.close();
});

test('an event that somebody took out of the file is stored when it comes once more; one that stands there is a repeat', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const inbox = await openInbox(folder, { limit: 10 });
  for (const id of ['a', 'gone', 'b']) await inbox.add(arrival(id));
  const path = join(folder, 'inbox.jsonl');
  const lines = (await readFile(path, 'latin1')).split('\n');
  await writeFile(path, lines.filter((line) => !line.includes('"gone"')).join('\n'), 'latin1');
  expect(inbox.has('gone')).toBe(false);
  const [a, b, ...gone] = await Promise.all(['a', 'b', 'gone', 'gone'].map((id) => inbox.add(arrival(id))));
  expect([a, b]).toEqual(['repeat', 'repeat']);
  // Both look into the file first, and either may be the one that comes back sooner.
  expect(gone.sort()).toEqual(['repeat', 'stored']);
  await inbox.close();
  const again = await openInbox(folder, { limit: 10 });
  for (const id of ['a', 'gone', 'b']) expect((await again.read(id))?.arrival.id, id).toBe(id);
  await again.close();
});

test('with ten times the limit waiting, a delivery costs no more than at first', { tags: ['long'] }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  let copied = 0;
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    if (String(args[0]).endsWith('.next')) copied++;
    return file;
  };
  const store = await openFolder({ folder, limit: 20, now: () => new Date(), disk: { openFile } });
  const looks = { count: 0 };
  const real = Map.prototype[Symbol.iterator];
  Map.prototype[Symbol.iterator] = function (this: Map<unknown, unknown>) {
    if (this.size >= 200) looks.count++;
    return real.call(this);
  };
  try {
    for (let n = 0; n < 200; n++) await store.add(arrival(`waits_${n}`));
    // These are through at once, and so may go.
    for (let n = 0; n < 1_000; n++) await store.add(arrival(`evt_${n}`, []));
  } finally {
    Map.prototype[Symbol.iterator] = real;
  }
  await store.close();
  // A rewriting for each arrival would be a thousand.
  expect(looks.count).toBeLessThan(20);
  expect(copied).toBeGreaterThan(2);
  expect(copied).toBeLessThan(10);
});

/** A disk on which the copy of a rewritten inbox goes no further until it may. */
function heldCopy() {
  let open_ = () => {};
  const gate = new Promise<void>((resolve) => {
    open_ = resolve;
  });
  const held = { count: 0, isOver: false };
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    if (!String(args[0]).endsWith('.next') && !String(args[0]).endsWith('.new')) return file;
    const write = file.write.bind(file) as (...all: unknown[]) => Promise<unknown>;
    const close = file.close.bind(file);
    Object.defineProperty(file, 'write', {
      value: async (...all: unknown[]) => {
        held.count++;
        await gate;
        return write(...all);
      },
    });
    Object.defineProperty(file, 'close', {
      value: async () => {
        held.isOver = true;
        return close();
      },
    });
    return file;
  };
  return { openFile, held, goOn: open_ };
}

test('while the file is copied, deliveries are accepted, settled and read, and all of them are in the new file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const { openFile, held, goOn } = heldCopy();
  const inbox = await openInbox(folder, { limit: 100, openFile });
  const length = async () => (await readFile(join(folder, 'inbox.jsonl'))).length;
  await inbox.add(arrival('waits'));
  for (let n = 0; held.count === 0; n++) await inbox.add(arrival(`old_${n}`, []));
  const before = await length();
  for (let n = 0; n < 100; n++) await inbox.add(arrival(`new_${n}`));
  for (let n = 0; n < 50; n++) await inbox.settle(`new_${n}`, outcome('delivered'));
  await inbox.settle('waits', outcome('failed', 3));
  expect((await inbox.read('waits'))?.outcomes).toHaveLength(1);
  expect((await inbox.read('new_7'))?.outcomes).toHaveLength(1);
  expect(await length()).toBeGreaterThanOrEqual(before);
  goOn();
  while (inbox.has('old_0')) await turn();
  const look = async (one: typeof inbox) => {
    expect((await one.read('waits'))?.outcomes).toMatchObject([{ state: 'failed', tries: 3 }]);
    for (let n = 0; n < 100; n++) {
      const found = await one.read(`new_${n}`);
      expect([found?.arrival.id, found?.outcomes.length]).toEqual([`new_${n}`, n < 50 ? 1 : 0]);
    }
    expect(one.queues.counts().get('app')).toEqual({ waiting: 51, dead: 0 });
    expect(one.queues.first('app', 2).map(({ id }) => id)).toEqual(['waits', 'new_50']);
  };
  await look(inbox);
  await inbox.add(arrival('last'));
  expect((await inbox.read('last'))?.arrival.id).toBe('last');
  await inbox.settle('last', outcome('delivered'));
  await inbox.close();
  const again = await openInbox(folder, { limit: 100 });
  await look(again);
  expect((await again.read('last'))?.outcomes).toHaveLength(1);
  await again.close();
  expect((await readdir(folder)).filter((name) => name !== 'inbox.jsonl')).toEqual([]);
});

test('a copy that is not done when the inbox is closed is given up, and nothing is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const { openFile, held, goOn } = heldCopy();
  const inbox = await openInbox(folder, { limit: 100, openFile });
  await inbox.add(arrival('waits'));
  for (let n = 0; held.count === 0; n++) await inbox.add(arrival(`old_${n}`, []));
  await inbox.add(arrival('late'));
  const closing = inbox.close();
  goOn();
  await closing;
  expect(held.isOver).toBe(true);
  expect((await readdir(folder)).filter((name) => name !== 'inbox.jsonl')).toEqual([]);
  // As a killed process leaves it.
  await writeFile(join(folder, '.inbox.jsonl.next'), 'half a co');
  const again = await openInbox(folder, { limit: 100 });
  expect((await readdir(folder)).filter((name) => name !== 'inbox.jsonl')).toEqual([]);
  expect(again.has('old_0')).toBe(true);
  for (const id of ['waits', 'late']) expect((await again.read(id))?.arrival.id).toBe(id);
  await again.close();
});

test('a rewriting keeps what it knows by its id, also where JSON writes that id otherwise', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-rewritten-'));
  const inbox = await openInbox(folder, { limit: 10 });
  const odd = ['a"b', 'back\\slash', 'line\nfeed', 'é 😀', '"', '\\'];
  await inbox.add({ ...arrival('waits', []), to: 'http://127.0.0.1:1/' });
  for (let n = 0; n < 200; n++) await inbox.add(arrival(`evt_${n}`, []));
  for (const id of odd) await inbox.add(arrival(id, []));
  const sizeOf = async () => (await readFile(join(folder, 'inbox.jsonl'), 'utf8')).match(/"evt_/gu)?.length ?? 0;
  for (let n = 200; (await sizeOf()) > 150; n++) await inbox.add(arrival(`evt_${n}`, []));
  const there = async (each: Awaited<ReturnType<typeof openInbox>>) => {
    for (const id of odd.filter((id) => each.has(id))) expect((await each.read(id))?.arrival.id).toBe(id);
    expect((await each.read('waits'))?.arrival.to).toBe('http://127.0.0.1:1/');
    return each.waiting();
  };
  expect(await there(inbox)).toEqual(['waits']);
  await inbox.close();
  const again = await openInbox(folder, { limit: 10 });
  expect(await there(again)).toEqual(['waits']);
  await again.close();
});
