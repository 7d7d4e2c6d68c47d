// A disk that is full when a send is counted for `max_per_hour`.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { allowed } from '../real-machine.ts';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');

withMounts('a send that cannot be counted does not leave, and the file is named', async () => {
  const { world } = desk();
  const folder = await mkdtemp(join(tmpdir(), 'svc-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  await cp(world.folder, folder, { recursive: true });
  await mkdir(join(folder, 'config'), { recursive: true });
  await writeFile(join(folder, 'config', 'policy.yaml'), 'sends: { max_per_hour: 1 }\n');
  expect(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(65_536))).toThrow('ENOSPC');
  const ran = await svc({ ...world, folder }, ['tickets', 'reply', '8', '--body', 'Hello', '--yes']);
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      `The count of sends in ${join(folder, 'state', 'sends', 'last-hour')} cannot be written: the disk is full.`,
    ),
  });
  expect(writesOf(world)).toEqual([]);
});
