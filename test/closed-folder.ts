// A folder in which nothing can be made, also not by root.
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { onTestFinished, test } from 'vitest';
import { allowed } from './real-machine.ts';

const isRoot = process.getuid?.() === 0;

/** To root a folder is closed by its disk alone. */
export const withClosed = isRoot
  ? allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt')
  : test;

/** Until the test ends. `view`: another folder, which shows what is in it, and by which root cannot change it. */
export function closeFolder(folder: string, view = folder): string {
  if (!isRoot) {
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    return folder;
  }
  execFileSync('mount', ['--bind', folder, view]);
  onTestFinished(() => void execFileSync('umount', ['-l', view]));
  execFileSync('mount', ['-o', 'remount,bind,ro', view]);
  return view;
}
