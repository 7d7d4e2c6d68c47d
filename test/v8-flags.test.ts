/** Flags of V8: set for a run, and as they were once it exits. */
import { cachedDataVersionTag } from 'node:v8';
import { expect, test } from 'vitest';
import { keepHeapSmall } from '../src/batch/small-heap.ts';
import { setFlags, usualFlags } from '../src/v8-flags.ts';

test('V8 takes the code that is made as a run exits, whatever flags the run has set', () => {
  usualFlags();
  const atStart = cachedDataVersionTag();
  for (const sets of [keepHeapSmall, () => setFlags(['no-wasm-tier-up', 'no-wasm-dynamic-tiering'])]) {
    sets();
    expect(cachedDataVersionTag()).not.toBe(atStart);
    expect(process.listeners('exit').filter((one) => one === usualFlags)).toHaveLength(1);
    usualFlags();
    expect(cachedDataVersionTag()).toBe(atStart);
  }
});

test('no flag of V8 is set elsewhere, but by the thread of the database, which puts it back after each statement', async () => {
  const { readdirSync, readFileSync } = await import('node:fs');
  const { join } = await import('node:path');
  const src = join(import.meta.dirname, '..', 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?[jt]s$/u.test(file));
  const setting = files.filter((file) => readFileSync(join(src, file), 'utf8').includes('setFlagsFromString'));
  expect(setting.map((file) => file.replaceAll('\\', '/')).sort()).toEqual([
    'mirror/sqlite/sqlite-worker.cjs',
    'v8-flags.ts',
  ]);
});
