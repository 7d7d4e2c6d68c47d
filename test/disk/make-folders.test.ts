import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolders } from '../../src/disk/file/make-folders.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-folders-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('makes every folder on the way, for their owner alone', async () => {
  await makeFolders(join(folder, 'a', 'b', 'c'));
  expect([await modeOf(join(folder, 'a')), await modeOf(join(folder, 'a', 'b', 'c'))]).toEqual([0o700, 0o700]);
});

test('leaves one that is there as it is, also behind a link', async () => {
  await mkdir(join(folder, 'there'));
  await chmod(join(folder, 'there'), 0o755);
  await symlink('there', join(folder, 'link'));
  await makeFolders(join(folder, 'there'));
  await makeFolders(join(folder, 'link'));
  await makeFolders('/');
  expect(await modeOf(join(folder, 'there'))).toBe(0o755);
});

test('of several at once each finds it there', async () => {
  await Promise.all(Array.from({ length: 10 }, () => makeFolders(join(folder, 'at', 'once'))));
  expect((await stat(join(folder, 'at', 'once'))).isDirectory()).toBe(true);
});

test('a file in its place, or on the way, is refused', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(makeFolders(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolders(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('below /proc it is refused at once, where Node would try for ever', async ({ skip }) => {
  if (process.platform !== 'linux') skip('There is no /proc here.');
  const refused = { code: 'EPERM', path: '/proc/svc', message: 'EPERM: no folder can be made in /proc' };
  await expect(makeFolders('/proc/svc/state')).rejects.toMatchObject(refused);
});
