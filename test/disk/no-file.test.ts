import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noFile } from '../../src/disk/place/no-file.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'svc-no-file-'));
const hintOf = async (path: string) => (await noFile(path, `There is no file ${path}`)).hint;

test('a file that is not there is told by the name of a file that is near, and no folder', async () => {
  const folder = newFolder();
  const hint = () => hintOf(join(folder, 'rows.csv'));
  mkdirSync(join(folder, 'rows.cvs'));
  symlinkSync('rows.cvs', join(folder, 'row.csv'));
  symlinkSync('nowhere', join(folder, 'rows.cs'));
  expect(await hint()).toBe(`Check the name: svc looked in ${folder}`);
  writeFileSync(join(folder, 'ows.cv'), '');
  expect(await hint()).toBe(`Did you mean ${join(folder, 'ows.cv')}?`);
  rmSync(join(folder, 'ows.cv'));
  symlinkSync('/dev/null', join(folder, 'rows.tsv'));
  expect(await hint()).toBe(`Did you mean ${join(folder, 'rows.tsv')}?`);
});

test('a name that begins like a flag is told as it can be typed', async () => {
  const before = process.cwd();
  process.chdir(newFolder());
  try {
    writeFileSync('-rows.csv', '');
    expect(await hintOf('rows.csv')).toBe('Did you mean ./-rows.csv?');
  } finally {
    process.chdir(before);
  }
});
