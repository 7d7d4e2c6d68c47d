import type { FileHandle } from 'node:fs/promises';
import type { Failure } from '../../errors.ts';

/** The file of an append-only log: its lines, where they are, how they are recovered after a crash, and copying them. */
export type Span = { readonly start: number; readonly length: number };

/** The first place before the end of a log that cannot be read. */
export type Damage = { readonly line: number; readonly byte: number; readonly why: 'start' | 'line' | 'missing' };

export type Recovery = {
  /** Gets every whole line, without its line feed; false for what is no line of this log. */
  readonly take: (text: Buffer, span: Span) => boolean;
  /** What a damaged log is refused with. Without it, a log goes on: the damaged lines are passed over and stay. */
  readonly damaged?: (where: Damage) => Failure;
  /** Where to begin: what stands before that is known. */
  readonly from?: number;
  /** A first line of one length that says how many bytes are surely on disk: a crash tears only what lies beyond. */
  readonly mark?: { readonly text: (end: number) => string; readonly read: (first: string) => number | undefined };
};

export type FoundLine = { readonly text: Buffer; readonly span: Span };

const blockBytes = 1 << 18;

/**
 * Whole lines with their places, those of a block at a time: waiting for each would cost more than reading it. What
 * follows the last line end is left out. `first`: where the first one begins.
 */
export async function* linesOf(
  file: FileHandle,
  first = 0,
  end = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly FoundLine[]> {
  let parts: Buffer[] = [];
  let start = first;
  let at = first;
  for (;;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(blockBytes),
      0,
      Math.min(blockBytes, end - at),
      at,
    );
    if (bytesRead === 0) return;
    const block = buffer.subarray(0, bytesRead);
    const lines: FoundLine[] = [];
    let from = 0;
    for (let to = block.indexOf(10); to !== -1; to = block.indexOf(10, from)) {
      const rest = block.subarray(from, to);
      const text = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
      const length = text.length + 1;
      lines.push({ text, span: { start, length } });
      start += length;
      parts = [];
      from = to + 1;
    }
    if (from < bytesRead) parts.push(block.subarray(from));
    at += bytesRead;
    yield lines;
  }
}

/**
 * Reads the good lines and returns where they end. What follows was torn by a crash: nobody was answered for it, and
 * it may be cut off. A bad line with a good one behind it, or before the mark, is damage from elsewhere. Changes nothing.
 */
export async function recover(file: FileHandle, { take, damaged, mark, from = 0 }: Recovery): Promise<number> {
  const { size } = await file.stat();
  if (size === 0) return 0;
  const surely = mark ? await readMark(file, mark) : 0;
  const refuse = (where: Damage): void => {
    if (damaged) throw damaged(where);
  };
  if (surely === undefined) refuse({ line: 1, byte: 0, why: 'start' });
  if (surely !== undefined && size < surely) refuse({ line: 1, byte: size - surely, why: 'missing' });
  let end = from;
  let line = 0;
  let bad: Damage | undefined;
  // Beyond the mark the disk may hold later lines without earlier ones: the first bad one ends the log.
  const isOver = () => bad !== undefined && mark !== undefined;
  for await (const lines of linesOf(file, from)) {
    for (const { text, span } of lines) {
      line++;
      const isGood = (mark && line === 1) || take(text, span);
      if (isGood && bad) refuse(bad);
      if (isGood || !damaged) end = span.start + span.length;
      else bad ??= { line, byte: span.start, why: 'line' };
      if (isOver()) break;
    }
    if (isOver()) break;
  }
  if (end < (surely ?? 0)) refuse(bad ?? { line: line + 1, byte: end, why: 'line' });
  return end;
}

async function readMark(file: FileHandle, mark: NonNullable<Recovery['mark']>): Promise<number | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(mark.text(0).length), 0, mark.text(0).length, 0);
  return mark.read(buffer.toString('latin1', 0, bytesRead));
}

export async function readAt(file: FileHandle, { start, length }: Span): Promise<Buffer | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return bytesRead === length ? buffer : undefined;
}

const usualLine = 4096;

/** The line that begins there, if it is whole. */
export async function lineAt(file: FileHandle, start: number): Promise<FoundLine | undefined> {
  for (let length = usualLine; ; length *= 8) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
    const end = buffer.subarray(0, bytesRead).indexOf(10);
    if (end >= 0) return { text: buffer.subarray(0, end), span: { start, length: end + 1 } };
    if (bytesRead < length) return undefined;
  }
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Writes new bytes and stretches of the old file one after the other, from `start` on; returns where they end. */
export async function copyAll(
  from: FileHandle,
  pieces: Iterable<Uint8Array | Span>,
  to: FileHandle,
  start = 0,
): Promise<number> {
  let at = start;
  for (const piece of joined(pieces)) {
    if (piece instanceof Uint8Array) {
      await writeAll(to, piece, at);
      at += piece.length;
    } else at = await copy(from, piece, to, at);
  }
  return at;
}

/** Neighbouring spans as one, so that copying reads long stretches. */
function joined(pieces: Iterable<Uint8Array | Span>): (Uint8Array | Span)[] {
  const result: (Uint8Array | Span)[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    const isNext = last && 'start' in last && 'start' in piece && last.start + last.length === piece.start;
    if (isNext) result[result.length - 1] = { start: last.start, length: last.length + piece.length };
    else result.push(piece);
  }
  return result;
}

async function copy(from: FileHandle, { start, length }: Span, to: FileHandle, at: number): Promise<number> {
  const block = Buffer.allocUnsafe(Math.min(length, 1 << 20));
  for (let done = 0; done < length; ) {
    const { bytesRead } = await from.read(block, 0, Math.min(block.length, length - done), start + done);
    if (bytesRead === 0) throw new Error('The file is shorter than it was.');
    await writeAll(to, block.subarray(0, bytesRead), at + done);
    done += bytesRead;
  }
  return at + length;
}
