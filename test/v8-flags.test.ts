/** Flags of V8: set for a run, and as they were once it exits. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { keepHeapSmall } from '../src/batch/small-heap.ts';
import { setFlags, usualFlags } from '../src/v8-flags.ts';
import { few, sandboxWorld } from './sandbox-world.ts';
import { svc } from './svc.ts';

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

test('a pull keeps the heap small from its first answer on: the client of the service is loaded before', async () => {
  const tags: number[] = [];
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const exchange: typeof world.exchange = (request) => {
    if (!request.url.endsWith('/platform/account')) tags.push(cachedDataVersionTag());
    return world.exchange(request);
  };
  usualFlags();
  const usual = cachedDataVersionTag();
  expect((await svc({ ...world, exchange }, ['mirror', 'pull'])).exitCode).toBe(0);
  usualFlags();
  expect([tags[0], tags.slice(1).includes(usual)]).toEqual([usual, false]);
});

test.each([
  ['small', 5, true],
  ['larger', 5_000, false],
])(
  'a %s file: the heap is kept small from the first row on, or before a larger one is read',
  async (_, length, isUsualAtFirst) => {
    const tags: number[] = [];
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const exchange: typeof world.exchange = (request) => {
      if (request.method === 'POST') tags.push(cachedDataVersionTag());
      return world.exchange(request);
    };
    const text = 'x'.repeat(length);
    const stdin = `id,body\n1,a${text}\n1,b${text}\n1,c${text}\n1,d${text}\n`;
    usualFlags();
    const usual = cachedDataVersionTag();
    const argv = ['tickets', 'note', '--from', '-', '--yes', '--concurrency', '1'];
    await svc({ ...world, exchange }, argv, { stdin });
    usualFlags();
    expect(tags.map((tag) => tag === usual)).toEqual([isUsualAtFirst, false, false, false]);
  },
);

/** In a process of its own, for V8 knows what one has compiled before. */
const run = `
const { setFlagsFromString } = require('node:v8');
const [, chunks, root, flag] = process.argv;
const { chunksIn, openStore } = require(chunks);
const store = openStore(root + '/compiled-test', root);
const load = chunksIn(root, store);
load('first.cjs');
setFlagsFromString('--semi-space-growth-factor=' + flag);
load('later.cjs');
setFlagsFromString('--semi-space-growth-factor=2');
store.save();
`;

test('what a run loads under flags of its own is kept once, not each time', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-flags-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const name of ['first.cjs', 'later.cjs']) writeFileSync(join(root, name), 'exports.one = () => 1;');
  const chunks = join(import.meta.dirname, '..', 'bin', 'chunks.js');
  const keptBy = (flag: number) => {
    execFileSync(process.execPath, ['-e', run, chunks, root, String(flag)]);
    return statSync(join(root, 'compiled-test')).ino;
  };
  const first = keptBy(1);
  expect([keptBy(1), keptBy(2)]).toEqual([first, first]);
});

test('no flag of V8 is set elsewhere, but by the thread of the database, which puts it back after each statement', () => {
  const src = join(import.meta.dirname, '..', 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?[jt]s$/u.test(file));
  const setting = files.filter((file) => readFileSync(join(src, file), 'utf8').includes('setFlagsFromString'));
  expect(setting.map((file) => file.replaceAll('\\', '/')).sort()).toEqual([
    'mirror/sqlite/sqlite-worker.cjs',
    'v8-flags.ts',
  ]);
});
