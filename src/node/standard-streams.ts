import type { Writable } from 'node:stream';
import type { Context } from '../context.ts';
import { once } from '../promise/once.ts';

type Output = Writable & { readonly isFile?: boolean };

/** Who writes hears of an error by the write itself (output/write.ts). */
export const openStdout = (): Context['stdout'] => openOutput(1, () => process.stdout);

/** One for the whole process, so that its lines stay in order. The reader of the notes may have left; svc goes on. */
export const openStderr: () => Context['stderr'] = once(() => openOutput(2, () => process.stderr));

function openOutput(fd: number, open: () => Writable): Output {
  const kind = kindOf(fd);
  if (kind === 'other') return open().on('error', () => {});
  const { Writable } = process.getBuiltinModule('node:stream');
  const write = kind === 'file' ? toFile(fd) : toPipe(fd, open);
  const stream = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      try {
        write(bytes, done);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  }).on('error', () => {});
  return Object.assign(stream, kind === 'file' && { isFile: true });
}

/** Closed, or of a kind that cannot be looked at: Node's own stream says what is wrong with it. */
function kindOf(fd: number): 'file' | 'pipe' | 'other' {
  try {
    const found = process.getBuiltinModule('node:fs').fstatSync(fd);
    if (found.isFile()) return 'file';
    return process.platform !== 'win32' && (found.isFIFO() || found.isSocket()) ? 'pipe' : 'other';
  } catch {
    return 'other';
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
  const atOnce = once(() => withoutWaiting(fd));
  return (bytes, done) => {
    let written = 0;
    room -= bytes.length;
    try {
      const { writeSync } = process.getBuiltinModule('node:fs');
      while (!stream && room >= 0 && written < bytes.length) written += writeSync(atOnce(), bytes, written);
    } catch (error) {
      // Somebody else has filled it, and who reads may come later.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
    if (!stream && written === bytes.length) return done();
    stream ??= open().on('error', () => {});
    stream.write(bytes.subarray(written), done);
  };
}

/**
 * The same pipe, which refuses what it has no room for: a write that waits there hears no signal. To change the one that is
 * open would change it for every program that has it. Of a socket, and where there is no /proc, it is that one.
 */
function withoutWaiting(fd: number): number {
  const { constants, openSync } = process.getBuiltinModule('node:fs');
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}
