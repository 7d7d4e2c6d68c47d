import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noFile } from '../../src/disk/place/no-file.ts';

test('a file that is not there is told by the name of a file that is near, and no folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-no-file-'));
  const hint = async () => (await noFile(join(folder, 'rows.csv'), 'There is no file rows.csv')).hint;
  mkdirSync(join(folder, 'rows.cvs'));
  expect(await hint()).toBe(`Check the name: svc looked in ${folder}`);
  writeFileSync(join(folder, 'row.csv'), '');
  expect(await hint()).toBe(`Did you mean ${join(folder, 'row.csv')}?`);
});
