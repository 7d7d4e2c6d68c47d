import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { orElse } from '../../errors.ts';

/** The folder that svc was started in; undefined where somebody has removed it since. */
export const workingFolder = (): string | undefined => orElse(() => process.cwd(), undefined);

/** Where to start a program that is given whole paths: it can start in the folder that is there. */
export const startingFolder = (): string => workingFolder() ?? '/';

/**
 * Node starts no thread in a folder that is gone. There is one of svc's own, then, until the thread runs; after that it
 * is gone as before, so that no relative path comes to mean something.
 */
export function startThread(start: () => Worker): Worker {
  if (workingFolder() !== undefined) return start();
  const folder = mkdtempSync(join(tmpdir(), 'svc-'));
  process.chdir(folder);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return start().once('online', remove).once('error', remove);
}
