import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../errors.ts';
import { newEntryName, parseEntry } from './lock-entry.ts';
import { elapsedMs, momentBy, realClock, removeOwn, stoppedMs, traceOf } from './lock-hold.ts';

/**
 * The lock of `lock.ts`, taken without a wait and held for milliseconds, so without a heartbeat. What goes on between does
 * not let other work of this process in, and takes a tenth of what it takes by way of threads.
 */
export type Moment = {
  /** False once another process has taken it, while this one stood still. */
  isOurs(): boolean;
  release(): void;
};

/** Undefined where anybody is there, dead or alive: `withLock` tells the one from the other. The folder must be there. */
export function lockNow(folder: string): Moment | undefined {
  if (othersIn(folder)) return undefined;
  const name = newEntryName();
  const path = join(folder, name);
  closeSync(openSync(path, 'wx', 0o600));
  let isFree = false;
  try {
    isFree = !othersIn(folder, name);
  } finally {
    if (!isFree) remove(folder, name);
  }
  if (!isFree) return undefined;
  const taken = momentBy(realClock);
  return {
    isOurs() {
      if (elapsedMs(taken, momentBy(realClock)) < surelyOursMs || isThere(path)) return true;
      rmSync(traceOf(folder, name), { force: true });
      return false;
    },
    release: () => remove(folder, name),
  };
}

/** Half of the time for which a holder must have stood still before anybody takes the lock from it. */
const surelyOursMs = stoppedMs / 2;

const othersIn = (folder: string, own?: string): boolean =>
  readdirSync(folder).some((name) => name !== own && parseEntry(name) !== undefined);

/** Opened, since a file server is asked again for a file that is opened. */
const isThere = (path: string): boolean => orElse(() => closeSync(openSync(path, 'r')), 'gone') !== 'gone';

/** Where the disk fails nobody of this process waits for it. */
const remove = (folder: string, name: string): void => orElse(() => removeOwn(folder, name), undefined);
