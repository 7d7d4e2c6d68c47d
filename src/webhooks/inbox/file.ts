import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../disk/atomic-file.ts';
import { decodeLine, type InboxLine } from './line.ts';

/** The inbox as a file: lines, where they are, and moving them. */
export const inboxFile = 'inbox.jsonl';

export type Span = { readonly start: number; readonly length: number };

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

/** Whole lines with their places; what follows the last line end is left out. */
export async function* linesOf(file: FileHandle): AsyncGenerator<{ text: string; span: Span }> {
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

export async function lineAt(file: FileHandle, { start, length }: Span): Promise<InboxLine | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return bytesRead === length ? decodeLine(buffer.toString('utf8')) : undefined;
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Neighbouring spans as one, so that copying reads long stretches. */
export function joined(spans: readonly Span[]): Span[] {
  const result: { start: number; length: number }[] = [];
  for (const { start, length } of spans) {
    const last = result.at(-1);
    if (last && last.start + last.length === start) last.length += length;
    else result.push({ start, length });
  }
  return result;
}

export async function copy(from: FileHandle, { start, length }: Span, to: FileHandle, at: number): Promise<number> {
  const block = Buffer.allocUnsafe(Math.min(length, 1 << 20));
  for (let done = 0; done < length; ) {
    const { bytesRead } = await from.read(block, 0, Math.min(block.length, length - done), start + done);
    if (bytesRead === 0) throw new Error('The inbox is shorter than it was.');
    await writeAll(to, block.subarray(0, bytesRead), at + done);
    done += bytesRead;
  }
  return at + length;
}
