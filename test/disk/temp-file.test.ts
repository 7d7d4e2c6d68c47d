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
