// How a process keeps a lock that it holds, and gives it back.
import { mkdirSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tryLock } from '../../src/disk/lock/lock.ts';
import { hold } from '../../src/disk/lock/lock-hold.ts';
import { endAfterEach } from '../endings.ts';
import { agedLocks } from '../locks.ts';
import { virtualClock } from '../svc.ts';

const endings = endAfterEach();
const name = 'this-machine.5.1.own.00aa-4026531111';
const freshFolder = () => mkdtemp(join(tmpdir(), 'svc-beat-'));

/** A lock that a process of another container holds, by a virtual clock. */
async function heldElsewhere() {
  const folder = await freshFolder();
  const entry = join(folder, name);
  writeFileSync(entry, '');
  const clock = virtualClock();
  const held = hold({ folder, name, isTakenOver: false, clock });
  endings.push(() => held.release());
  return { folder, entry, clock, held };
}

const stampOf = (path: string) => statSync(path).mtimeMs;

test.each([
  ['the monotonic clock went on, and the wall clock was set back by as much', 60_000, -60_000],
  ['the machine slept: only the wall clock went on', 0, 60_000],
  ['the wall clock was set back', 0, -60_000],
])('a beat is due where %s', async (_, ticks, wall) => {
  const { folder, entry, clock, held } = await heldElsewhere();
  agedLocks(folder);
  const aged = stampOf(entry);
  held.check();
  expect(stampOf(entry)).toBe(aged);
  clock.advance(ticks);
  clock.set(wall);
  held.check();
  expect(stampOf(entry)).toBeGreaterThan(aged + 60_000);
});

test('a holder that is asked all the time beats each second', async () => {
  const { folder, entry, clock, held } = await heldElsewhere();
  agedLocks(folder);
  const aged = stampOf(entry);
  for (let asked = 0; asked < 3; asked++) {
    clock.advance(400);
    held.check();
  }
  expect(stampOf(entry)).toBeGreaterThan(aged + 60_000);
});

test('a holder that nobody asks beats by itself', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { folder, entry, clock } = await heldElsewhere();
  agedLocks(folder);
  const aged = stampOf(entry);
  clock.advance(10_000);
  vi.advanceTimersByTime(10_000);
  expect(stampOf(entry)).toBeGreaterThan(aged + 60_000);
});

test('an entry that cannot be opened is stamped all the same', async () => {
  const { entry, clock, held } = await heldElsewhere();
  rmSync(entry);
  // As where too many files are open: what is asked for it fails, and it is there.
  mkdirSync(entry);
  const aged = new Date(Date.now() - 95_000);
  utimesSync(entry, aged, aged);
  clock.advance(60_000);
  held.check();
  expect(Date.now() - stampOf(entry)).toBeLessThan(30_000);
  rmdirSync(entry);
});

test('an entry that its disk does not remove is told of, and its own process does not wait for it', async () => {
  const folder = await freshFolder();
  const held = await tryLock(folder);
  const entry = held?.entry ?? '';
  rmSync(entry);
  mkdirSync(entry);
  await expect(held?.release()).rejects.toThrow(/EISDIR|EPERM/u);
  rmdirSync(entry);
  writeFileSync(entry, '');
  const next = await tryLock(folder);
  expect(next).toBeDefined();
  await next?.release();
});
