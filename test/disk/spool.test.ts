import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newSpool } from '../../src/disk/draft/spool.ts';
import { allowed } from '../real-machine.ts';

const { TMPDIR } = process.env;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-spool-'));
});
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(folder, { recursive: true, force: true });
});

test('what is not taken soon comes back from a file, in its order, which has no name that a killed svc would leave', async () => {
  process.env.TMPDIR = folder;
  const spool = newSpool<number>(2);
  for (let piece = 0; piece < 9; piece++) await spool.put(piece);
  spool.finish();
  const taken: unknown[] = [];
  for (let piece = await spool.take(); piece !== undefined; piece = await spool.take()) taken.push(piece);
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  if (process.platform === 'linux') expect(filesOpenIn(folder)).toEqual([expect.stringMatching(/\(deleted\)$/u)]);
  if (process.platform !== 'win32') expect(readdirSync(folder)).toEqual([]);
  await spool.close();
  expect(readdirSync(folder)).toEqual([]);
});

/** What this process has open there, as the system tells it. */
const filesOpenIn = (place: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(place) ? [path] : [];
    } catch {
      return [];
    }
  });

test('a folder for temporary files that is not there is named', async () => {
  process.env.TMPDIR = join(folder, 'gone');
  await expect(newSpool<number>(0).put(1)).rejects.toMatchObject({
    kind: 'failed',
    message: expect.stringContaining(`${join(folder, 'gone')}: that folder is not there.`),
  });
});

allowed(
  'Mounting a disk',
  'unshare',
  '--mount',
  'mount',
  '-t',
  'tmpfs',
  'tmpfs',
  '/mnt',
)('a full disk is an error of whoever puts, and what was kept before comes back whole', async () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=100k', 'tmpfs', folder]);
  try {
    process.env.TMPDIR = folder;
    const spool = newSpool<string>(0);
    const piece = 'x'.repeat(30_000);
    await spool.put(piece);
    const many = async () => {
      for (let n = 0; n < 9; n++) await spool.put(piece);
    };
    await expect(many()).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('the disk is full'),
    });
    expect(await spool.take()).toBe(piece);
    await spool.close();
  } finally {
    execFileSync('umount', [folder]);
  }
});
