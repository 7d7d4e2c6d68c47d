import { open as openCallback, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { interruption } from '../../errors.ts';
import { toRead } from '../file/open-flags.ts';

/** What a path of the user leads to. `once`: a pipe or a device, which can be read a single time and may take for ever. */
export type UserInput =
  | { readonly kind: 'file'; readonly handle: FileHandle }
  | { readonly kind: 'once'; readonly bytes: AsyncIterable<Uint8Array> };

/** Opens it without waiting for anybody; rejects with the error of the system. Folders are opened as files are. */
export async function openUserInput(path: string, signal: AbortSignal): Promise<UserInput> {
  const found = await stat(path);
  if (!waits(found)) return { kind: 'file', handle: await open(path, toRead) };
  const fd = await promisify(openCallback)(path, toRead);
  return { kind: 'once', bytes: untilEnded(streamOf(fd), signal) };
}

/** Only Linux waits for a writer that opens the pipe later; elsewhere the pipe looks like an empty file. */
const waits = (found: Stats): boolean =>
  process.platform === 'linux' && (found.isFIFO() || found.isCharacterDevice() || found.isSocket());

type Input = AsyncIterable<Uint8Array> & { readonly destroy?: () => void };

function streamOf(fd: number): Input {
  const { isatty, ReadStream } = process.getBuiltinModule('node:tty');
  if (isatty(fd)) return new ReadStream(fd);
  const { createReadStream, fstatSync } = process.getBuiltinModule('node:fs');
  // The descriptor is polled, so that nothing waits in a thread: a FIFO without a writer is silent, and not at its end.
  if (fstatSync(fd).isFIFO()) return new (process.getBuiltinModule('node:net').Socket)({ fd, writable: false });
  return createReadStream('', { fd });
}

/** What comes, until `signal`; then it is closed and the run ends, whether or not anything ever came. */
export async function* untilEnded(input: Input, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const pieces = input[Symbol.asyncIterator]();
  // One promise for each piece: what is raced against one that never settles stays in memory.
  let end = (): void => {};
  const onAbort = (): void => end();
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
        end = () => resolve(undefined);
        if (signal.aborted) end();
        pieces.next().then(resolve, reject);
      });
      if (next === undefined) throw interruption(signal, 'Interrupted while waiting for input.');
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A reader who stops early, too: an open pipe would keep the process alive.
    input.destroy?.();
  }
}
