// A text that goes through an editor's file: what it leaves is the text, and nothing else is taken for one.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { throughTempFile } from '../../src/disk/draft/temp-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-state-'));
afterAll(() => rmSync(folder, { recursive: true }));

const edited = (change: (path: string) => void) =>
  throughTempFile('Before', 'text.txt', { files: { state: folder } }, async (path) => change(path));

test('what the file holds afterwards is the text', async () => {
  expect(await edited((path) => writeFileSync(path, 'Ä after\n'))).toBe('Ä after\n');
});

test('a file that is gone, or is no UTF-8, is a plain failure', async () => {
  await expect(edited((path) => rmSync(path))).rejects.toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('left no file behind'),
  });
  await expect(edited((path) => writeFileSync(path, Buffer.from([0x44, 0xe4, 0x48])))).rejects.toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('is not UTF-8'),
  });
});

test('what an editor saved in another encoding is handed over, readable, before it is refused', async () => {
  const left: string[] = [];
  const saving = (bytes: Buffer) =>
    throughTempFile(
      'Before',
      'text.txt',
      { files: { state: folder }, failed: (text) => left.push(text) },
      async (path) => writeFileSync(path, bytes),
    );
  await expect(saving(Buffer.from('Grüße', 'latin1'))).rejects.toMatchObject({ kind: 'failed' });
  await expect(saving(Buffer.from([0, 0xff, 0xfe, 0x41]))).rejects.toMatchObject({ kind: 'failed' });
  expect(left[0]).toBe('Grüße');
  expect(left[1]).toContain('A');
});

const megabytes = 1024 * 1024;
const unsent = () => readdirSync(join(folder, 'unsent')).map((name) => join(folder, 'unsent', name));

test.each([
  ['saved', () => {}],
  [
    'failed',
    () => {
      throw new Error('The editor failed.');
    },
  ],
])(
  'what is too large to be a text is not read, and is kept in a file that is named: an editor that %s',
  async (_, end) => {
    rmSync(join(folder, 'unsent'), { recursive: true, force: true });
    const left: string[] = [];
    const editing = throughTempFile(
      'Before',
      'text.md',
      { files: { state: folder }, failed: (text) => left.push(text) },
      async (path) => {
        writeFileSync(path, 'A text.');
        // More than a process could hold, and no room on the disk.
        truncateSync(path, 50 * 1024 * megabytes);
        end();
      },
    );
    const failure = await editing.catch((error: unknown) => error);
    const [kept = ''] = unsent();
    expect(failure).toMatchObject({
      kind: 'failed',
      message: `What the editor saved is 51200.0 MB long, and a text has at most 1.0 MB. Nothing was sent. It is kept in ${kept}`,
    });
    expect(left).toEqual([]);
    expect(statSync(kept)).toMatchObject({ size: 50 * 1024 * megabytes, mode: 0o100_600 });
  },
);

test('the longest text is taken, and where nothing can be kept the file stays where the editor saved it', async () => {
  const longest = 'x'.repeat(megabytes);
  expect(await edited((path) => writeFileSync(path, longest))).toBe(longest);
  rmSync(join(folder, 'unsent'), { recursive: true, force: true });
  writeFileSync(join(folder, 'unsent'), 'no folder');
  const { message } = (await edited((path) => writeFileSync(path, `${longest}x`)).catch(
    (error: Error) => error as Error,
  )) as Error;
  const path = message.slice(message.indexOf('kept in ') + 'kept in '.length);
  expect(readFileSync(path, 'utf8')).toBe(`${longest}x`);
  rmSync(join(path, '..'), { recursive: true });
});
