import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../../src/auth/store-file.ts';
import { readingAgain } from '../../../src/webhooks/receive/later-secrets.ts';
import { keepSecret } from '../../../src/webhooks/subscriptions/secrets.ts';
import { endAfterEach } from '../../endings.ts';
import { virtualClock } from '../../svc.ts';
import { listening } from '../listening.ts';
import { body, deliver, newWorld, serving } from '../serving.ts';

const endings = endAfterEach();
let said: string[] = [];
const notice = (text: string) => void said.push(text);
afterEach(() => {
  said = [];
});

test('however many ask, the secrets are read once a second, and each gets a reading that began after its question', async () => {
  const clock = virtualClock();
  const readings: number[] = [];
  const again = readingAgain({ clock, notice }, async () => {
    readings.push(clock.ticks());
  });
  const began = clock.ticks();
  await Promise.all(Array.from({ length: 50 }, again));
  await Promise.all(Array.from({ length: 50 }, again));
  expect(readings.map((at) => at - began)).toEqual([0, 1_000]);
});

test('a question during a reading waits for the next one', async () => {
  const virtual = virtualClock();
  // The limit of a reading is never reached.
  const clock = { ...virtual, sleep: (ms: number) => (ms > 1_000 ? new Promise<void>(() => {}) : virtual.sleep(ms)) };
  const ends: (() => void)[] = [];
  const again = readingAgain({ clock, notice }, () => new Promise((resolve) => ends.push(() => resolve())));
  const untilBegun = async (count: number) => {
    while (ends.length < count) await new Promise(setImmediate);
  };
  const first = again();
  await untilBegun(1);
  const second = again();
  ends[0]?.();
  expect(await first).toBe(true);
  await untilBegun(2);
  ends[1]?.();
  expect(await second).toBe(true);
});

test('a reading that fails says so, and the next one is tried', async () => {
  let isThere = false;
  const again = readingAgain({ clock: virtualClock(), notice }, () =>
    isThere ? Promise.resolve() : Promise.reject(new Error('locked')),
  );
  expect(await again()).toBe(false);
  isThere = true;
  expect(await again()).toBe(true);
});

test('a reading that hangs fails after eight seconds, is told once, and no other begins before it is over', async () => {
  const clock = virtualClock();
  let begun = 0;
  let end = () => {};
  const again = readingAgain({ clock, notice }, () => {
    begun++;
    return new Promise((resolve) => {
      end = resolve;
    });
  });
  const began = clock.ticks();
  expect(await again()).toBe(false);
  expect(clock.ticks() - began).toBe(8_000);
  expect(await again()).toBe(false);
  expect(begun).toBe(1);
  expect(said).toEqual([
    'The stored secrets cannot be read (It took more than 8 seconds): what fits no other is not answered, so that the service sends it again.',
  ]);
  end();
  const last = again();
  while (begun < 2) await new Promise(setImmediate);
  end();
  expect(await last).toBe(true);
});

test('what is stored while serve runs is known with the next delivery, and so while listen does', {
  tags: ['long'],
}, async () => {
  const world = await newWorld();
  const served = await serving(
    world,
    'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: a.jsonl } }]\n',
  );
  endings.push(() => served.end());
  const store = openStore({
    folder: join(world.folder, 'config'),
    clock: world.clock,
    random: (bytes) => new Uint8Array(bytes),
    warn: () => {},
  });
  await keepSecret(store, 'default', 1, 'first');
  expect(await deliver(served.url, body('a'), 'first')).toBe(204);
  const listener = await listening(world, []);
  endings.push(() => listener.end());
  await keepSecret(store, 'default', 2, 'second');
  for (const { url } of [served, listener]) expect(await deliver(url, body('b'), 'second')).toBe(204);
  expect(await deliver(served.url, body('c'), 'third')).toBe(401);
});
