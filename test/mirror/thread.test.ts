// The thread of the WebAssembly engine: one serves file after file, and takes nothing of one to the next.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import type { Connection } from '../../src/mirror/sqlite/connection.ts';
import { untilInterrupted } from '../../src/mirror/sqlite/interrupted.ts';

// Modules are shared with other files, and a thread that one of them left would be kept for the next file here.
const own = '../../src/mirror/sqlite/thread.ts?own';
const { startThread }: typeof import('../../src/mirror/sqlite/thread.ts') = await import(own);

const folder = mkdtempSync(join(tmpdir(), 'svc-thread-'));
const fileOf = (name: string) => join(folder, `${name}.db`);

let asked: MockInstance<Worker['postMessage']>;
beforeEach(() => {
  asked = vi.spyOn(Worker.prototype, 'postMessage');
});
afterEach(() => asked.mockRestore());

/** How many threads were asked to open a file of this test. */
const threads = (): number =>
  new Set(asked.mock.contexts.filter((_, i) => String(asked.mock.calls[i]?.[0]?.path).startsWith(folder))).size;

async function opened(name: string, given: { readonly entry?: string; readonly readOnly?: boolean } = {}) {
  const { readOnly = false, ...asked } = given;
  const thread = startThread(fileOf(name), { readOnly, isWal: false });
  await thread.ask('open', asked);
  return thread;
}

const write = async (thread: Connection, text: string) => {
  await thread.ask('exec', { text: 'CREATE TABLE IF NOT EXISTS t (v)' });
  await thread.ask('run', { text: 'INSERT INTO t VALUES ($1)', values: [text] });
};

const rows = (thread: Connection) => thread.ask('all', { text: 'SELECT v FROM t', values: [] });

async function close(thread: Connection): Promise<void> {
  await thread.ask('close').catch(() => {});
  await thread.end();
}

const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });

test('files in turn are served by one thread, each with its own rows', async () => {
  for (const name of ['a', 'b', 'c']) {
    const thread = await opened(name);
    await write(thread, name);
    expect(await rows(thread)).toEqual([{ v: name }]);
    await close(thread);
    await expect(rows(thread)).rejects.toThrow();
  }
  expect(threads()).toBe(1);
});

test('two at once have a thread each', async () => {
  const [one, two] = [await opened('one'), await opened('two')];
  await write(one, 'one');
  await write(two, 'two');
  expect([await rows(one), await rows(two)]).toEqual([[{ v: 'one' }], [{ v: 'two' }]]);
  await close(one);
  await close(two);
  expect(threads()).toBe(2);
});

test.runIf(existsSync('/proc/self/fd'))('a query that was not read to its end keeps no file open', async () => {
  const thread = await opened('begun');
  await write(thread, 'x');
  await write(thread, 'y');
  await thread.ask('query', { text: 'SELECT v FROM t', views: [] });
  await thread.ask('next', { most: 1 });
  expect(openFiles()).toContain(fileOf('begun'));
  await close(thread);
  expect(openFiles()).not.toContain(fileOf('begun'));
  const next = await opened('begun');
  expect(await rows(next)).toEqual([{ v: 'x' }, { v: 'y' }]);
  await close(next);
  expect(threads()).toBe(1);
});

test('the lock of one file is not asked for when another is written', async () => {
  const entry = join(folder, 'entry');
  writeFileSync(entry, '');
  const first = await opened('held', { entry });
  await write(first, 'x');
  await close(first);
  rmSync(entry);
  const next = await opened('free');
  await write(next, 'y');
  expect(await rows(next)).toEqual([{ v: 'y' }]);
  await close(next);
  expect(threads()).toBe(1);
});

test('one that only reads, after one that wrote, writes nothing', async () => {
  const first = await opened('kept');
  await write(first, 'x');
  await close(first);
  const next = await opened('kept', { readOnly: true });
  expect(await rows(next)).toEqual([{ v: 'x' }]);
  await expect(next.ask('exec', { text: 'DELETE FROM t' })).rejects.toThrow();
  await close(next);
  expect(threads()).toBe(1);
});

test('a thread that met an error, or was ended at work, serves no other file', { tags: ['long'] }, async () => {
  const failed = await opened('failed');
  await expect(failed.ask('exec', { text: 'nonsense' })).rejects.toThrow();
  await close(failed);
  const endless = await opened('endless');
  const text = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) AS c FROM n';
  const query = endless.ask('query', { text, views: [] }).then(() => endless.ask('next', { most: 1 }));
  query.catch(() => {});
  await expect(untilInterrupted(endless, AbortSignal.abort('SIGINT'), query)).rejects.toThrow('Interrupted');
  await close(endless);
  await close(await opened('last'));
  expect(threads()).toBe(3);
});

test('an answer that comes while its thread is ended does not let the process go before its end', async () => {
  const thread = await opened('late');
  const answer = rows(thread).catch(() => {});
  // Nothing is heard meanwhile, and the answer is there.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const letGo = vi.spyOn(Worker.prototype, 'unref');
  await thread.end();
  await answer;
  expect(letGo).not.toHaveBeenCalled();
  letGo.mockRestore();
});
