import fs from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSharedLog } from '../../src/disk/log/shared-log.ts';
import { isWanted } from '../../src/disk/log/wanted.ts';

// A log that several processes append to: here, two who use it in one process.

/** Whoever has to wait fails. */
const opened = (root: string) => {
  const sleep = () => Promise.reject(new Error('it waited'));
  const clock = { now: () => new Date(), ticks: () => performance.now(), sleep };
  return openSharedLog({
    root,
    name: 'log.jsonl',
    part: () => 'part',
    what: 'the log',
    isGood: () => true,
    ctx: { clock, signal: new AbortController().signal, progress: () => {}, notice: () => {} },
  });
};

const linesIn = async (root: string) => (await readFile(join(root, 'part', 'log.jsonl'), 'utf8')).trim().split('\n');

test('two who use a log in one process never wait for one another', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-shared-'));
  const [one, other] = [opened(root), opened(root)];
  const lines: string[] = [];
  for (let n = 0; n < 20; n++) {
    for (const log of [one, other]) {
      const line = `${lines.length}`;
      lines.push(line);
      await log.append(() => line);
    }
  }
  expect(await linesIn(root)).toEqual(lines);
});

test('the name of a file is put on disk once, and again where another one stands in its place', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-shared-'));
  const log = opened(root);
  const folder = join(root, 'part');
  const spy = vi.spyOn(fs.promises, 'open');
  onTestFinished(() => spy.mockRestore());
  const synced = async (line: string) => {
    await log.append(() => line);
    spy.mockClear();
    await log.sync();
    return spy.mock.calls.filter(([path]) => path === folder).length;
  };
  expect([await synced('1'), await synced('2'), await synced('3')]).toEqual([1, 0, 0]);
  // As whoever takes the lock from a silent holder does.
  await vi.waitFor(() => expect(fs.readdirSync(join(root, 'lock'))).toEqual([]));
  const file = join(folder, 'log.jsonl');
  await copyFile(file, `${file}.new`);
  await rename(`${file}.new`, file);
  expect([await synced('4'), await synced('5')]).toEqual([1, 0]);
  expect(await linesIn(root)).toEqual(['1', '2', '3', '4', '5']);
});

/** What a disk says that fails, at a call that is made while nobody looks. */
const failing = (call: 'unlinkSync' | 'closeSync', isMeant: (of: string | number) => boolean) => {
  const real = fs[call] as (of: string | number) => void;
  const spy = vi.spyOn(fs, call).mockImplementation((of: unknown) => {
    if (isMeant(of as string | number)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    real(of as string | number);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
};

test.each([
  ['would not remove its lock', 'unlinkSync'],
  ['would not close its file', 'closeSync'],
] as const)(
  'where the disk %s for a moment, the log goes on when it is back, and waits for nobody',
  async (_, call) => {
    const root = await mkdtemp(join(tmpdir(), 'svc-shared-'));
    const log = opened(root);
    await log.append(() => '1');
    const file = fs.statSync(join(root, 'part', 'log.jsonl'));
    const isPart = (fd: number) => fs.fstatSync(fd).ino === file.ino;
    let isBroken = true;
    const isMeant = (of: string | number) => (typeof of === 'number' ? isPart(of) : of.startsWith(root));
    const disk = failing(call, (of) => isBroken && isMeant(of));
    await log.append(() => '2');
    // The lock is given back now, or in a moment.
    await expect.poll(() => disk.mock.results.map(({ type }) => type)).toContain('throw');
    isBroken = false;
    await log.append(() => '3');
    expect(await linesIn(root)).toEqual(['1', '2', '3']);
  },
);

test('a lock of which nothing is left, or in whose place a file lies, is wanted by nobody', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-wanted-'));
  await writeFile(join(root, 'file'), '');
  for (const locks of [join(root, 'gone'), join(root, 'file'), join(root, 'file', 'lock')])
    expect(isWanted(locks)).toBe(false);
});
