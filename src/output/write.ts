import type { Writable } from 'node:stream';
import type { Context } from '../context.ts';
import { diskWords } from '../disk/file/disk-failure.ts';
import { codeOf, Failure, interruption } from '../errors.ts';

/** Where data goes. `false` means that nobody reads any more: stop, it is no failure. */
export type Sink = {
  /** Collected into pieces of a good size; what there is goes out too when svc begins to wait for more. */
  write(text: string): Promise<boolean>;
  /** Everything is with the operating system when this resolves. */
  flush(): Promise<boolean>;
};

const pieceSize = 32_768;

/** Once the run is to end, its reader has so long to go on reading. */
const graceMs = 1_000;

export type SinkOptions = Pick<Context, 'signal' | 'clock'> & {
  /** What is written to, for messages; without it, standard output. */
  readonly name?: string;
  /** Called before each piece. */
  readonly beforeWriting?: () => unknown;
};

/** Waits for the reader (a slow pipe holds svc back, memory does not grow) and takes a closed pipe as the end. */
export function sinkTo(stream: Writable, options: SinkOptions): Sink {
  const { name = 'Standard output', beforeWriting } = options;
  let piece = '';
  let open = true;
  let sent: Promise<boolean> = Promise.resolve(true);
  let idle: NodeJS.Immediate | undefined;
  hearErrors(stream);
  const send = (text: string) =>
    new Promise<boolean>((resolve, reject) => {
      const done = (error: Error | null | undefined) => {
        if (!error) resolve(true);
        else if (isClosedPipe(error)) resolve(false);
        else reject(outputFailure(name, error));
      };
      try {
        stream.write(text, done);
      } catch (error) {
        // Earlier Nodes throw what a file refuses.
        done(error instanceof Error ? error : new Error(String(error)));
      }
    });
  const sendPiece = async () => {
    if (!open || piece === '') return open;
    const text = piece;
    piece = '';
    beforeWriting?.();
    open = await unlessStuck(send(text), name, options);
    return open;
  };
  // One after the other; a failure stays, so that whoever writes or flushes next hears of it.
  const flush = () => {
    clearImmediate(idle);
    idle = undefined;
    sent = sent.then(sendPiece);
    return sent;
  };
  const flushIdle = () => void flush().catch(() => {});
  return {
    async write(text) {
      piece += text;
      if (piece.length >= pieceSize) return flush();
      idle ??= setImmediate(flushIdle);
      return open;
    },
    flush,
  };
}

/**
 * A reader that keeps the other end open and reads no more must not keep svc from ending. Each line that is shown as it
 * comes passes here, so whatever is needed at the end alone is made then.
 */
export function unlessStuck(
  writing: Promise<boolean>,
  name: string,
  { signal, clock }: Pick<SinkOptions, 'signal' | 'clock'>,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let grace: AbortController | undefined;
    const giveUp = async () => {
      grace = new AbortController();
      await clock.sleep(graceMs, grace.signal);
      if (grace.signal.aborted) return;
      const failure = interruption(signal, `Interrupted. ${name} was not read to its end.`);
      lost.add(failure);
      reject(failure);
    };
    const over = () => {
      grace?.abort();
      signal.removeEventListener('abort', giveUp);
    };
    if (signal.aborted) void giveUp();
    else signal.addEventListener('abort', giveUp);
    writing.finally(over).then(resolve, reject);
  });
}

/**
 * A stream reports an error twice, to the write and as an event; unheard, the event would be a crash. Other listeners do
 * not count: the one that a thread puts there removes itself and throws where it is alone.
 */
export function hearErrors(stream: Writable): void {
  if (!stream.listeners('error').includes(heard)) stream.on('error', heard);
}

const heard = (): void => {};

const lost = new WeakSet<Failure>();

/** Whether what svc printed did not arrive, whatever it did until then. */
export const isLostOutput = (error: unknown): error is Failure => error instanceof Failure && lost.has(error);

export function outputFailure(name: string, error: Error): Failure {
  // A signal ended the wait for the reader of a pipe.
  if (error instanceof Failure) {
    lost.add(error);
    return error;
  }
  const code = codeOf(error) ?? '';
  const reason = diskWords[code] ?? error.message.replace(/^[A-Z]+: |, write$|\.$/gu, '');
  const failure = new Failure('failed', `${name} could not be written: ${reason}.`, { cause: error });
  lost.add(failure);
  return failure;
}

/** A pipe whose reader left; Windows calls it EOF; a stream that was ended under us. */
export const isClosedPipe = (error: unknown): boolean =>
  ['EPIPE', 'EOF', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'].includes(codeOf(error) ?? '');
