import { appendFile, mkdtemp, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Chunk } from '../../src/sync/chunks.ts';
import { type Identity, type Journal, openJournal } from '../../src/sync/journal.ts';

const state = () => mkdtemp(join(tmpdir(), 'svc-test-'));

const identity: Identity = { file: '/a.csv', content: 'c1', rows: 1, destination: 'account 1', mapping: 'm1' };

const at = (minute: number) => ({ now: () => new Date(Date.UTC(2026, 10, 20, 12, minute)) });
const timeOf = (minute: number) => at(minute).now().toISOString();

const chunk: Chunk = {
  number: 0,
  rows: [{ line: 2, contact: { email: 'a@example.com' }, size: 9, phone: 'fine' }],
};

const outcome = { created: 1, updated: 0, synced: 0, unaccounted: 0, problems: [] };

type Run = {
  readonly minute?: number;
  readonly restart?: boolean;
  readonly isClockSure?: boolean;
  readonly work?: (journal: Journal) => unknown;
};

/** A run from its beginning to its end. */
async function run(
  folder: string,
  about: Partial<Identity>,
  { minute = 0, restart = false, isClockSure, work }: Run = {},
) {
  const journal = await openJournal(folder, { ...identity, ...about }, { restart, isClockSure, clock: at(minute) });
  try {
    await work?.(journal);
    return journal;
  } finally {
    await journal.close();
  }
}

describe('a run that goes on with an earlier one', () => {
  test('keeps what is written, however often it is interrupted', async () => {
    const folder = await state();
    await run(folder, {}, { work: (journal) => journal.done(chunk, outcome, 3, 500) });
    for (const minute of [1, 2, 3]) {
      const { past, earlier } = await run(folder, {}, { minute });
      expect(earlier).toEqual({ kind: 'interrupted', at: timeOf(0) });
      expect([...past.done.keys()]).toEqual([0]);
      expect(past.requests).toBe(3);
    }
  });

  test('begins again after one that is finished, and says when that was', async () => {
    const folder = await state();
    const { path } = await run(folder, {}, { work: (journal) => journal.done(chunk, outcome, 3, 500) });
    await appendFile(path, `${JSON.stringify({ finished: { at: timeOf(9) } })}\n`);
    const { earlier, past } = await run(folder, {}, { minute: 10 });
    expect(earlier).toEqual({ kind: 'finished', at: timeOf(9) });
    expect(past.done.size).toBe(0);
  });

  test('with --restart begins again', async () => {
    const folder = await state();
    await run(folder, {}, { work: (journal) => journal.done(chunk, outcome, 3, 500) });
    const { earlier, past } = await run(folder, {}, { minute: 1, restart: true });
    expect(earlier).toEqual({ kind: 'restarted', at: timeOf(0) });
    expect(past.done.size).toBe(0);
  });

  test('goes on with what 0.1.0 left under the name of the credential', async () => {
    const folder = await state();
    await run(folder, { destination: 'by key' }, { work: (journal) => journal.done(chunk, outcome, 3, 500) });
    const { past, earlier } = await run(folder, { formerly: ['by key'] }, { minute: 1 });
    expect(earlier).toEqual({ kind: 'interrupted', at: timeOf(0) });
    expect([...past.done.keys()]).toEqual([0]);
  });

  test('says how to begin again where the journal is damaged', async () => {
    const folder = await state();
    const { path } = await run(folder, {}, { work: (journal) => journal.done(chunk, outcome, 3, 500) });
    const [header, ...lines] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, [header, 'damage', ...lines].join('\n'));
    await expect(run(folder, {})).rejects.toMatchObject({
      message: expect.stringContaining('damaged in line 2'),
      hint: expect.stringContaining('--restart'),
    });
  });
});

describe('a journal whose run is over', () => {
  const [year, days] = [366 * 24 * 60, 91 * 24 * 60];
  const finish = { work: (journal: Journal) => journal.finished() };
  const begun = async (minute: number, isClockSure: boolean) => {
    const folder = await state();
    const old = [
      await run(folder, { content: 'over' }, { isClockSure: true, ...finish }),
      await run(folder, { content: 'not over' }, {}),
      await run(folder, { content: 'by a clock of its own' }, finish),
      await run(folder, { content: 'damaged' }, { isClockSure: true, ...finish }),
    ];
    const lastLine = JSON.stringify({ run: { at: timeOf(1) } });
    await appendFile(old[3]?.path ?? '', `damage\n${lastLine}\n`);
    for (const { path } of old) await utimes(path, 1, 1);
    await run(folder, { content: 'new' }, { minute, isClockSure });
    const left = await readdir(join(folder, 'sync'));
    return old.map(({ path }) => left.includes(basename(path)));
  };

  test('goes after 90 days; one that is not over, whose end no sure clock has dated, or that cannot be read, stays', async () => {
    expect(await begun(days, true)).toEqual([false, true, true, true]);
  });

  test('stays where the clock does not agree with that of the service', async () => {
    expect(await begun(year, false)).toEqual([true, true, true, true]);
  });
});

describe('a run of a file that was sent before in another form', () => {
  test('tells of the latest run of a file of that name', async () => {
    const folder = await state();
    // The names of the journals are digests, so the latest stands anywhere among them.
    await run(folder, {});
    for (const minute of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const { earlier } = await run(folder, { content: `c1, version ${minute}` }, { minute });
      expect(earlier).toEqual({ kind: 'changed', at: timeOf(minute - 1) });
    }
  });

  test('tells a new mapping from a new content', async () => {
    const folder = await state();
    await run(folder, {}, { minute: 1 });
    const { earlier } = await run(folder, { mapping: 'm2' }, { minute: 2 });
    expect(earlier).toEqual({ kind: 'remapped', at: timeOf(1) });
  });

  test.each([
    ['a file of another name', { file: '/b.csv' }],
    ['another account', { destination: 'account 2' }],
    ['standard input', { file: undefined }],
  ])('says nothing of %s', async (_, other) => {
    const folder = await state();
    await run(folder, { content: 'c9', ...other });
    expect((await run(folder, {})).earlier).toEqual({ kind: 'none' });
  });

  test('passes over a journal that cannot be read', async () => {
    const folder = await state();
    await run(folder, { content: 'c0' });
    await symlink('/nowhere', join(folder, 'sync', '000.jsonl'));
    expect((await run(folder, {}, { minute: 1 })).earlier).toEqual({ kind: 'changed', at: timeOf(0) });
  });
});
