// A text that goes through an editor's file: what it leaves is the text, and nothing else is taken for one.
import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { throughTempFile } from '../../src/disk/temp-file.ts';

const edited = (change: (path: string) => void) =>
  throughTempFile('Before', 'text.txt', undefined, async (path) => change(path));

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
      (text) => left.push(text),
      async (path) => writeFileSync(path, bytes),
    );
  await expect(saving(Buffer.from('Grüße', 'latin1'))).rejects.toMatchObject({ kind: 'failed' });
  await expect(saving(Buffer.from([0, 0xff, 0xfe, 0x41]))).rejects.toMatchObject({ kind: 'failed' });
  expect(left[0]).toBe('Grüße');
  expect(left[1]).toContain('A');
});
