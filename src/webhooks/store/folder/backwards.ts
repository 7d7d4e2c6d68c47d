import type { FileHandle } from 'node:fs/promises';
import { lineIn } from '../line.ts';
import { inInbox } from './file.ts';

type LineAt = { readonly bytes: Buffer; readonly start: number };

const blockBytes = 1 << 20;

/** Whole lines that begin at `from` or behind it, the last one first, some at a time; a torn end is left out. */
export async function* linesBackwards(file: FileHandle, from = 0): AsyncGenerator<LineAt[]> {
  // The end of a line that begins before what was read.
  let rest: Buffer | undefined;
  for (let at = (await file.stat()).size; at > from; ) {
    const length = Math.min(blockBytes, at - from);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at - length);
    if (bytesRead < length) throw new Error('The inbox is shorter than it was.');
    at -= length;
    const text = rest ? Buffer.concat([buffer, rest]) : buffer;
    let end = rest ? text.length : text.lastIndexOf(lineFeed) + 1;
    if (end === 0) continue;
    const lines: LineAt[] = [];
    for (let before = lineBefore(text, end); before > 0 || (before === 0 && at === from); ) {
      lines.push({ bytes: text.subarray(before, end - 1), start: at + before });
      end = before;
      if (end === 0) break;
      before = lineBefore(text, end);
    }
    rest = text.subarray(0, end);
    yield lines;
  }
}

const lineFeed = 10;

/** Where the line begins that ends there. */
const lineBefore = (text: Buffer, end: number): number => (end < 2 ? 0 : text.lastIndexOf(lineFeed, end - 2) + 1);

/** Ids of the newest deliveries, the newest first. */
export async function newestIn(folder: string, most: number): Promise<string[]> {
  const ids = new Set<string>();
  await inInbox(folder, async (file) => {
    for await (const lines of linesBackwards(file)) {
      for (const { bytes } of lines) {
        const line = lineIn(bytes);
        if (line?.kind === 'arrival') ids.add(line.arrival.id);
        if (ids.size >= most) return;
      }
    }
  });
  return [...ids];
}
