import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../src/context.ts';
import { enterNative, gateKeeper, gateOfWebAssembly, locking } from '../../src/mirror/sqlite/locks.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-entries-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (_, signal) => sleep(0, undefined, { signal }).catch(() => {}),
};

test('an entry that one engine takes away while the other looks at it fails neither', async () => {
  const path = join(folder, 'copy.db');
  const ctx = { clock, signal: new AbortController().signal, progress() {}, notice() {} };
  const nothing = async () => ({});
  for (let round = 0; round < 60; round += 1) {
    const { release } = await enterNative(locking(ctx, path), path, nothing);
    const gate = gateOfWebAssembly(ctx, path);
    for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
    await Promise.all([release(), gate.then((taken) => taken.release())]);
  }
  await (await gateOfWebAssembly(ctx, path)).release();
  expect(readdirSync(`${path}.native`)).toEqual([]);
});

const holders = (path: string): string[] => readdirSync(`${path}.busy`);

test('looks that follow each other at once take one lock, which is free before anything else is done', async () => {
  const path = join(folder, 'looked-at.db');
  const keeper = gateKeeper({ clock, signal: new AbortController().signal, progress() {}, notice() {} }, path);
  const first = await keeper.take();
  await first.release();
  const second = await keeper.take();
  expect(second.held).toBe(first.held);
  await new Promise(setImmediate);
  expect(holders(path)).toHaveLength(1);
  await second.release();
  await new Promise(setImmediate);
  const third = await keeper.take();
  expect(third.held).not.toBe(first.held);
  await third.release();
  await keeper.leave();
  expect(holders(path)).toEqual([]);
});

test('a lock that another has taken meanwhile is taken anew', async () => {
  const path = join(folder, 'lost.db');
  const keeper = gateKeeper({ clock, signal: new AbortController().signal, progress() {}, notice() {} }, path);
  const first = await keeper.take();
  await first.release();
  rmSync(first.held.entry);
  const second = await keeper.take();
  second.held.check();
  await second.release();
  await keeper.leave();
});
