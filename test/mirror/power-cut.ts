import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { parseEntry } from '../../src/disk/lock/lock-entry.ts';
import { entriesBelow } from '../locks.ts';

type AtStep = (folder: string, at: number, cut: () => void) => () => void;

/**
 * What kill-at-step.cjs does to a process, without one: the folder is afterwards as it was right before the Nth step of
 * `work` in it, whatever `work` did later, and the locks in it are those of a process that is gone. Resolves with whether
 * it came so far.
 */
export async function cutAtStep(folder: string, at: number, work: () => Promise<unknown>): Promise<boolean> {
  const { atStep } = createRequire(import.meta.url)('./kill-at-step.cjs') as { atStep: AtStep };
  const saved = join(mkdtempSync(`${folder}-`), 'saved');
  let isCut = false;
  const undo = atStep(`${folder}/`, at, () => {
    if (!isCut) cpSync(folder, saved, { recursive: true, preserveTimestamps: true });
    isCut = true;
    throw new Error('The power is gone.');
  });
  try {
    await work();
  } finally {
    undo();
  }
  if (isCut) {
    rmSync(folder, { recursive: true });
    renameSync(saved, folder);
    for (const path of entriesBelow(folder)) renameSync(path, join(dirname(path), ofAnother(basename(path))));
  }
  if (existsSync(dirname(saved))) rmSync(dirname(saved), { recursive: true });
  return isCut;
}

/** The entry in a lock as a process has made it that had this process's number before. */
function ofAnother(name: string): string {
  const { host, pid, world } = parseEntry(name) ?? {};
  return [host, pid, '1', 'killed', world].join('.');
}
