import { statfsSync } from 'node:fs';

/**
 * Disks that the kernel of this machine alone writes to, by what Linux calls them (statfs(2)): ext, xfs, btrfs, tmpfs,
 * overlay, f2fs, zfs.
 */
const kinds: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
]);

/** Whether what is known of an open file there is what everybody else has made of it, too. In doubt not. */
export function isLocalDisk(path: string): boolean {
  try {
    // Some platforms give 32 bits with a sign.
    return process.platform === 'linux' && kinds.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}
