import { expect, test } from 'vitest';
import { readingAgain } from '../../src/webhooks/receiving/later-secrets.ts';
import { virtualClock } from '../svc.ts';

test('however many ask, the secrets are read once a second, and each gets a reading that began after its question', async () => {
  const clock = virtualClock();
  const readings: number[] = [];
  const again = readingAgain(clock, async () => {
    readings.push(clock.ticks());
  });
  const began = clock.ticks();
  await Promise.all(Array.from({ length: 50 }, again));
  await Promise.all(Array.from({ length: 50 }, again));
  expect(readings.map((at) => at - began)).toEqual([0, 1_000]);
});

test('a question during a reading waits for the next one', async () => {
  const clock = virtualClock();
  const ends: (() => void)[] = [];
  const again = readingAgain(clock, () => new Promise((resolve) => ends.push(() => resolve())));
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
  const again = readingAgain(virtualClock(), () => (isThere ? Promise.resolve() : Promise.reject(new Error('locked'))));
  expect(await again()).toBe(false);
  isThere = true;
  expect(await again()).toBe(true);
});
