import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSharedLog } from '../../src/disk/shared-log.ts';
import { isWanted } from '../../src/disk/wanted.ts';

// A log that several processes append to: here, two who use it in one process.

test('two who use a log in one process never wait for one another', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-shared-'));
  const sleep = () => Promise.reject(new Error('it waited'));
  const clock = { now: () => new Date(), ticks: () => performance.now(), sleep };
  const opened = () =>
    openSharedLog({
      root,
      name: 'log.jsonl',
      part: () => 'part',
      what: 'the log',
      isGood: () => true,
      ctx: { clock, signal: new AbortController().signal, progress: () => {}, notice: () => {} },
    });
  const [one, other] = [opened(), opened()];
  const lines: string[] = [];
  for (let n = 0; n < 20; n++) {
    for (const log of [one, other]) {
      const line = `${lines.length}`;
      lines.push(line);
      await log.append(() => line);
    }
  }
  expect((await readFile(join(root, 'part', 'log.jsonl'), 'utf8')).trim().split('\n')).toEqual(lines);
});

test('a lock of which nothing is left, or in whose place a file lies, is wanted by nobody', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-wanted-'));
  await writeFile(join(root, 'file'), '');
  for (const locks of [join(root, 'gone'), join(root, 'file'), join(root, 'file', 'lock')])
    expect(isWanted(locks)).toBe(false);
});
