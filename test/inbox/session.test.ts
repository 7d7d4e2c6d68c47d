/** What svc has open beside the screen. */
import fs, { appendFileSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newEntryName } from '../../src/disk/lock/lock-entry.ts';
import { firstRows } from '../../src/mirror/store/first-rows.ts';
import { inCopy } from '../mirror/truth.ts';
import { fakeTerminal } from '../screen/terminal.ts';
import { svc } from '../svc.ts';
import { desk, through } from './desk.ts';

test('the copy is brought up to date, and drafts are listed, where the disk does not let go of what an editor left', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  // Of a process that is surely gone.
  const left = join(world.folder, 'state', 'unsent', newEntryName().replace(/\.\d+\./u, '.4194305.'));
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, '.given'), 'Before');
  const { rm } = fs.promises;
  const spy = vi.spyOn(fs.promises, 'rm').mockImplementation(async (path, options) => {
    if (path === left) throw Object.assign(new Error('EBUSY: resource busy'), { code: 'EBUSY' });
    return rm(path, options);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const [before, terminal] = [world.sent.length, fakeTerminal({ columns: 80, rows: 24 })];
  const ended = svc(world, ['inbox'], { columns: 80, terminal: terminal.port });
  await expect.poll(() => world.sent.length, { interval: 5 }).toBeGreaterThan(before);
  terminal.type('q');
  await ended;
  expect((await svc(world, ['drafts', 'list'])).exitCode).toBe(0);
});

/** How often this process has the file open. */
const openOf = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd)) === path;
    } catch {
      return false;
    }
  }).length;

test('an error that lasts leaves no connection to the copy open at each new attempt', {
  tags: ['long'],
}, async (context) => {
  if (process.platform !== 'linux') context.skip('what a process has open is known on Linux alone');
  const world = await desk();
  const drafts = join(world.folder, 'state', 'drafts');
  mkdirSync(drafts, { recursive: true });
  appendFileSync(join(drafts, 'drafts.jsonl'), 'no line of svc\n'.repeat(3));
  let rounds = 0;
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms < 10_000) return world.clock.sleep(ms, signal);
    rounds += 1;
    return rounds < 6 ? Promise.resolve() : world.clock.sleep(ms, signal);
  };
  const terminal = fakeTerminal({ columns: 80, rows: 24 });
  const ended = svc({ ...world, clock: { ...world.clock, sleep } }, ['inbox'], {
    columns: 80,
    terminal: terminal.port,
  });
  await expect.poll(() => rounds, { interval: 5 }).toBe(6);
  const place = join(world.folder, 'state', 'mirror.db');
  expect(openOf(place)).toBeGreaterThan(0);
  await expect.poll(() => openOf(place), { interval: 5 }).toBeLessThanOrEqual(2);
  terminal.type('q');
  await ended;
  // One that was being opened when it ended is closed once it is open.
  await expect.poll(() => openOf(place), { interval: 5 }).toBe(0);
});

test('who ends once the rows are there has them at once the next time', async () => {
  const world = await desk();
  const terminal = fakeTerminal({ columns: 80, rows: 24 });
  const { write } = terminal.port;
  let isSeen = false;
  const port: typeof terminal.port = {
    ...terminal.port,
    write(text) {
      if (!isSeen && /T-\d{4}/u.test(text)) {
        isSeen = true;
        terminal.type('q');
      }
      return write(text);
    },
  };
  await svc(world, ['inbox'], { columns: 80, terminal: port });
  await inCopy(world, async (store, account) => {
    const kept = await store.read((sql) => firstRows(sql, account, 'waiting'));
    expect(JSON.parse(kept ?? 'null')).toMatchObject({
      rows: expect.arrayContaining([expect.objectContaining({ kind: 'ticket' })]),
      total: expect.any(Number),
    });
  });
  expect(isSeen).toBe(true);
});

test('where the service is gone the first line says so', { tags: ['long'] }, async () => {
  const [world, terminal] = [await desk(), fakeTerminal({ columns: 120, rows: 24 })];
  const lost = { lost: 'before-sending', reason: 'refused', detail: 'It refuses.' } as const;
  const gone = through(world, async () => lost);
  const ended = svc(gone, ['inbox'], { columns: 120, terminal: terminal.port });
  let shown = '';
  const told = () => {
    shown += terminal.written();
    return shown;
  };
  await expect.poll(told, { interval: 5, timeout: 20_000 }).toContain('the service does not answer');
  terminal.type('q');
  await ended;
});
