// What a log does whose user lost the lock: in a pause, between a check and a write, or before its file is rewritten.
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryLock } from '../../src/disk/lock/lock.ts';
import { type LogOptions, openLog } from '../../src/disk/log/append-log.ts';
import { endAfterEach } from '../endings.ts';
import { stealLocks } from '../locks.ts';

const endings = endAfterEach();

async function freshLog(more: Partial<LogOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-log-lost-'));
  const held = await tryLock(join(folder, 'lock'), { what: 'the log' });
  if (!held) throw new Error('The lock of a fresh folder is free.');
  endings.push(() => held.release());
  const path = join(folder, 'lines.jsonl');
  const log = await openLog(path, { take: () => true, room: 'ahead', deleted: 'restore', held, ...more });
  await log.append('<1>\n');
  return { folder, path, log, text: async () => (await readFile(path, 'utf8')).replaceAll('\0', '') };
}

/** The next holder, which found the first one silent. */
async function takenOver(path: string) {
  const lines: string[] = [];
  const held = { check: () => {}, isTakenOver: true, lost: new AbortController().signal };
  const take = (text: Buffer) => {
    lines.push(text.toString().replaceAll('\0', ''));
    return /^<\d+>$/u.test(lines.at(-1) ?? '');
  };
  return { log: await openLog(path, { take, room: 'ahead', held }), lines };
}

test('nothing is written, noted, rewritten or cut off any more once the lock is lost', async () => {
  const { folder, path, log } = await freshLog();
  const before = await readFile(path);
  stealLocks(folder);
  await expect(log.append('<2>\n')).rejects.toThrow('took over the log');
  await expect(log.note('<3>\n')).rejects.toThrow('took over the log');
  const plan = () => ({ pieces: [Buffer.from('<4>\n')] });
  await expect(log.rewrite(plan)).rejects.toThrow('took over the log');
  await log.close();
  expect(await readFile(path)).toEqual(before);
  expect(await readdir(folder)).toEqual(['lines.jsonl', 'lock']);
});

test('a file that the next holder put in its place is not restored over it', async () => {
  const { folder, path, log, text } = await freshLog();
  stealLocks(folder);
  const next = await takenOver(path);
  await next.log.append('<2>\n');
  await expect(log.append('<3>\n')).rejects.toThrow('took over the log');
  await log.close();
  expect(await text()).toBe('<1>\n<2>\n');
  await next.log.close();
});

test('a line does not count where the lock was lost before it was on disk', async () => {
  let isStolen = false;
  const { folder, log } = await freshLog({
    writeNow(...given) {
      const written = writeSync(...given);
      if (isStolen) stealLocks(folder);
      return written;
    },
  });
  isStolen = true;
  await expect(log.append('<2>\n')).rejects.toThrow('took over the log');
  await log.close();
});

test('a line that leaves after its check, once the next holder has the log, goes to a file that nobody reads', async () => {
  // The check was before the pause, and the write is behind it.
  const passed = { check: () => {}, isTakenOver: false, lost: new AbortController().signal };
  const { path, log, text } = await freshLog({ held: passed, deleted: undefined });
  const next = await takenOver(path);
  expect(next.lines[0]).toBe('<1>');
  await next.log.append('<22>\n');
  await log.append('<3>\n');
  expect(await text()).toBe('<1>\n<22>\n');
  await next.log.close();
  await log.close();
  expect(await text()).toBe('<1>\n<22>\n');
});

test('a rewrite that the lock was lost in leaves the file and the draft of the next holder alone', async () => {
  const { folder, log, text } = await freshLog();
  const plan = () => {
    stealLocks(folder);
    writeFileSync(join(folder, '.lines.jsonl.new'), 'of the next holder');
    return { pieces: [Buffer.from('<9>\n')] };
  };
  await expect(log.rewrite(plan)).rejects.toThrow('took over the log');
  expect(await text()).toBe('<1>\n');
  expect(await readFile(join(folder, '.lines.jsonl.new'), 'utf8')).toBe('of the next holder');
  await log.close();
});

test('whatever the disk says at the end, the file is closed', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'svc-log-lost-')), 'state');
  const opened: FileHandle[] = [];
  const log = await openLog(join(folder, 'lines.jsonl'), {
    take: () => true,
    deleted: 'restore',
    async openFile(...given: Parameters<typeof open>) {
      const file = await open(...given);
      opened.push(file);
      return file;
    },
  });
  await log.append('<1>\n');
  // A file in the place of the folder, as of a disk that was taken out.
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await log.close().catch(() => {});
  expect(opened.map(({ fd }) => fd)).toEqual([-1]);
});
