import type { Writable } from 'node:stream';
import type { Context } from '../context.ts';
import { codeOf } from '../errors.ts';
import { once } from '../promise/once.ts';

type Output = Writable & { readonly isFile?: boolean };

/** Who writes hears of an error by the write itself (output/write.ts). */
export const openStdout = (): Context['stdout'] => openOutput(1, () => process.stdout);

/**
 * One for the whole process, so that its lines stay in order. The reader of the notes may have left, or the disk be full: what
 * comes later is tried all the same, for nobody asks whether a note was written.
 */
export const openStderr: () => Context['stderr'] = once(() => {
  stderr = openOutput(2, () => process.stderr);
  return stderr;
});

let stderr: Output | undefined;

/** Resolves when nothing waits any more for whoever reads standard error. */
export const isStderrWritten = (): Promise<true> =>
  new Promise((resolve) => {
    if (!stderr || stderr.writableLength === 0) resolve(true);
    else stderr.write('', () => resolve(true));
  });

/** Whether something waits still for a reader. */
export const isUnread = (): boolean => opened.some(({ writableLength }) => writableLength > 0);

const opened: Output[] = [];

function openOutput(fd: number, open: () => Writable): Output {
  const stream = outputTo(fd, open);
  opened.push(stream);
  return stream;
}

function outputTo(fd: number, open: () => Writable): Output {
  const place = placeOf(fd);
  if (!place) return open().on('error', () => {});
  const { Writable } = process.getBuiltinModule('node:stream');
  const write = place.isFile ? toFile(fd) : toPipe(place.fd, open);
  const stream = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      // A stream that was given an error writes nothing more.
      const over: typeof done = fd === 2 ? () => done() : done;
      try {
        write(bytes, over);
      } catch (error) {
        over(error instanceof Error ? error : new Error(String(error)));
      }
    },
  }).on('error', () => {});
  return Object.assign(stream, place.isFile && { isFile: true });
}

type Place = { readonly fd: number; readonly isFile: boolean };

/** Undefined where it is closed, or of another kind: Node's own stream waits for it, and says what is wrong with it. */
function placeOf(fd: number): Place | undefined {
  const { constants, fstatSync, openSync } = process.getBuiltinModule('node:fs');
  try {
    const found = fstatSync(fd);
    if (found.isFile()) return { fd, isFile: true };
    if (process.platform !== 'linux') return undefined;
    if (found.isSocket()) return { fd, isFile: false };
    if (!found.isFIFO()) return undefined;
    // The same pipe, which refuses what it has no room for: a write that waits there hears no signal. To change the one that is
    // open would change it for every program that has it.
    return { fd: openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK), isFile: false };
  } catch {
    return undefined;
  }
}

type Write = (bytes: Buffer, done: (error?: Error | null) => void) => void;

/** Node's own stream for files takes a write of which the disk kept a part for a whole one. */
const toFile =
  (fd: number): Write =>
  (bytes, done) => {
    const { writeSync } = process.getBuiltinModule('node:fs');
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    done();
  };

/** What every system has room for in a pipe that nobody has read yet. */
const roomBytes = 4096;

/**
 * What surely finds room is written at once: Node's own stream, which waits for a reader and hears a signal meanwhile, takes
 * three milliseconds to load. It has the rest, in the order in which that comes.
 */
function toPipe(fd: number, open: () => Writable): Write {
  let room = roomBytes;
  let stream: Writable | undefined;
  return (bytes, done) => {
    let written = 0;
    room -= bytes.length;
    try {
      const { writeSync } = process.getBuiltinModule('node:fs');
      while (!stream && room >= 0 && written < bytes.length) written += writeSync(fd, bytes, written);
    } catch (error) {
      // Somebody else has filled it, and who reads may come later.
      if (codeOf(error) !== 'EAGAIN') throw error;
    }
    if (!stream && written === bytes.length) return done();
    stream ??= open().on('error', () => {});
    stream.write(bytes.subarray(written), done);
  };
}
