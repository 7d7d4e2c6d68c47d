import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

/** A new file that is written in large steps, readable by its owner alone. */
export type OutFile = Awaited<ReturnType<typeof openOut>>;

const largestStep = 256 * 1024;

export async function openOut(path: string) {
  const handle = await open(path, 'wx', 0o600);
  let waiting: string[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const text = waiting.join('');
    waiting = [];
    size = 0;
    if (text !== '') await handle.appendFile(text);
  };
  return {
    async write(piece: string | Uint8Array) {
      if (typeof piece !== 'string') {
        await flush();
        return handle.appendFile(piece);
      }
      waiting.push(piece);
      size += piece.length;
      if (size >= largestStep) await flush();
    },
    /** On the disk when it resolves. */
    async close() {
      await flush();
      await handle.sync().finally(() => handle.close());
    },
    /** Leaves it as it is, in whatever state. */
    drop: () => handle.close().catch(() => {}),
  };
}

/** The lines of a file, and at last what follows the last line break, as they are read. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, 'utf8')) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}
