import { writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode, syncFolder } from '../../disk/atomic-file.ts';
import { copy, inboxFile, joined, lineAt, linesOf, type Span, writeAll } from './file.ts';
import { type Arrival, decodeLine, encodeLine, type InboxLine, type Outcome, settles } from './line.ts';

/**
 * The deliveries of a listener, in a file of JSON lines that only grows at its end until it is rewritten
 * without the oldest. What `add` promised is on disk. Only where each line is stays in memory, never a body.
 * One process at a time (`seat.ts`): two writers would overwrite each other.
 */
export type Inbox = {
  has(id: string): boolean;
  /** Resolves once the delivery is durable; rejects where the disk refuses, and then it is not stored. */
  add(arrival: Arrival): Promise<void>;
  /** Not waited for by anyone who answers: lost in a crash, the delivery is merely forwarded once more. */
  settle(id: string, outcome: Outcome): Promise<void>;
  read(id: string): Promise<Received | undefined>;
  /** Ids that are still to be forwarded, oldest first. */
  waiting(): string[];
  /** The newest, oldest first. */
  latest(count: number): string[];
  close(): Promise<void>;
};

/** A delivery with what became of it. */
export type Received = { readonly arrival: Arrival; readonly outcomes: readonly Outcome[] };

type Place = { readonly line: Span; readonly marks: Span[]; owed: boolean };
type Write = { readonly line: InboxLine; readonly done: () => void; readonly failed: (error: unknown) => void };

export type InboxOptions = {
  readonly limit: number;
  /** For tests: a disk that fills up, or fails. */
  readonly openFile?: typeof open;
  readonly writeNow?: (fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => number;
};

const leastRoom = 64 * 1024;
const mostRoom = 4 * 1024 * 1024;

export async function openInbox(
  folder: string,
  { limit, openFile = open, writeNow = writeSync }: InboxOptions,
): Promise<Inbox> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, inboxFile);
  // Not 'a': on Linux that ignores the position, and a write that failed half-way is overwritten by the next.
  const created = await openFile(path, 'wx+', 0o600).catch((error) => {
    if (isCode(error, 'EEXIST')) return undefined;
    throw error;
  });
  if (created) await syncFolder(folder);
  let file: FileHandle = created ?? (await openFile(path, 'r+'));
  let places = new Map<string, Place>();
  let end = 0;
  let writtenLimit = 0;
  for await (const { text, span } of linesOf(file)) {
    const line = decodeLine(text);
    if (line) place(line, span);
    end = span.start + span.length;
  }
  // What follows the last whole line is room that was made ahead, or a line that never was wholly on disk, and so
  // never was answered 2xx.
  await file.truncate(end);
  let room = end;

  let queue: Write[] = [];
  let writing: Promise<void> | undefined;
  let lookedAt = 0;
  /** Of the last commit. */
  let expected = 1;
  let syncMs = 0;
  const reads = new Set<Promise<unknown>>();
  if (writtenLimit !== limit) await write({ kind: 'limit', limit });

  function place(line: InboxLine, span: Span): void {
    if (line.kind === 'limit') writtenLimit = line.limit;
    else if (line.kind === 'arrival') {
      places.set(line.arrival.id, { line: span, marks: [], owed: line.arrival.to !== undefined });
    } else {
      const known = places.get(line.id);
      known?.marks.push(span);
      if (known && settles(line.outcome)) known.owed = false;
    }
  }

  function write(line: InboxLine): Promise<void> {
    return new Promise((done, failed) => {
      queue.push({ line, done, failed });
      writing ??= commit();
    });
  }

  /** Everything that came while the disk was busy goes out in one write and one sync. */
  async function commit(): Promise<void> {
    while (queue.length > 0) {
      await gather(expected, Math.min(syncMs / 2, 5));
      const batch = queue;
      queue = [];
      const start = performance.now();
      try {
        await append(batch.map((entry) => entry.line));
        for (const entry of batch) entry.done();
        // Seldom, since everything waits for it: readers look at no more than the limit anyway.
        if (places.size > limit + Math.max(16, limit)) await rewrite();
      } catch (error) {
        for (const entry of batch) entry.failed(error);
      }
      syncMs = performance.now() - start;
      expected = batch.length + queue.length;
    }
    writing = undefined;
  }

  /**
   * Waits for as many as came last time: their senders send again as soon as they are answered, and one sync for all
   * of them is twice as fast as one for each half.
   */
  async function gather(expected: number, patienceMs: number): Promise<void> {
    const until = performance.now() + patienceMs;
    do await new Promise((resolve) => setImmediate(resolve));
    while (queue.length < expected && performance.now() < until);
  }

  async function append(lines: readonly InboxLine[]): Promise<void> {
    const texts = lines.map(encodeLine);
    const bytes = Buffer.from(texts.join(''));
    try {
      if (end + bytes.length > room) await makeRoom(bytes.length);
      // Into memory only, which is quicker done than handed to another thread. The sync is what takes its time.
      for (let done = 0; done < bytes.length; ) {
        done += writeNow(file.fd, bytes, done, bytes.length - done, end + done);
      }
      await file.datasync();
      if (await isDeleted()) await restore(bytes.length);
    } catch (error) {
      // After a failed sync the system may believe the pages clean: only writing them again makes them durable.
      await file.truncate(end).catch(() => {});
      room = end;
      throw error;
    }
    for (const [index, line] of lines.entries()) {
      const length = Buffer.byteLength(texts[index] ?? '');
      place(line, { start: end, length });
      end += length;
    }
  }

  /**
   * Zeros ahead of the end: a sync that need not record a new length is several times faster. As much as the file
   * holds already, so that a small inbox stays small.
   */
  async function makeRoom(needed: number): Promise<void> {
    const ahead = Buffer.alloc(needed + Math.min(Math.max(room, leastRoom), mostRoom));
    // A disk that is nearly full may have room for the line all the same.
    await writeAll(file, ahead, end).catch(() => {});
    room = (await file.stat()).size;
  }

  /** Looked at once a second at most: until then what was written is still in our hands. */
  async function isDeleted(): Promise<boolean> {
    const now = performance.now();
    if (now - lookedAt < 1_000) return false;
    lookedAt = now;
    return (await file.stat()).nlink === 0;
  }

  /** The file was deleted under us. We still hold its content, so it comes back whole. */
  async function restore(unplaced: number): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replace([{ start: 0, length: end + unplaced }]);
    room = end + unplaced;
  }

  /** Leaves out the oldest. What is still owed to the app stays: it was accepted, and must not be lost. */
  async function rewrite(): Promise<void> {
    let surplus = places.size - limit;
    const kept = new Map<string, Place>();
    const spans: Span[] = [];
    let at = 0;
    const move = (span: Span): Span => {
      spans.push(span);
      at += span.length;
      return { start: at - span.length, length: span.length };
    };
    const head = Buffer.from(encodeLine({ kind: 'limit', limit }));
    at = head.length;
    for (const [id, found] of places) {
      if (surplus-- > 0 && !found.owed) continue;
      kept.set(id, { line: move(found.line), marks: found.marks.map(move), owed: found.owed });
    }
    if (kept.size === places.size) return;
    await replace(spans, head);
    places = kept;
    end = at;
    room = at;
  }

  async function replace(spans: readonly Span[], head: Uint8Array = new Uint8Array()): Promise<void> {
    const draft = join(folder, `.${inboxFile}.new`);
    const next = await openFile(draft, 'w+', 0o600);
    try {
      await writeAll(next, head, 0);
      let at = head.length;
      for (const span of joined(spans)) at = await copy(file, span, next, at);
      await next.sync();
      await rename(draft, path);
    } catch (error) {
      await next.close();
      await rm(draft, { force: true });
      throw error;
    }
    await syncFolder(folder);
    const old = file;
    file = next;
    void Promise.allSettled(reads).then(() => old.close());
  }

  async function read(id: string): Promise<Received | undefined> {
    const found = places.get(id);
    if (!found) return undefined;
    const from = file;
    const [first, ...marks] = await Promise.all([found.line, ...found.marks].map((span) => lineAt(from, span)));
    if (first?.kind !== 'arrival') return undefined;
    return {
      arrival: first.arrival,
      outcomes: marks.flatMap((mark) => (mark?.kind === 'outcome' ? [mark.outcome] : [])),
    };
  }

  return {
    has: (id) => places.has(id),
    add: (arrival) => write({ kind: 'arrival', arrival }),
    settle: (id, outcome) => write({ kind: 'outcome', id, outcome }),
    read: (id) => {
      const reading = read(id);
      reads.add(reading);
      return reading.finally(() => reads.delete(reading));
    },
    waiting: () => [...places].flatMap(([id, { owed }]) => (owed ? [id] : [])),
    latest: (count) => [...places.keys()].slice(-count),
    close: async () => {
      await writing;
      await Promise.allSettled(reads);
      if ((await file.stat()).nlink === 0) await restore(0).catch(() => {});
      await file.truncate(end).catch(() => {});
      await file.close();
    },
  };
}
