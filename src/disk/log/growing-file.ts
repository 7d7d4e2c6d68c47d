import { type BigIntStats, fstatSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, link, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, orElse } from '../../errors.ts';
import { syncFolder } from '../file/atomic-file.ts';
import { removeFile } from '../file/folder.ts';
import { makeFolders } from '../file/make-folders.ts';
import type { Held } from '../lock/lock-hold.ts';
import { copyAll, type Recovery, type Span, writeAll } from './log-file.ts';

export type WritingOptions = {
  /**
   * The lock under which the log is used, asked before each write. Where it is lost, nothing more is written, and no line
   * counts as written that another process may not have seen.
   */
  readonly held?: Pick<Held, 'check' | 'isTakenOver' | 'lost'>;
  /** For tests: a disk that fills up, or fails. */
  readonly openFile?: typeof open;
  readonly writeNow?: (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => number;
};

/** The open file of an append-only log. */
export type GrowingFile = {
  readonly path: string;
  readonly options: Pick<Recovery, 'mark'> & WritingOptions;
  file: FileHandle;
  /** Where the good lines end. */
  end: number;
  /** How far the file reaches, room ahead included. */
  room: number;
  /** The bytes right before the end, as they were written: while they stand there nobody has moved them. */
  tail: Buffer;
  /** Somebody did: what is known of places may not hold. */
  isEdited: boolean;
  /** Half a line may stand behind the end. */
  isTorn: boolean;
  /** It is cut, lengthened or replaced: a noted line waits its turn. */
  isMoving: boolean;
  /** A power cut may still bring back the file before the last rewriting: no line may be promised. */
  isRenameUnsynced: boolean;
  readonly reads: Set<Promise<unknown>>;
};

/** `moved` is called in the very step in which readers get the new file: what it tells of places holds from then on. */
export type Rewrite = { readonly pieces: Iterable<Uint8Array | Span>; readonly moved?: () => void };

const leastRoom = 64 * 1024;
const mostRoom = 4 * 1024 * 1024;

/** Cuts off what stands behind the good lines. */
export async function cut(log: GrowingFile): Promise<void> {
  log.options.held?.check();
  await log.file.truncate(log.end);
  log.room = log.end;
  log.isTorn = false;
}

/** As much as the file holds already, so that a small one stays small. */
export async function makeRoom(log: GrowingFile, needed: number): Promise<void> {
  log.options.held?.check();
  const ahead = Buffer.alloc(needed + Math.min(Math.max(log.room, leastRoom), mostRoom));
  // A disk that is nearly full may have room for the line all the same.
  await writeAll(log.file, ahead, log.end).catch(() => {});
  log.room = (await log.file.stat()).size;
}

/**
 * The name leads to another file, or to none: it was deleted, moved away or replaced. Asked for each line that is
 * promised, since after a restart only the name counts. Two calls that read no disk, some microseconds in all.
 */
export function isElsewhere({ path, file }: GrowingFile): boolean {
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there === undefined || !isSame(there, fstatSync(file.fd, { bigint: true }));
}

/** Windows may number the disk in two ways, by how it was asked. */
const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.ino === other.ino && (one.dev === other.dev || process.platform === 'win32');

/** The file was taken away from us. We still hold its content, so it comes back whole. What took its place stays beside it. */
export async function restore(log: GrowingFile): Promise<void> {
  await makeFolders(dirname(log.path));
  log.options.held?.check();
  await setAside(log);
  await rewrite(log, { pieces: [{ start: 0, length: log.end }] });
}

/** Where the file of a log is whose lock is lost: `back` where it was written once more, `theirs` where another stands in its place. */
export type Whereabouts = 'there' | 'back' | 'theirs' | 'gone';

/**
 * Without the lock a file is only ever made, and none is replaced: what stands there belongs to whoever has the lock now.
 * So this brings back what went with its folder.
 */
export async function bringBack(log: GrowingFile): Promise<Whereabouts> {
  if (!isElsewhere(log)) return 'there';
  try {
    await makeFolders(dirname(log.path));
    const next = await open(log.path, 'wx', 0o600);
    try {
      await copyAll(log.file, [{ start: 0, length: log.end }], next);
      await next.sync();
    } catch (error) {
      await removeFile(log.path);
      throw error;
    } finally {
      await next.close();
    }
    await syncFolder(dirname(log.path));
    return 'back';
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? 'theirs' : 'gone';
  }
}

const asideAtMost = 9;

async function setAside(log: GrowingFile): Promise<void> {
  const there = statSync(log.path, { throwIfNoEntry: false });
  if (!there?.isFile() || there.size === 0 || !isElsewhere(log)) return;
  for (let number = 1; number <= asideAtMost; number++) {
    try {
      await link(log.path, `${log.path}.replaced-${number}`);
      return;
    } catch (error) {
      // Not every disk has links; then there is nothing that keeps it.
      if (codeOf(error) !== 'EEXIST') return;
    }
  }
}

export async function rewrite(log: GrowingFile, { pieces, moved }: Rewrite): Promise<void> {
  const { path, options, file: old } = log;
  options.held?.check();
  const draft = join(dirname(path), `.${basename(path)}.new`);
  // One that a killed process left. `wx` follows no link that somebody else put there.
  await removeFile(draft);
  const next = await (options.openFile ?? open)(draft, 'wx+', 0o600);
  let size: number;
  try {
    size = await copyAll(old, pieces, next);
    await next.sync();
    options.held?.check();
    renameSync(draft, path);
  } catch (error) {
    await next.close();
    // Whoever has the lock now may be writing one of the same name.
    if (!options.held?.lost.aborted) await removeFile(draft);
    throw error;
  }
  goOver(log, next, size);
  moved?.();
  await syncRename(log);
}

/**
 * Goes over to a new file in one step, without waiting: who reads by an old place has the old file, and who reads by a new
 * one has the new file.
 */
export function goOver(log: GrowingFile, next: FileHandle, size: number): void {
  const { file: old } = log;
  Object.assign(log, { file: next, end: size, room: size, isTorn: false, isRenameUnsynced: true });
  log.tail = tailOf(next, size);
  void Promise.allSettled(log.reads).then(() => old.close());
}

export async function syncRename(log: GrowingFile): Promise<void> {
  if (!log.isRenameUnsynced) return;
  await syncFolder(dirname(log.path));
  log.isRenameUnsynced = false;
}

export async function moving(log: GrowingFile, step: () => Promise<void>): Promise<void> {
  log.isMoving = true;
  try {
    await step();
  } finally {
    log.isMoving = false;
  }
}

/** This only writes into memory, which is quicker here than in another thread. A sync takes the time. */
export function writeWhole(log: GrowingFile, bytes: Buffer): void {
  const { writeNow = writeSync, held } = log.options;
  held?.check();
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeNow(log.file.fd, bytes, done, bytes.length - done, log.end + done);
    }
  } catch (error) {
    log.isTorn = true;
    throw error;
  }
  log.end += bytes.length;
  log.tail = Buffer.concat([log.tail, bytes.subarray(-tailLength)]).subarray(-tailLength);
}

export async function takeBack(log: GrowingFile, start: number): Promise<void> {
  log.end = start;
  log.tail = tailOf(log.file, start);
  log.isTorn = true;
  await cut(log);
}

export async function syncNoted(log: GrowingFile): Promise<void> {
  await log.file.datasync();
  writeMark(log, log.end);
}

/** Not synced: an older mark is correct too. A disk that refuses even this shows it at the next line. */
export function writeMark({ options: { mark, writeNow = writeSync, held }, file }: GrowingFile, end: number): void {
  if (!mark) return;
  const text = mark.text(end);
  try {
    held?.check();
    writeNow(file.fd, Buffer.from(text), 0, text.length, 0);
  } catch {}
}

/** More than any two lines have in common at their ends. */
const tailLength = 256;

/** The bytes right before the end; fewer where the disk gives no more. */
export function tailOf({ fd }: Pick<FileHandle, 'fd'>, end: number): Buffer {
  const tail = Buffer.alloc(Math.min(tailLength, end));
  // A disk that refuses to be read says nothing of who changed it.
  const length = orElse(() => readSync(fd, tail, 0, tail.length, end - tail.length), 0);
  return tail.subarray(0, length);
}
