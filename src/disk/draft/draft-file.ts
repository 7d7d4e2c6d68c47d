import { constants, createWriteStream, openSync } from 'node:fs';
import { chmod, lstat, rename, rm, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { codeOf, Failure, interruption, messageOf } from '../../errors.ts';
import { draftOf, syncFolder, targetOf } from '../file/atomic-file.ts';
import { diskFailure, diskWords } from '../file/disk-failure.ts';
import { withoutWaiting } from '../file/open-flags.ts';
import { isOpenAs, realPath } from '../file/same-file.ts';
import { pathToWrite } from '../file/strangers.ts';

/** What a pipe needs: others decide when somebody reads it, and whether to its end. */
type Waiting = Pick<Context, 'signal' | 'notice'>;

/** A file that the user named, being written: until `keep` the old one, or none, is what others see. */
export async function openDraft(named: string, ctx: Waiting, mode?: number) {
  if (named === '') throw new Failure('usage', 'The name of the file is empty.', { hint: 'Name a file.' });
  // Behind a link the file itself is replaced, not the link; what a shell names /dev/fd/63 has no other name.
  const there = await stat(named).catch(() => undefined);
  const isOther = there !== undefined && !there.isFile() && !there.isDirectory();
  // Looked at after it is known what is there: nobody else takes away what is one's own.
  const target = await pathToWrite(named);
  const path = isOther ? named : (target ?? (await targetOf(named)));
  const present = there ?? (await stat(path).catch(() => undefined));
  if (present?.isDirectory()) throw new Failure('usage', `${named} is a folder.`, { hint: 'Name a file.' });
  // A pipe or a device cannot be replaced; it is written as it comes.
  const isPlain = present === undefined || present.isFile();
  const draft = isPlain ? draftOf(path) : path;
  const failed = (error: unknown): Failure => {
    const code = codeOf(error) ?? '';
    const why = code === 'ENOENT' ? `there is no folder ${dirname(path)}` : (diskWords[code] ?? messageOf(error));
    return new Failure('usage', `${named} cannot be written: ${why}.`, { cause: error });
  };
  const permissions = mode ?? (present && isPlain ? present.mode : 0o666);
  const opened = present?.isFIFO() ? openPipe(path, ctx) : openPlain(draft, isPlain, permissions);
  const stream = await opened.catch((error) => {
    throw error instanceof Failure ? error : failed(error);
  });
  let broken: Error | undefined;
  stream.on('error', (error) => {
    broken ??= error;
  });
  // What it holds is on disk once it is closed, and not yet when it has ended.
  const close = () =>
    new Promise<void>((resolve, reject) => {
      const end = () => (broken ? reject(broken) : resolve());
      if (stream.closed) return end();
      stream.once('close', end);
      stream.end();
    });
  return {
    stream,
    async keep() {
      try {
        await close();
        if (!isPlain) return;
        // What a file was made with lacks what the umask forbids; the one that was there may have had it.
        if (mode === undefined && present) await chmod(draft, present.mode & 0o777).catch(() => {});
        await rename(draft, path);
        // Some file systems sync no folder, and the file is there.
        await syncFolder(dirname(path)).catch(() => {});
      } catch (error) {
        throw diskFailure(error, `${named} could not be written`);
      }
    },
    async drop() {
      // Its reader may take nothing more, and an end that waits for that never comes.
      if (!isPlain) return void stream.destroy();
      await close().catch(() => {});
      await rm(draft, { force: true });
    },
  };
}

/**
 * A named pipe to write to, as soon as somebody reads it; rejects with the error of the system. Neither the wait for a
 * reader nor one who reads slowly holds a thread: a thread that waits keeps the process from ending. A signal ends the wait.
 */
async function openPipe(path: string, { signal, notice }: Waiting): Promise<Writable> {
  for (let tries = 1; ; tries++) {
    try {
      const fd = openSync(path, constants.O_WRONLY | withoutWaiting);
      const pipe = new (process.getBuiltinModule('node:net').Socket)({ fd, readable: false, writable: true });
      return endedBy(signal, pipe, path);
    } catch (error) {
      // Nobody reads it yet.
      if (codeOf(error) !== 'ENXIO') throw error;
      if (signal.aborted) throw interruption(signal, `Interrupted: nobody reads ${path}.`);
      if (tries === triesUntilTold) notice(`Nobody reads ${path} yet. svc waits for a reader; Ctrl-C ends that.`);
      await sleep(20);
    }
  }
}

/** A reader that was started with svc comes sooner. */
const triesUntilTold = 50;

/** Once svc is to end, a reader that takes nothing holds it up for so long. */
const graceMs = 1_000;

function endedBy(signal: AbortSignal, pipe: Socket, path: string): Writable {
  pipe.on('timeout', () => {
    if (pipe.writableLength > 0) pipe.destroy(interruption(signal, `Interrupted: ${path} was not read to its end.`));
  });
  const begin = () => pipe.setTimeout(graceMs);
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin);
  return pipe.once('close', () => signal.removeEventListener('abort', begin));
}

/** `isNew`: no device, which cannot be flushed. */
function openPlain(path: string, isNew: boolean, mode: number): Promise<Writable> {
  const stream = createWriteStream(path, { flags: isNew ? 'wx' : 'w', mode, flush: isNew });
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve(stream));
    stream.once('error', reject);
  });
}

/** Says that a file cannot be written before the work begins that it will tell of. */
export async function proveWritable(named: string, ctx: Waiting): Promise<void> {
  await pathToWrite(named);
  const present = await stat(named).catch(() => undefined);
  // To open a pipe would wait for its reader, who would take its closing for the end.
  if (present && !present.isFile() && !present.isDirectory()) return;
  await (await openDraft(named, ctx)).drop();
}

/** Whether two paths lead to one file, also through links, and where it is not there yet. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => realPath(isAbsolute(path) ? path : `./${path}`)),
  );
  return first === second;
}

/** Whether a command that writes there takes the place of what it reads; `-` is standard input, which may be a file. */
export async function isRead({ stdin }: Pick<Context, 'stdin'>, written: string, read: string): Promise<boolean> {
  return read === '-' ? isOpenAs(stdin.fd, written) : isSameFile(written, read);
}

/** Whether it would be lost by writing there. A pipe or a device keeps nothing. */
export async function holdsText(path: string): Promise<boolean> {
  const present = await stat(path).catch(() => undefined);
  return present?.isFile() === true && present.size > 0;
}

/** Takes away what an earlier run wrote there. A link, a pipe or a device is left as it is. */
export async function removeOld(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there?.isFile()) await rm(path, { force: true }).catch(() => {});
}
