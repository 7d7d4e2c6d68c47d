import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { syncFolder } from '../file/atomic-file.ts';
import { makeFolders } from '../file/make-folders.ts';
import { nothingThere, thereAlready } from '../file/nothing-there.ts';
import {
  bringBack,
  cut,
  isElsewhere,
  moving,
  type Rewrite,
  restore,
  rewrite,
  syncNoted,
  tailOf,
} from './growing-file.ts';
import { goOnBehindWhatIsLeft, isChanged } from './log-edited.ts';
import { lineAt, linesOf, type Recovery, readAt, recover, type Span } from './log-file.ts';
import { type Job, type LogOptions, type State, work, writeNotes } from './log-queue.ts';
import { type Beside, removeDraft, rewriteBeside } from './rewrite-beside.ts';

export type { LogOptions } from './log-queue.ts';

/**
 * Lines in a file that only grows at its end, until it is rewritten as a whole. One process at a time may have it open:
 * two writers would overwrite each other, so its user holds a lock.
 */
export type AppendLog = ReturnType<typeof logOf>;

/** Opens the log, or makes an empty one; a torn end is cut off. A damaged one is left as it is and refused. */
export async function openLog(path: string, options: LogOptions): Promise<AppendLog> {
  const file = await openOrCreate(path, options.openFile ?? open);
  try {
    const end = await recover(file, options);
    if (!options.held?.isTakenOver) await file.truncate(end);
    const state: State = {
      path,
      options,
      file,
      end,
      room: end,
      tail: tailOf(file, end),
      isEdited: false,
      queue: [],
      notes: [],
      working: undefined,
      cameOne: () => {},
      expected: 1,
      syncMs: 0,
      isUnsynced: false,
      isClosing: false,
      besides: Promise.resolve(),
      isMoving: false,
      isRenameUnsynced: false,
      isTorn: false,
      reads: new Set(),
    };
    if (options.held?.isTakenOver) await leaveBehind(state);
    await removeDraft(path);
    return logOf(state);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * The process that the lock was taken from may wake up in the middle of a write, past every check: then it writes to a
 * file that nobody reads any more.
 */
async function leaveBehind(state: State): Promise<void> {
  await restore(state).catch(async (error) => {
    state.options.held?.check();
    // A disk that is full may have room for a line all the same.
    if (!isFull(error)) throw error;
    await cut(state);
  });
}

/** Reads a log that stays as it is; false where there is none. */
export async function readLog(path: string, recovery: Recovery): Promise<boolean> {
  const file = await open(path, 'r').catch(nothingThere);
  if (file) await recover(file, recovery).finally(() => file.close());
  return file !== undefined;
}

async function openOrCreate(path: string, openFile: typeof open): Promise<FileHandle> {
  await makeFolders(dirname(path));
  // Not 'a': on Linux that ignores the position, and a write that failed half-way is overwritten by the next.
  const created = await openFile(path, 'wx+', 0o600).catch(thereAlready);
  if (created) await syncFolder(dirname(path));
  return created ?? openFile(path, 'r+');
}

function logOf(state: State) {
  const enqueue = (job: Job) => {
    state.queue.push(job);
    state.cameOne();
    state.working ??= work(state);
  };
  const inTurn = <T>(step: () => T | Promise<T>): Promise<T> =>
    new Promise((done, failed) => {
      let result: T;
      const doing = async () => {
        result = await step();
      };
      enqueue({ step: doing, done: () => done(result), failed });
    });
  return {
    /** Bytes of the good lines. */
    size: () => state.end,
    /**
     * Resolves once the line (with its line feed) is on disk; rejects where the disk refuses, and then it is not there.
     * `placed` is told where the line is before anything else happens to the file.
     */
    append: (text: string, placed?: (span: Span) => void) =>
      new Promise<void>((done, failed) => enqueue({ text, needsSync: true, placed, done, failed })),
    /**
     * Resolves once the line is in the file: with all others of this turn of the event loop, in one write, past lines that
     * wait for the disk. A process that is killed then does not lose it; a power cut may, until the next `append` or
     * `close` is done. After a line behind it was noted, an `append` that fails stays there.
     */
    note: (text: string) =>
      new Promise<void>((done, failed) => {
        if (state.notes.length === 0) setImmediate(() => writeNotes(state, enqueue));
        state.notes.push({ text, needsSync: false, placed: undefined, done, failed });
      }),
    /**
     * Replaces the whole file, so that a crash leaves the old one or the new one. `plan` is asked once all earlier lines
     * are on disk. `moved` is called in the very step in which `read` goes over to the new file.
     */
    rewrite: (plan: () => Rewrite) => inTurn(() => moving(state, () => rewrite(state, plan()))),
    /** The same for a large log: lines are appended while it is copied. One at a time; it ends where the log is closed. */
    rewriteBeside(plan: Beside['plan']) {
      const rewriting = reading(state, rewriteBeside(state, { plan, inTurn, isClosing: () => state.isClosing }));
      state.besides = rewriting.catch(() => {});
      return rewriting;
    },
    read: (spans: readonly Span[]) => reading(state, Promise.all(spans.map((span) => readAt(state.file, span)))),
    /** The whole line that begins there. */
    line: (start: number) => reading(state, lineAt(state.file, start)),
    /**
     * Shows every whole line with its place: for one that is not where it was believed to be. False where the file was
     * replaced meanwhile, so that the places hold no more.
     */
    scan: (see: (text: Buffer, span: Span) => void) => scan(state, see),
    /** Somebody may have changed it in place: what was written once may not stand there any more. */
    isEdited: () => state.isEdited || isChanged(state),
    /** To be asked where the lock is lost: perhaps nobody took it, and the folder was removed with all that is in it. */
    async bringBack() {
      // What was begun is over first; it cannot hold the file up, since without the lock nothing is written.
      await state.working;
      return bringBack(state);
    },
    close: () => close(state),
  };
}

const isFull = (error: unknown): boolean => codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';

/** A file that is replaced stays open until what reads it is done. */
function reading<T>({ reads }: State, work: Promise<T>): Promise<T> {
  reads.add(work);
  return work.finally(() => reads.delete(work));
}

async function scan(state: State, see: (text: Buffer, span: Span) => void): Promise<boolean> {
  const { file } = state;
  const looking = async () => {
    for await (const lines of linesOf(file)) {
      for (const { text, span } of lines) if (span.start < state.end) see(text, span);
    }
  };
  await reading(state, looking());
  return file === state.file;
}

async function close(state: State): Promise<void> {
  state.isClosing = true;
  try {
    await state.besides;
    while (state.notes.length > 0) await new Promise((resolve) => setImmediate(resolve));
    await state.working;
    await Promise.allSettled(state.reads);
    const { deleted } = state.options;
    if (deleted && isElsewhere(state)) await restore(state).catch(() => {});
    if (deleted && isChanged(state)) await goOnBehindWhatIsLeft(state).catch(() => {});
    await cut(state).catch(() => {});
    if (state.isUnsynced) await syncNoted(state).catch(() => {});
  } finally {
    // Also where the disk does not even say what is there.
    await state.file.close();
  }
}
