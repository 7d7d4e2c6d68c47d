import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { print } from '../../src/output/print.ts';
import { screen, settings } from './fake-context.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-print-'));
});
afterEach(() => rm(folder, { recursive: true }));

const data = (records: Iterable<unknown> | AsyncIterable<unknown>) =>
  ({ shape: 'list', records, columns: ['id'] }) as const;

test('data goes into the file that was named, and none to standard output, terminal or not', async () => {
  const { ctx, written } = screen({ columns: 80 });
  const file = join(folder, 'out.csv');
  expect(
    await print(ctx, { data: data([{ id: 1 }, { id: 2 }]), output: 'csv', file, notes: ['2 saved'] }, settings),
  ).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('id\r\n1\r\n2\r\n');
  expect([written.stdout, written.notices]).toEqual(['', ['2 saved']]);
  expect(await readdir(folder)).toEqual(['out.csv']);
});

test('a failure midway leaves the file that was there, and nothing else', async () => {
  const file = join(folder, 'out.csv');
  await writeFile(file, 'old');
  const records = (async function* () {
    yield { id: 1 };
    throw new Failure('network', 'The second page did not come.');
  })();
  await expect(print(screen().ctx, { data: data(records), output: 'csv', file }, settings)).rejects.toThrow(
    'second page',
  );
  expect(await readFile(file, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['out.csv']);
});

test('behind a link the file is replaced, not the link', async () => {
  await writeFile(join(folder, 'real'), 'old');
  await symlink('real', join(folder, 'link'));
  await print(screen().ctx, { data: data([{ id: 1 }]), file: join(folder, 'link') }, settings);
  expect(await readFile(join(folder, 'real'), 'utf8')).toBe('1\n');
});

test('a folder, or a place that is not there, is refused with its name', async () => {
  const view = { data: data([]) };
  await expect(print(screen().ctx, { ...view, file: folder }, settings)).rejects.toMatchObject({ kind: 'usage' });
  const nowhere = join(folder, 'no', 'out');
  await expect(print(screen().ctx, { ...view, file: nowhere }, settings)).rejects.toThrow(nowhere);
});

test('a full disk is a failure', async () => {
  const full = print(screen().ctx, { data: { shape: 'text', text: 'x' }, file: '/dev/full' }, settings);
  await expect(full).rejects.toMatchObject({
    kind: 'failed',
    message: '/dev/full could not be written: the disk is full.',
  });
});

test('a head comes before the data', async () => {
  const { ctx, written } = screen();
  await print(ctx, { head: 'HTTP 200\n\n', data: { shape: 'record', record: { id: 1 } }, output: 'json' }, settings);
  expect(written.stdout).toBe('HTTP 200\n\n{\n  "id": 1\n}\n');
});
