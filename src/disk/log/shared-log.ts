import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, Context } from '../../context.ts';
import { codeOf } from '../../errors.ts';
import { ontoNewFile, syncFolder } from '../file/atomic-file.ts';
import { makeFolders } from '../file/make-folders.ts';
import { nothingThere } from '../file/nothing-there.ts';
import { isOurs, waitingFor, withLock } from '../lock/lock.ts';
import { giveBackUnlessBusy, type Leasing, leaseNow, newLeasing, release } from './shared-log-lease.ts';
import { openPart, type Part, partPath, writeLines } from './shared-log-part.ts';
import { want } from './wanted.ts';

/**
 * A log of lines that several processes append to at once, in parts (a file for each month). Each appends under a lock
 * that it holds for some milliseconds, and makes its lines of the one that stands before them. A process that is killed
 * loses no line that was appended; what a crash or a full disk has torn is cut off by the next that appends.
 */
export type SharedLog = {
  /** Resolves once the lines are in the file; rejects where the disk refuses, and then none of them is there. */
  append(make: Make): Promise<void>;
  /** Resolves once all lines that were appended before are on disk. */
  sync(): Promise<void>;
};

/**
 * The line that follows `before`, the last line that is there; undefined at the very beginning. `good`: the last one that
 * `isGood`, which is the same unless somebody has changed the file. Without line feeds.
 */
type Make = (before: string | undefined, good: string | undefined) => string;

export type SharedLogOptions = {
  /** The folder of the parts. */
  readonly root: string;
  readonly name: string;
  /** Whether a line is one of this log. */
  readonly isGood: (line: string) => boolean;
  /** The part that is written to now; parts are in order by their names. */
  readonly part: () => string;
  /** For messages. */
  readonly what: string;
  readonly ctx: { readonly clock: Pick<Clock, 'sleep' | 'ticks' | 'now'> } & Partial<
    Pick<Context, 'signal' | 'progress' | 'notice'>
  >;
};

type Waiting = { readonly make: Make; readonly done: () => void; readonly failed: (error: unknown) => void };

type State = {
  readonly options: SharedLogOptions;
  readonly leasing: Leasing;
  queue: Waiting[];
  isWorking: boolean;
  unsynced: Set<string>;
  /** The file of which this process has put the name on disk too. Another one may have made it, and been killed before it did. */
  named: string | undefined;
  /** The disk failed. Our own lock may stand on it for ever, and would be waited for. */
  lostDisk: { readonly error: unknown; readonly until: number } | undefined;
  syncing: Promise<void>;
};

/** A disk that failed is tried again after this. */
const lostDiskMs = 30_000;

export function openSharedLog(options: SharedLogOptions): SharedLog {
  const state: State = {
    options,
    leasing: newLeasing(options, join(options.root, 'lock')),
    queue: [],
    isWorking: false,
    unsynced: new Set(),
    named: undefined,
    lostDisk: undefined,
    syncing: Promise.resolve(),
  };
  return {
    append: (make) =>
      new Promise((done, failed) => {
        state.queue.push({ make, done, failed });
        if (state.isWorking) return;
        state.isWorking = true;
        // All that this turn of the event loop appends goes out in one write.
        setImmediate(() => void work(state));
      }),
    sync() {
      // One that is under way may cover these lines too: it is waited for.
      state.syncing = state.syncing.catch(() => {}).then(() => sync(state));
      return state.syncing;
    },
  };
}

async function work(state: State): Promise<void> {
  while (state.queue.length > 0) {
    const batch = state.queue;
    state.queue = [];
    try {
      if (state.lostDisk && performance.now() < state.lostDisk.until) throw state.lostDisk.error;
      if (!writeNow(state, batch)) await writeInTurn(state, batch);
      for (const { done } of batch) done();
    } catch (error) {
      const isNew = error !== state.lostDisk?.error;
      if (isNew && codeOf(error) === 'EIO') state.lostDisk = { error, until: performance.now() + lostDiskMs };
      release(state.leasing);
      for (const { failed } of batch) failed(error);
    }
  }
  state.isWorking = false;
}

/** False where somebody else has the lock, or the folder is not there yet. */
function writeNow(state: State, batch: readonly Waiting[]): boolean {
  const lease = leaseNow(state.leasing);
  if (!lease) return false;
  const isIn = put(state, lease.part, batch, () => lease.moment.isOurs());
  if (isIn) giveBackUnlessBusy(state.leasing, lease);
  else release(state.leasing);
  return isIn;
}

/** False where the lock was lost: then another process goes on in a file of its own, and the lines count for nothing. */
function put(state: State, part: Part, batch: readonly Waiting[], isOurs: () => boolean): boolean {
  const lines: string[] = [];
  for (const { make } of batch) {
    const before = lines.at(-1);
    lines.push(make(before ?? part.tail.last, before ?? part.tail.good));
  }
  writeLines(part, lines);
  state.leasing.known = part.tail;
  state.unsynced.add(part.path);
  if (isOurs()) return true;
  state.leasing.known = undefined;
  return false;
}

async function writeInTurn(state: State, batch: readonly Waiting[]): Promise<void> {
  const { options } = state;
  const { locks } = state.leasing;
  await makeFolders(locks);
  const unwant = want(locks);
  const waiting = { ...waitingFor(options.ctx, options.what), takesStopped: true };
  try {
    await withLock(locks, waiting, async (held) => {
      const at = { ...options, part: options.part() };
      const path = partPath(at);
      // Whoever it was taken from may wake up in the middle of a write.
      if (held.isTakenOver) await ontoNewFile(path).catch(nothingThere);
      await makeFolders(dirname(path));
      const part = openPart(at, undefined);
      if (!part) throw new Error(`${path} cannot be opened`);
      try {
        if (!put(state, part, batch, () => isOurs(held))) held.check();
      } finally {
        part.close();
      }
    });
  } finally {
    unwant();
  }
}

async function sync(state: State): Promise<void> {
  const paths = [...state.unsynced];
  state.unsynced = new Set();
  for (const [at, path] of paths.entries()) {
    try {
      const file = await open(path, 'r+');
      const name = await syncedFile(file, path).finally(() => file.close());
      if (name === state.named) continue;
      await syncFolder(dirname(path));
      state.named = name;
    } catch (error) {
      for (const left of paths.slice(at)) state.unsynced.add(left);
      throw error;
    }
  }
}

/** Which file it is: whoever takes the lock from a silent holder goes on in a new one of the same name. */
async function syncedFile(file: FileHandle, path: string): Promise<string> {
  await file.datasync();
  const { dev, ino, birthtimeMs } = await file.stat();
  return `${dev} ${ino} ${birthtimeMs} ${path}`;
}
