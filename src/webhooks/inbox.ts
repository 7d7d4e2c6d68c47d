import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode, syncFolder } from '../disk/atomic-file.ts';
import { type Arrival, decodeLine, encodeLine, type InboxLine, type Outcome, settles } from './inbox-line.ts';

/**
 * The deliveries of a listener, in a file of JSON lines that only ever grows at its end until it is written anew
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

type Span = { readonly start: number; readonly length: number };
type Place = { readonly line: Span; readonly marks: Span[]; owed: boolean };
type Write = { readonly line: InboxLine; readonly done: () => void; readonly failed: (error: unknown) => void };

export const inboxFile = 'inbox.jsonl';

export async function openInbox(
  folder: string,
  { limit, openFile = open }: { readonly limit: number; readonly openFile?: typeof open },
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
  // A torn end was never answered 2xx, since it never was wholly on disk.
  await file.truncate(end);

  let queue: Write[] = [];
  let writing: Promise<void> | undefined;
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
    await undefined;
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        await append(batch.map((entry) => entry.line));
        for (const entry of batch) entry.done();
        if (places.size > limit + Math.max(16, limit >> 2)) await rewrite();
      } catch (error) {
        for (const entry of batch) entry.failed(error);
      }
    }
    writing = undefined;
  }

  async function append(lines: readonly InboxLine[]): Promise<void> {
    const chunks = lines.map((line) => Buffer.from(encodeLine(line)));
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    try {
      await writeAll(file, bytes, end);
      const [, stats] = await Promise.all([file.datasync(), file.stat()]);
      if (stats.nlink === 0) await restore(bytes.length);
    } catch (error) {
      // After a failed sync the system may believe the pages clean: only writing them anew makes them durable.
      await file.truncate(end).catch(() => {});
      throw error;
    }
    for (const [index, line] of lines.entries()) {
      const length = chunks[index]?.length ?? 0;
      place(line, { start: end, length });
      end += length;
    }
  }

  /** The file was deleted under us. We still hold its content, so it comes back whole. */
  async function restore(unplaced: number): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replace([{ start: 0, length: end + unplaced }]);
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
      await file.close();
    },
  };
}

/** Reads an inbox that may be in use by another process: an unfinished last line is simply not there yet. */
export async function* readInbox(folder: string): AsyncGenerator<InboxLine> {
  const file = await open(join(folder, inboxFile), 'r').catch((error) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (!file) return;
  try {
    for await (const { text } of linesOf(file)) {
      const line = decodeLine(text);
      if (line) yield line;
    }
  } finally {
    await file.close();
  }
}

async function* linesOf(file: FileHandle): AsyncGenerator<{ text: string; span: Span }> {
  const block = Buffer.allocUnsafe(1 << 18);
  let parts: Buffer[] = [];
  let start = 0;
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) return;
    let from = 0;
    for (let to = block.indexOf(10); to !== -1 && to < bytesRead; to = block.indexOf(10, from)) {
      const line = Buffer.concat([...parts, block.subarray(from, to)]);
      const length = line.length + 1;
      yield { text: line.toString('utf8'), span: { start, length } };
      start += length;
      parts = [];
      from = to + 1;
    }
    if (from < bytesRead) parts.push(Buffer.from(block.subarray(from, bytesRead)));
    at += bytesRead;
  }
}

async function lineAt(file: FileHandle, { start, length }: Span): Promise<InboxLine | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return bytesRead === length ? decodeLine(buffer.toString('utf8')) : undefined;
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Neighbouring spans as one, so that copying reads long stretches. */
function joined(spans: readonly Span[]): Span[] {
  const result: { start: number; length: number }[] = [];
  for (const { start, length } of spans) {
    const last = result.at(-1);
    if (last && last.start + last.length === start) last.length += length;
    else result.push({ start, length });
  }
  return result;
}

async function copy(from: FileHandle, { start, length }: Span, to: FileHandle, at: number): Promise<number> {
  const block = Buffer.allocUnsafe(Math.min(length, 1 << 20));
  for (let done = 0; done < length; ) {
    const { bytesRead } = await from.read(block, 0, Math.min(block.length, length - done), start + done);
    if (bytesRead === 0) throw new Error('The inbox is shorter than it was.');
    await writeAll(to, block.subarray(0, bytesRead), at + done);
    done += bytesRead;
  }
  return at + length;
}
