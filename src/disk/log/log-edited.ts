import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type GrowingFile, tailOf } from './growing-file.ts';
import { readAt, writeAll } from './log-file.ts';

// A log that another program changes in place: an editor, a script, the rotation of logs (`copytruncate`).

const hasMoved = ({ file, end, tail }: GrowingFile): boolean => {
  const length = tail.length;
  const there = tailOf(file, end).subarray(-length);
  return length > 0 && there.length === length && !there.equals(tail);
};

/**
 * Somebody changed it in place: made it shorter, or moved the last line. Asked before each line, for that would stand behind
 * a hole, or in the middle of another one. Two calls that read no disk, some microseconds in all.
 */
export const isChanged = (log: GrowingFile): boolean => fstatSync(log.file.fd).size < log.room || hasMoved(log);

/** What they left of it stays, and the next line begins behind that. */
export async function goOnBehindWhatIsLeft(log: GrowingFile): Promise<void> {
  const { file } = log;
  const { size } = await file.stat();
  const end = await endOfText(file, size);
  log.options.held?.check();
  log.isEdited ||= end !== log.end || hasMoved(log);
  const last = end > 0 ? await readAt(file, { start: end - 1, length: 1 }) : undefined;
  const isTorn = last !== undefined && last[0] !== lineFeed;
  if (isTorn) await writeAll(file, Buffer.of(lineFeed), end);
  log.end = isTorn ? end + 1 : end;
  log.room = Math.max(log.end, size);
  log.tail = tailOf(file, log.end);
}

const lineFeed = 10;
const block = 1 << 16;

/** Behind it there is only room: zeros, that no line holds. */
async function endOfText(file: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0; to -= block) {
    const start = Math.max(0, to - block);
    const bytes = await readAt(file, { start, length: to - start });
    const last = bytes?.findLastIndex((byte) => byte !== 0) ?? -1;
    if (last >= 0) return start + last + 1;
  }
  return 0;
}
