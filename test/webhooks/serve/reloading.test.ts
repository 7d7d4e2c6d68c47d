import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { Failure } from '../../../src/errors.ts';
import type { Door } from '../../../src/webhooks/receive/options.ts';
import { type Configured, readServeConfig } from '../../../src/webhooks/serve/config.ts';
import { type Current, reloading } from '../../../src/webhooks/serve/reloading.ts';
import type { Sinks } from '../../../src/webhooks/serve/sinks.ts';
import { endAfterEach } from '../../endings.ts';
import { createWorld, virtualClock } from '../../svc.ts';
import { startApp } from '../listening.ts';
import { body, deliver, newWorld, serving } from '../serving.ts';

const endings = endAfterEach();

/** What a reload touches of the world, and what a test does to it. */
function hearing() {
  const said: string[] = [];
  let hangup: () => void = () => {};
  const { env } = createWorld(() => Promise.reject(new Error('nobody is asked')));
  const ports: Pick<Context, 'clock' | 'env' | 'notice' | 'onHangup'> = {
    env,
    clock: virtualClock(),
    notice: (text) => said.push(text),
    onHangup: (listener) => {
      hangup = listener;
      return () => {};
    },
  };
  return { ports, said, hangup: () => hangup() };
}

test('a configuration whose reading hangs, as of a pipe, is refused after 8 s, and holds up no later one', async () => {
  const { ports, said, hangup } = hearing();
  let reads = 0;
  const read = () =>
    ++reads === 1 ? new Promise<never>(() => {}) : Promise.reject(new Failure('usage', 'It is bad.'));
  const never = () => {
    throw new Error('nothing was read');
  };
  reloading(
    ports,
    { read, doorsOf: never, placeOf: never },
    {
      current: {
        doors: [],
        get configured() {
          return never();
        },
      },
      sinks: { change: never },
      store: { counts: never },
    },
  );
  hangup();
  hangup();
  await expect.poll(() => said).toHaveLength(2);
  const refused = 'The configuration was refused, and the old one stays.';
  expect(said).toEqual([`${refused} It took more than 8 seconds.`, `${refused} It is bad.`]);
});

/** A good configuration, whose one sink goes to the URL. */
async function configured(url: string): Promise<Configured> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'svc-webhooks.yaml');
  writeFileSync(file, `sinks: [{ name: app, http: { url: "${url}" } }]\n`);
  return readServeConfig({ stdin: process.stdin, signal: new AbortController().signal }, file);
}

/** A reload of one good configuration to another, whose doors are those. */
async function reloaded(doors: readonly Door[], change: Sinks['change']) {
  const { ports, said, hangup } = hearing();
  const [before, next] = [await configured('http://127.0.0.1:1/'), await configured('http://127.0.0.1:2/')];
  const current: Current = { doors: [], configured: before };
  reloading(
    ports,
    { read: async () => next, doorsOf: async () => doors, placeOf: () => ({ folder: '/inbox' }) },
    { current, sinks: { change }, store: { counts: async () => new Map() } },
  );
  hangup();
  return { said, before, next, current };
}

const newDoors = [{ path: '/new', secrets: [] }];

test('where the sinks cannot be changed the old configuration stays, doors and all', async () => {
  const { said, before, current } = await reloaded(newDoors, () =>
    Promise.reject(new Error('its credentials cannot be read')),
  );
  await expect.poll(() => said).toHaveLength(1);
  expect(said[0]).toBe('The configuration was refused, and the old one stays. its credentials cannot be read');
  expect([current.configured, current.doors]).toEqual([before, []]);
});

test('what fails once the doors are the new ones is not called refused', async () => {
  const { said, next, current } = await reloaded(newDoors, async (_, onChanged) => {
    onChanged();
    throw new Error('One sink did not begin.');
  });
  await expect.poll(() => said).toHaveLength(1);
  expect(said[0]).toBe('The configuration was read again, and not all of it works. One sink did not begin.');
  expect([current.configured.file, current.doors]).toEqual([next.file, newDoors]);
});

test('the new doors open before the old sinks have let go of what they have in hand', async () => {
  let letGo = () => {};
  const { said, next, current } = await reloaded(newDoors, async (_, onChanged) => {
    onChanged();
    await new Promise<void>((resolve) => {
      letGo = resolve;
    });
  });
  await expect.poll(() => current.doors).toEqual(newDoors);
  expect([current.configured.file, said]).toEqual([next.file, []]);
  letGo();
  await expect.poll(() => said).toEqual(['The configuration was read again: 1 sink.']);
});

test('a door that a reload adds takes what comes while the sink that it changes is still at work', async () => {
  let release: (status: number) => void = () => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  const [world, slow, other] = [await newWorld(), await startApp(0, () => held), await startApp()];
  for (const app of [slow, other]) endings.push(() => app.close());
  const config = (url: string, path: string) =>
    `listen: { port: 0, path: ${path} }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${url}" } }\n`;
  const served = await serving(world, config(slow.url, '/'));
  expect(await deliver(served.url, body('a'))).toBe(204);
  await served.until(() => slow.got.length === 1);
  served.reload(config(other.url, '/new'));
  const at = new URL('/new', served.url).href;
  await expect.poll(() => deliver(at, body('b'))).toBe(204);
  expect(other.ids()).toEqual([]);
  release(200);
  await served.until(() => other.ids().includes('b'));
  await served.end();
});

test('told to end while a reload stops its old sinks, it begins none that nobody would end', {
  tags: ['long'],
}, async () => {
  const holding = () => {
    let release: (status: number) => void = () => {};
    const held = new Promise<number>((resolve) => {
      release = resolve;
    });
    return { held, release: () => release(200) };
  };
  const [first, second] = [holding(), holding()];
  const [world, slow, other, kept] = [
    await newWorld(),
    await startApp(0, () => first.held),
    await startApp(),
    await startApp(0, () => second.held),
  ];
  for (const app of [slow, other, kept]) endings.push(() => app.close());
  // The sink that stays holds up the end, while the one that was changed has stopped.
  const config = (url: string, port = 0) =>
    `listen: { port: ${port} }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${url}" } }\n  - { name: kept, http: { url: "${kept.url}" } }\n`;
  const served = await serving(world, config(slow.url));
  for (const id of ['a', 'b']) expect(await deliver(served.url, body(id))).toBe(204);
  await served.until(() => slow.got.length === 1 && kept.got.length === 1);
  served.reload(config(other.url, 8000));
  await served.until(() => served.said().includes('listen.port changes only with a restart'));
  const ended = served.end();
  await served.until(() => served.said().includes('Ending: '));
  first.release();
  // As long as one that was begun would need.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  second.release();
  const { stdout } = await ended;
  expect([slow.ids(), other.ids()]).toEqual([['a'], []]);
  expect(JSON.parse(stdout).sinks).toMatchObject([{ name: 'app', delivered: 1, waiting: 1 }, { name: 'kept' }]);
  expect(served.said()).not.toContain('was read again');
});
