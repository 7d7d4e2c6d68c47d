import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../src/context.ts';
import { enterNative, gateOfWebAssembly, locking } from '../../src/mirror/sqlite/locks.ts';

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
