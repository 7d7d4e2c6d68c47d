import { execFileSync } from 'node:child_process';
import { constants, openSync, readSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendUserText } from '../../src/disk/place/user-file.ts';
import { real } from '../real-component.ts';

const freshPath = async () => join(await mkdtemp(join(tmpdir(), 'svc-user-file-')), 'output');

real('mkfifo')('a pipe in the place of a file that svc adds to holds up nothing', async () => {
  const path = await freshPath();
  execFileSync('mkfifo', [path]);
  await expect(appendUserText(path, 'one\n', 'GITHUB_OUTPUT')).rejects.toThrow(
    `GITHUB_OUTPUT cannot be written: ${path} is a pipe that nobody reads.`,
  );

  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  await appendUserText(path, 'one\n', 'GITHUB_OUTPUT');
  const got = Buffer.alloc(10);
  expect(got.toString('utf8', 0, readSync(reader, got))).toBe('one\n');
  await expect(appendUserText(path, 'x'.repeat(10_000_000), 'GITHUB_OUTPUT')).rejects.toThrow(
    `GITHUB_OUTPUT cannot be written: whoever reads ${path} does not take all of it.`,
  );
});

test('what is there stays, and a file that is missing is made', async () => {
  const path = await freshPath();
  await appendUserText(path, 'one\n', 'GITHUB_OUTPUT');
  await appendUserText(path, 'two\n', 'GITHUB_OUTPUT');
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  await expect(appendUserText(join(path, 'below'), 'x', 'GITHUB_OUTPUT')).rejects.toThrow(
    'GITHUB_OUTPUT cannot be written: ',
  );
});
