import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../errors.ts';
import { whileOpen } from '../file/file-head.ts';
import { nothingThere } from '../file/nothing-there.ts';
import { withoutWaiting } from '../file/open-flags.ts';

/** One file of a shared log, and how it is read. */
export type PartFile = {
  readonly root: string;
  readonly name: string;
  readonly part: string;
  readonly isGood: (line: string) => boolean;
};

/** Where the file ends, the last line before that, and the last good one. */
export type Tail = { readonly ino: number } & End;

type End = { readonly size: number; readonly last: string | undefined; readonly good: string | undefined };

export type Part = { readonly path: string; readonly fd: number; tail: Tail; close(): void };

/** The names of the parts that are there, the oldest first. */
export function partsOf({ root, name }: Pick<PartFile, 'root' | 'name'>): string[] {
  try {
    return readdirSync(root)
      .filter((part) => /^\d{4}-\d{2}$/u.test(part) && existsSync(join(root, part, name)))
      .sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** The newest part, also where the clock was set back since: the log has one end. */
function writtenTo(place: PartFile): { readonly part: string; readonly before: string | undefined } {
  const parts = partsOf(place);
  const newest = parts.at(-1);
  if (newest === undefined || newest < place.part) return { part: place.part, before: newest };
  return { part: newest, before: parts.at(-2) };
}

export const partPath = (place: PartFile): string => join(place.root, writtenTo(place).part, place.name);

/**
 * Opens the file for the holder of the lock, and cuts off what a crash has torn. Undefined where its folder is not there.
 * `known`: what an earlier look has shown.
 */
export function openPart(place: PartFile, known: Tail | undefined): Part | undefined {
  const { part, before } = writtenTo(place);
  const path = join(place.root, part, place.name);
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;
  let fd: number;
  try {
    fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | withoutWaiting, 0o600);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    // What it leads to may be open to others.
    if (codeOf(error) === 'ELOOP') throw new Error(`${path} is a link, and no file`, { cause: error });
    throw error;
  }
  const opened: Part = {
    path,
    fd,
    tail: { ino: 0, size: 0, last: undefined, good: undefined },
    close: () => closeSync(fd),
  };
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new Error(`${path} is a pipe or a device, and no file`);
    const isKnown = known && known.ino === found.ino && known.size === found.size;
    opened.tail = isKnown ? known : { ino: found.ino, ...recovered(fd, found.size, place.isGood) };
    if (opened.tail.size < found.size) ftruncateSync(fd, opened.tail.size);
    if (opened.tail.last === undefined && before !== undefined) {
      const { last, good } = endOf(join(place.root, before, place.name), place.isGood);
      opened.tail = { ...opened.tail, last, good };
    }
    return opened;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Writes at the end; what did not fit is taken back. */
export function writeLines(part: Part, lines: readonly string[]): void {
  const { fd, tail } = part;
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, tail.size + done);
  } catch (error) {
    ftruncateSync(fd, tail.size);
    throw error;
  }
  const last = lines.at(-1) ?? tail.last;
  part.tail = { ino: tail.ino, size: tail.size + bytes.length, last, good: last };
}

const firstBlock = 16 * 1024;

function recovered(fd: number, size: number, isGood: PartFile['isGood']): End {
  for (let length = Math.min(size, firstBlock); ; length = Math.min(size, length * 4)) {
    const bytes = Buffer.alloc(length);
    const read = bytes.subarray(0, readSync(fd, bytes, 0, length, size - length));
    const isAll = length === size;
    // What stands before the first line feed may be the end of a longer line.
    const first = isAll ? 0 : read.indexOf(10) + 1;
    const end = read.lastIndexOf(10);
    if (end < first && !isAll) continue;
    if (end === -1) return { size: 0, last: undefined, good: undefined };
    const lines = read.toString('utf8', first, end).split('\n');
    const good = lines.findLast(isGood);
    if (good !== undefined || isAll) return { size: size - length + end + 1, last: lines.at(-1), good };
  }
}

const endOf = (path: string, isGood: PartFile['isGood']): End =>
  whileOpen(path, (fd) => recovered(fd, fstatSync(fd).size, isGood));

/** A line as it stands in a file, without its line feed. `isWhole`: it has one. */
export type LogLine = { readonly bytes: Buffer; readonly isWhole: boolean };

/** Every line of a file that others may append to meanwhile. */
export async function* linesIn(path: string): AsyncGenerator<LogLine> {
  let rest: Buffer[] = [];
  for await (const block of createReadStream(path)) {
    const bytes: Buffer = block;
    let from = 0;
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      yield { bytes: Buffer.concat([...rest, bytes.subarray(from, to)]), isWhole: true };
      rest = [];
      from = to + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), isWhole: false };
}

/** The folders in it that hold such a log. */
export function logsIn(root: string, name: string): string[] {
  try {
    return readdirSync(root).filter((log) => partsOf({ root: join(root, log), name }).length > 0);
  } catch (error) {
    return nothingThere(error) ?? [];
  }
}
