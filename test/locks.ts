import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseEntry } from '../src/disk/lock/lock-entry.ts';

/** Of another PID namespace: nobody here can tell whether process 77 lives. */
export const thief = `${hostname().replaceAll(/[^\w-]/gu, '-')}.77.1.abc.00ff-4026530000`;

/** Another svc takes the lock; what it returns gives it back. */
export function heldElsewhere(lock: string): () => void {
  mkdirSync(lock, { recursive: true });
  writeFileSync(join(lock, thief), '');
  return () => rmSync(join(lock, thief));
}

/** Every entry of a lock below the folder: the file that is there for as long as the lock is held. */
export function entriesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && (parseEntry(file.name)?.world ?? file.name) !== file.name)
    .map((file) => join(file.parentPath, file.name));
}

/** What another svc does that finds their holders silent. */
export function stealLocks(root: string): number {
  const entries = entriesBelow(root).filter((path) => basename(path) !== thief);
  for (const path of entries) {
    writeFileSync(join(dirname(path), `.taken.${basename(path)}`), thief);
    rmSync(path);
    writeFileSync(join(dirname(path), thief), '');
  }
  return entries.length;
}

/** As if their holders had stood still for so long that another svc takes what they hold. */
export function agedLocks(root: string): number {
  const then = new Date(Date.now() - 95_000);
  const entries = entriesBelow(root);
  for (const path of entries) utimesSync(path, then, then);
  return entries.length;
}
