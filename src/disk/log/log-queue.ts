import {
  cut,
  type GrowingFile,
  isElsewhere,
  makeRoom,
  moving,
  restore,
  syncRename,
  takeBack,
  type WritingOptions,
  writeMark,
  writeWhole,
} from './growing-file.ts';
import { goOnBehindWhatIsLeft, isChanged } from './log-edited.ts';
import type { Recovery, Span } from './log-file.ts';

export type LogOptions = Recovery &
  WritingOptions & {
    /** `alone`: every line has a sync of its own. Needed where a bad line before a good one is refused and no mark is kept. */
    readonly syncs?: 'together' | 'alone';
    /** Writes zeros ahead of the end: a sync that need not record a new length is several times faster. */
    readonly room?: 'ahead';
    /**
     * Writes the file again where somebody deletes, moves or replaces it while it is in use, before a line counts as written. Where
     * they change it in place, it goes on behind what they left.
     */
    readonly deleted?: 'restore';
  };

type Append = {
  readonly text: string;
  readonly needsSync: boolean;
  readonly placed: ((span: Span) => void) | undefined;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};
/** What waits for its turn at the file. */
export type Job = Append | (Pick<Append, 'done' | 'failed'> & { readonly step: () => Promise<void> });

/** An open log. */
export type State = GrowingFile & {
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
  /** A rewriting beside the lines is to end. */
  isClosing: boolean;
  besides: Promise<void>;
};

/** The lines that one turn of the event loop noted. */
export function writeNotes(state: State, enqueue: (job: Job) => void): void {
  const { notes } = state;
  state.notes = [];
  const bytes = Buffer.from(notes.map(({ text }) => text).join(''));
  const fits = !state.options.room || state.end + bytes.length <= state.room;
  if (state.isMoving || state.isTorn || !fits || (state.options.deleted && isChanged(state))) {
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

/** One write at a time. Everything that came while the disk was busy goes out in one write and one sync. */
export async function work(state: State): Promise<void> {
  const isAlone = state.options.syncs === 'alone';
  while (state.queue.length > 0) {
    // Neither a step nor a line that waits for no sync need wait for more lines.
    if (!isAlone && state.queue.some(isSynced)) await gather(state);
    const next = batchOf(state, isAlone ? 1 : Number.POSITIVE_INFINITY);
    const start = performance.now();
    try {
      if ('step' in next) await next.step();
      else await append(state, next.batch);
      for (const job of 'step' in next ? [next] : next.batch) job.done();
    } catch (error) {
      for (const job of 'step' in next ? [next] : next.batch) job.failed(error);
    }
    if ('step' in next || !next.batch.some(isSynced)) continue;
    state.syncMs = performance.now() - start;
    state.expected = next.batch.filter(isSynced).length + state.queue.filter(isSynced).length;
  }
  state.working = undefined;
}

/** The lines up to the next step, or that step. */
function batchOf({ queue }: State, most: number): { readonly batch: readonly Append[] } | Exclude<Job, Append> {
  const batch: Append[] = [];
  for (const job of queue) {
    if ('step' in job || batch.length >= most) break;
    batch.push(job);
  }
  const [first] = queue.splice(0, Math.max(1, batch.length));
  return first && 'step' in first ? first : { batch };
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
  const { room, deleted, held } = state.options;
  const bytes = Buffer.from(batch.map(({ text }) => text).join(''));
  await moving(state, async () => {
    await syncRename(state);
    if (deleted && isChanged(state)) await goOnBehindWhatIsLeft(state);
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
    // Whoever has taken the lock since may have read the file before this line was in it.
    held?.check();
    if (deleted && isElsewhere(state)) await moving(state, () => restore(state));
  } catch (error) {
    state.isUnsynced = true;
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
