import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rowsOfTable } from '../../src/tabular/rows.ts';
import { openSource } from '../../src/tabular/source.ts';
import { openTable, type TableOptions } from '../../src/tabular/table.ts';

const ports = { signal: new AbortController().signal } as Parameters<typeof openSource>[0];

async function fileOf(content: string | Buffer) {
  const path = join(await mkdtemp(join(tmpdir(), 'source-')), 'a.csv');
  await writeFile(path, content);
  return path;
}

async function allOf<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

const options: TableOptions = {
  delimiter: undefined,
  skipLines: undefined,
  noHeader: false,
  judge: (cells) => (cells.includes('email') ? 'header' : 'row'),
  wayOut: () => '',
};

const changed = { kind: 'failed', message: 'a.csv was changed while it was being read.' };

test.each([
  ['plain', (text: string) => text],
  ['zipped', (text: string) => gzipSync(text)],
])('%s: a second reading of other bytes throws, of the same bytes does not', async (_, stored) => {
  const path = await fileOf(stored('id\n7\n'));
  const source = await openSource(ports, path);
  expect(source.digest()).toBe('');
  expect((await allOf(source.read())).join('')).toBe('id\n7\n');
  expect((await allOf(source.read())).join('')).toBe('id\n7\n');
  await writeFile(path, stored('id\n8\n'));
  await expect(allOf(source.read())).rejects.toMatchObject(changed);
  await source.close();
});

test('a reading that ends early proves nothing, and hinders none', async () => {
  const path = await fileOf('id\n7\n');
  const source = await openSource(ports, path);
  for await (const _ of source.read()) break;
  await writeFile(path, 'id\n8\n');
  expect((await allOf(source.read())).join('')).toBe('id\n8\n');
  await source.close();
});

test.each([
  ['with its columns in another order', 'name,email\nann@example.com,Ann\n'],
  ['without a line above the header', 'email,name\nann@example.com,Ann\n'.padEnd(64, '\n')],
])('a table that is saved %s between its header and its rows is not read', async (_, saved) => {
  const path = await fileOf('\nemail,name\nann@example.com,Ann\n');
  const source = await openSource(ports, path);
  const { read } = rowsOfTable(await openTable(source, options));
  await writeFile(path, saved);
  await expect(allOf(read())).rejects.toMatchObject(changed);
  await source.close();
});

test.each([
  ['id,subject\n8,a\xef\xbf\xbdb\n9,ok\n10,caf\xe9\n', 4],
  ['id,subject\r\n8,a\xef\xbf\xbdb\r9,ok\r\n10,caf\xe9', 4],
])('the line of bad UTF-8 is named though a replacement character stands above it: %j', async (text, line) => {
  const source = await openSource(ports, await fileOf(Buffer.from(text, 'latin1')));
  await expect(allOf(source.read())).rejects.toThrow(`Line ${line} of a.csv is not valid UTF-8.`);
  await source.close();
});

test.each([
  ['a pipe', undefined, ['Waiting for standard input', undefined, undefined]],
  ['a terminal, where the program before it shows its own signs of life', true, []],
])('what is waited for on standard input is told beside %s', async (_, isTTY, wanted) => {
  const told: unknown[] = [];
  const state = await mkdtemp(join(tmpdir(), 'source-'));
  const stdin = Readable.from([Buffer.from('id\n7\n')]);
  const source = await openSource(
    {
      ...ports,
      stdin,
      stderr: { isTTY },
      files: { config: '', state },
      progress: (text: unknown) => told.push(text),
    } as unknown as typeof ports,
    '-',
  );
  expect((await allOf(source.read())).join('')).toBe('id\n7\n');
  expect(told).toEqual(wanted);
  await source.close();
});

test.each([
  ['16 KB', 'x'.repeat(16_384), true],
  ['one byte more', 'x'.repeat(16_385), false],
  ['few bytes, zipped', gzipSync('x'), false],
])('a file of %s: whether it is small', async (_, content, isSmall) => {
  const source = await openSource(ports, await fileOf(content));
  expect(source.isSmall).toBe(isSmall);
  await source.close();
});
