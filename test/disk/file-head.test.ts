import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headOf } from '../../src/disk/file/file-head.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a link to nothing is told from nothing', async () => {
  const path = join(folder, 'link');
  symlinkSync(join(folder, 'nowhere'), path);
  expect(await headOf(path, 4)).toEqual({ kind: 'dangling' });
  expect(await headOf(join(folder, 'none'), 4)).toEqual({ kind: 'none' });
});

test('a file that another makes and removes all the time is there or not, and never a link', async () => {
  const path = join(folder, 'changing');
  const changing = `const { rmSync, writeFileSync } = require('node:fs');
    const { workerData: { path, stop }, parentPort } = require('node:worker_threads');
    parentPort.postMessage('begun');
    while (Atomics.load(stop, 0) === 0) { writeFileSync(path, 'text'); rmSync(path); }`;
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(changing, { eval: true, workerData: { path, stop } });
  await new Promise((begun) => worker.once('message', begun));
  const ended = new Promise((end) => worker.once('exit', end));
  const kinds = new Set<string>();
  try {
    for (let look = 0; look < 30_000; look++) kinds.add((await headOf(path, 4)).kind);
  } finally {
    Atomics.store(stop, 0, 1);
    await ended;
  }
  expect([...kinds].filter((kind) => kind !== 'none' && kind !== 'file')).toEqual([]);
});
