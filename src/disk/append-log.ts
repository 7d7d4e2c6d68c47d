import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isCode, syncFolder } from './atomic-file.ts';
import {
  cut,
  type GrowingFile,
  isDeleted,
  makeRoom,
  moving,
  type Rewrite,
  restore,
  rewrite,
  syncNoted,
  takeBack,
  writeMark,
  writeWhole,
} from './growing-file.ts';
import { type Recovery, readAt, recover, type Span } from './log-file.ts';

export type { Rewrite } from './growing-file.ts';

/**
 * Lines in a file that only grows at its end, until it is rewritten as a whole. One process at a time may have it open:
 * two writers would overwrite each other, so its user holds a lock.
 */
export type AppendLog = {
  /** Bytes of the good lines. */
  size(): number;
  /**
   * Resolves once the line (with its line feed) is on disk; rejects where the disk refuses, and then it is not there.
   * `placed` is told where the line is before anything else happens to the file.
   */
  append(line: string, placed?: (span: Span) => void): Promise<void>;
  /**
   * Resolves once the line is in the file: with all others of this turn of the event loop, in one write, past lines that
   * wait for the disk. A process that is killed then does not lose it; a power cut may, until the next `append` or
   * `close` is done. After a line behind it was noted, an `append` that fails stays there.
   */
  note(line: string): Promise<void>;
  /**
   * Replaces the whole file, so that a crash leaves the old one or the new one. `plan` is asked once all earlier lines
   * are on disk; undefined changes nothing. `moved` is called when the new file is in place.
   */
  rewrite(plan: () => Rewrite | undefined): Promise<void>;
  read(spans: readonly Span[]): Promise<(Buffer | undefined)[]>;
  close(): Promise<void>;
};

export type LogOptions = Recovery & {
  /** `alone`: every line has a sync of its own. Needed where a bad line before a good one is refused and no mark is kept. */
  readonly syncs?: 'together' | 'alone';
  /** Writes zeros ahead of the end: a sync that need not record a new length is several times faster. */
  readonly room?: 'ahead';
  /** Writes the file again where somebody deletes it while it is in use. */
  readonly deleted?: 'restore';
  /** For tests: a disk that fills up, or fails. */
  readonly openFile?: typeof open;
  readonly writeNow?: (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => number;
};

type Append = {
  readonly text: string;
  readonly needsSync: boolean;
  readonly placed: ((span: Span) => void) | undefined;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};
type Job = Append | (Pick<Append, 'done' | 'failed'> & { readonly plan: () => Rewrite | undefined });

/** An open log. */
type State = GrowingFile & {
  readonly options: LogOptions;
  queue: Job[];
  /** Lines that are noted at the end of this turn of the event loop. */
  notes: Append[];
  working: Promise<void> | undefined;
  /** Told of each job that comes. */
  cameOne: () => void;
  /** Of the last commit. */
  expected: number;
  syncMs: number;
  /** Noted lines that no sync has covered. */
  isUnsynced: boolean;
};

/** Opens the log, or makes an empty one; a torn end is cut off. A damaged one is left as it is and refused. */
export async function openLog(path: string, options: LogOptions): Promise<AppendLog> {
  const file = await openOrCreate(path, options.openFile ?? open);
  try {
    const end = await recover(file, options);
    await file.truncate(end);
    const state: State = {
      path,
      options,
      file,
      end,
      room: end,
      queue: [],
      notes: [],
      working: undefined,
      cameOne: () => {},
      expected: 1,
      syncMs: 0,
      isUnsynced: false,
      isMoving: false,
      lookedAt: 0,
      isTorn: false,
      reads: new Set(),
    };
    return logOf(state);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a log that stays as it is; false where there is none. */
export async function readLog(path: string, recovery: Recovery): Promise<boolean> {
  const file = await open(path, 'r').catch((error) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (!file) return false;
  try {
    await recover(file, recovery);
    return true;
  } finally {
    await file.close();
  }
}

async function openOrCreate(path: string, openFile: typeof open): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Not 'a': on Linux that ignores the position, and a write that failed half-way is overwritten by the next.
  const created = await openFile(path, 'wx+', 0o600).catch((error) => {
    if (isCode(error, 'EEXIST')) return undefined;
    throw error;
  });
  if (created) await syncFolder(dirname(path));
  return created ?? openFile(path, 'r+');
}

function logOf(state: State): AppendLog {
  const enqueue = (job: Job) => {
    state.queue.push(job);
    state.cameOne();
    state.working ??= work(state);
  };
  return {
    size: () => state.end,
    append: (text, placed) => new Promise((done, failed) => enqueue({ text, needsSync: true, placed, done, failed })),
    note: (text) =>
      new Promise((done, failed) => {
        if (state.notes.length === 0) setImmediate(() => writeNotes(state, enqueue));
        state.notes.push({ text, needsSync: false, placed: undefined, done, failed });
      }),
    rewrite: (plan) => new Promise((done, failed) => enqueue({ plan, done, failed })),
    read: (spans) => {
      const reading = Promise.all(spans.map((span) => readAt(state.file, span)));
      state.reads.add(reading);
      return reading.finally(() => state.reads.delete(reading));
    },
    close: () => close(state),
  };
}

function writeNotes(state: State, enqueue: (job: Job) => void): void {
  const { notes } = state;
  state.notes = [];
  const bytes = Buffer.from(notes.map(({ text }) => text).join(''));
  const fits = !state.options.room || state.end + bytes.length <= state.room;
  if (state.isMoving || state.isTorn || !fits) {
    for (const note of notes) enqueue(note);
    return;
  }
  try {
    writeWhole(state, bytes);
    state.isUnsynced = true;
    for (const { done } of notes) done();
  } catch (error) {
    for (const { failed } of notes) failed(error);
  }
}

async function close(state: State): Promise<void> {
  while (state.notes.length > 0) await new Promise((resolve) => setImmediate(resolve));
  await state.working;
  await Promise.allSettled(state.reads);
  const { deleted } = state.options;
  if (deleted && (await state.file.stat()).nlink === 0) await restore(state).catch(() => {});
  await state.file.truncate(state.end).catch(() => {});
  if (state.isUnsynced) await syncNoted(state).catch(() => {});
  await state.file.close();
}

/** One write at a time. Everything that came while the disk was busy goes out in one write and one sync. */
async function work(state: State): Promise<void> {
  const isAlone = state.options.syncs === 'alone';
  while (state.queue.length > 0) {
    // Neither a rewrite nor a line that waits for no sync need wait for more lines.
    if (!isAlone && state.queue.some(isSynced)) await gather(state);
    const next = batchOf(state, isAlone ? 1 : Number.POSITIVE_INFINITY);
    const start = performance.now();
    try {
      if ('plan' in next) await moving(state, () => rewrite(state, next.plan()));
      else await append(state, next.batch);
      for (const job of 'plan' in next ? [next] : next.batch) job.done();
    } catch (error) {
      for (const job of 'plan' in next ? [next] : next.batch) job.failed(error);
    }
    if ('plan' in next || !next.batch.some(isSynced)) continue;
    state.syncMs = performance.now() - start;
    state.expected = next.batch.filter(isSynced).length + state.queue.filter(isSynced).length;
  }
  state.working = undefined;
}

/** The lines up to the next rewrite, or that rewrite. */
function batchOf({ queue }: State, most: number): { readonly batch: readonly Append[] } | Exclude<Job, Append> {
  const batch: Append[] = [];
  for (const job of queue) {
    if ('plan' in job || batch.length >= most) break;
    batch.push(job);
  }
  const [first] = queue.splice(0, Math.max(1, batch.length));
  return first && 'plan' in first ? first : { batch };
}

/** A disk that is done sooner is not waited for: while it works on one half, the other half is received. */
const quickSyncMs = 1;

/**
 * On a slow disk waits for as many as came last time: their senders send again as soon as they are answered, and one
 * sync for all of them is twice as fast as one for each half.
 */
async function gather(state: State): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const isWhole = () => state.queue.filter(isSynced).length >= state.expected;
  if (state.syncMs < quickSyncMs || isWhole()) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.min(state.syncMs / 2, 5));
    state.cameOne = () => {
      if (!isWhole()) return;
      clearTimeout(timer);
      resolve();
    };
  });
  state.cameOne = () => {};
}

const isSynced = (job: Job): boolean => 'text' in job && job.needsSync;

async function append(state: State, batch: readonly Append[]): Promise<void> {
  const { room, deleted } = state.options;
  const bytes = Buffer.from(batch.map(({ text }) => text).join(''));
  await moving(state, async () => {
    if (state.isTorn) await cut(state);
    if (room && state.end + bytes.length > state.room) await makeRoom(state, bytes.length);
  });
  const start = state.end;
  const end = start + bytes.length;
  try {
    writeWhole(state, bytes);
    if (batch.some(isSynced)) {
      state.isUnsynced = false;
      await state.file.datasync();
    } else state.isUnsynced = true;
    if (deleted && (await isDeleted(state))) await moving(state, () => restore(state));
  } catch (error) {
    // After a failed sync the system may believe the pages clean: only writing them again makes them durable.
    if (state.end <= end) await moving(state, () => takeBack(state, start)).catch(() => {});
    throw error;
  }
  let at = start;
  for (const { text, placed } of batch) {
    const length = Buffer.byteLength(text);
    placed?.({ start: at, length });
    at += length;
  }
  if (batch.some(isSynced)) writeMark(state, end);
}
