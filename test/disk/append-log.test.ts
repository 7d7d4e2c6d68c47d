import { writeSync } from 'node:fs';
import { mkdtemp, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LogOptions, openLog } from '../../src/disk/log/append-log.ts';
import { Failure } from '../../src/errors.ts';

const freshPath = async () => join(await mkdtemp(join(tmpdir(), 'svc-log-')), 'lines.jsonl');

/** Opens the log whose good lines are numbers in brackets, and says which it read. */
async function opened(path: string, more: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = await openLog(path, {
    take(text) {
      const line = text.toString();
      const isGood = /^<\d+>$/u.test(line);
      if (isGood) lines.push(line);
      return isGood;
    },
    damaged: ({ line }) => new Failure('failed', `damaged in line ${line}`),
    ...more,
  });
  return { log, lines };
}

test('whatever byte a crash tore the end at, the whole lines are there, and the next line stands behind them', async () => {
  const path = await freshPath();
  const whole = '<1>\n<22>\n<333>\n';
  for (let cut = 0; cut <= whole.length; cut++) {
    await writeFile(path, whole.slice(0, cut));
    const good = whole.slice(0, whole.slice(0, cut).lastIndexOf('\n') + 1);
    const { log, lines } = await opened(path);
    expect(lines, `cut at ${cut}`).toEqual(good.split('\n').slice(0, -1));
    await log.append('<9>\n');
    await log.close();
    expect(await readFile(path, 'utf8')).toBe(`${good}<9>\n`);
  }
});

test('damage before the end is refused with its line, and the file stays as it is', async () => {
  const path = await freshPath();
  await writeFile(path, '<1>\n#2\n<3>\n<4');
  await expect(opened(path)).rejects.toThrow('damaged in line 2');
  expect(await readFile(path, 'utf8')).toBe('<1>\n#2\n<3>\n<4');
});

test('a log that passes over damage and keeps the damaged line', async () => {
  const path = await freshPath();
  await writeFile(path, '<1>\n#2\n<3>\n<4');
  const { log, lines } = await opened(path, { damaged: undefined });
  await log.append('<5>\n');
  await log.close();
  expect(lines).toEqual(['<1>', '<3>']);
  expect(await readFile(path, 'utf8')).toBe('<1>\n#2\n<3>\n<5>\n');
});

const mark = { text: (end: number) => `${String(end).padStart(4, '0')}\n`, read: (first: string) => Number(first) };

test.each([
  ['at the mark or beyond is torn', '0009\n<1>\n#2\n<3>\n', '0009\n<1>\n'],
  ['before the mark is damage', '0016\n<1>\n#2\n<3>\n', undefined],
  ['that is missing before the mark is damage', '0013\n<1>\n', undefined],
])('a bad line %s', async (_, text, left) => {
  const path = await freshPath();
  await writeFile(path, text);
  if (left === undefined) await expect(opened(path, { mark })).rejects.toThrow('damaged');
  else await (await opened(path, { mark })).log.close();
  expect(await readFile(path, 'utf8')).toBe(left ?? text);
});

test('on a full disk an append fails, leaves no half line, and works again once there is room', async () => {
  const path = await freshPath();
  let isFull = false;
  const writeNow: LogOptions['writeNow'] = (fd, bytes, offset, length, position) => {
    if (!isFull) return writeSync(fd, bytes, offset, length, position);
    if (length > 2) return writeSync(fd, bytes, offset, 2, position);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  const { log } = await opened(path, { writeNow });
  await log.append('<1>\n');
  isFull = true;
  await expect(log.append('<2>\n')).rejects.toThrow('no space left');
  expect(await readFile(path, 'utf8')).toBe('<1>\n');
  isFull = false;
  await log.append('<3>\n');
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('<1>\n<3>\n');
});

/** Opens files whose syncs are counted. */
function countingSyncs() {
  const counted = { syncs: 0 };
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    const datasync = file.datasync.bind(file);
    file.datasync = () => {
      counted.syncs++;
      return datasync();
    };
    return file;
  };
  return { counted, openFile };
}

test.each([
  ['together', 1],
  ['alone', 2],
] as const)('of two lines that come at once, synced %s, there are %i syncs', async (syncs, count) => {
  const { counted, openFile } = countingSyncs();
  const { log } = await opened(await freshPath(), { syncs, openFile });
  await Promise.all([log.append('<1>\n'), log.append('<2>\n')]);
  expect(counted.syncs).toBe(count);
  await log.close();
});

test('a noted line is in the file at once, without a sync, and synced with the next line or at the end', async () => {
  const path = await freshPath();
  const { counted, openFile } = countingSyncs();
  const { log } = await opened(path, { openFile });
  await log.note('<1>\n');
  expect(await readFile(path, 'utf8')).toBe('<1>\n');
  expect(counted.syncs).toBe(0);
  await log.append('<2>\n');
  expect(counted.syncs).toBe(1);
  await log.note('<3>\n');
  expect(counted.syncs).toBe(1);
  await log.close();
  expect(counted.syncs).toBe(2);
  expect(await readFile(path, 'utf8')).toBe('<1>\n<2>\n<3>\n');
});

test('lines that are noted in one turn of the event loop are one write', async () => {
  const path = await freshPath();
  let writes = 0;
  const writeNow: LogOptions['writeNow'] = (...write) => {
    writes++;
    return writeSync(...write);
  };
  const { log } = await opened(path, { writeNow });
  await Promise.all([log.note('<1>\n'), log.note('<2>\n')]);
  expect(writes).toBe(1);
  void log.note('<3>\n');
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('<1>\n<2>\n<3>\n');
});

test('a line is noted past lines that wait for the disk', async () => {
  const path = await freshPath();
  let noted: Promise<void> | undefined;
  const waiting: typeof open = async (...args) => {
    const file = await open(...args);
    const datasync = file.datasync.bind(file);
    file.datasync = async () => {
      noted ??= log.note('<2>\n');
      await noted;
      return datasync();
    };
    return file;
  };
  const { log } = await opened(path, { openFile: waiting });
  await log.append('<1>\n');
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('<1>\n<2>\n');
});

test('where a sync fails, a line that was noted behind it stays', async () => {
  const path = await freshPath();
  const { openFile } = countingSyncs();
  let noted: Promise<void> | undefined;
  const failing: typeof open = async (...args) => {
    const file = await openFile(...args);
    file.datasync = async () => {
      noted ??= log.note('<2>\n');
      await noted;
      throw new Error('input/output error');
    };
    return file;
  };
  const { log } = await opened(path, { openFile: failing, room: 'ahead' });
  await expect(log.append('<1>\n')).rejects.toThrow('input/output error');
  await noted;
  await expect(log.append('<3>\n')).rejects.toThrow('input/output error');
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('<1>\n<2>\n');
});

test('a rewriting comes after the lines before it, and lines behind it stand in the new file', async () => {
  const path = await freshPath();
  const { log } = await opened(path, { room: 'ahead' });
  const spans: { start: number; length: number }[] = [];
  await Promise.all([
    log.append('<1>\n'),
    log.append('<2>\n', (span) => spans.push(span)),
    log.rewrite(() => ({ pieces: [Buffer.from('<0>\n'), ...spans] })),
    log.append('<3>\n'),
  ]);
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('<0>\n<2>\n<3>\n');
  expect(await readdir(join(path, '..'))).toEqual(['lines.jsonl']);
});

test('a noted line is synced at the end, also where a sync failed meanwhile', async () => {
  const { counted, openFile } = countingSyncs();
  let isBroken = false;
  const breaking: typeof open = async (...args) => {
    const file = await openFile(...args);
    const datasync = file.datasync.bind(file);
    file.datasync = () => (isBroken ? Promise.reject(new Error('no sync')) : datasync());
    return file;
  };
  const { log } = await opened(await freshPath(), { openFile: breaking });
  await log.note('<1>\n');
  isBroken = true;
  await expect(log.append('<2>\n')).rejects.toThrow('no sync');
  isBroken = false;
  const before = counted.syncs;
  await log.close();
  expect(counted.syncs).toBeGreaterThan(before);
});
