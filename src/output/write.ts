import type { Writable } from 'node:stream';
import { Failure } from '../errors.ts';

/** Where data goes. `false` means that nobody reads any more: stop, it is no failure. */
export type Sink = {
  /** Collected into pieces of a good size; what there is goes out too when svc begins to wait for more. */
  write(text: string): Promise<boolean>;
  /** Everything is with the operating system when this resolves. */
  flush(): Promise<boolean>;
};

const pieceSize = 32_768;

/** Waits for the reader (a slow pipe holds svc back, memory does not grow) and takes a closed pipe as the end. */
export function sinkTo(stream: Writable, beforeWriting: () => void): Sink {
  let piece = '';
  let open = true;
  let sent: Promise<boolean> = Promise.resolve(true);
  let idle: NodeJS.Immediate | undefined;
  // A stream reports a closed pipe twice, to the write and as an event; unheard, the event would be a crash.
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  const send = (text: string) =>
    new Promise<boolean>((resolve, reject) => {
      stream.write(text, (error) => {
        if (!error) resolve(true);
        else if (isClosedPipe(error)) resolve(false);
        else reject(new Failure('failed', `The output could not be written: ${reason(error)}.`, { cause: error }));
      });
    });
  const sendPiece = async () => {
    if (!open || piece === '') return open;
    const text = piece;
    piece = '';
    beforeWriting();
    open = await send(text);
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

const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? '';

function isClosedPipe(error: Error): boolean {
  // A pipe whose reader left; Windows calls it EOF; a stream that was ended under us.
  return ['EPIPE', 'EOF', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'].includes(codeOf(error));
}

function reason(error: Error): string {
  return codeOf(error) === 'ENOSPC' ? 'no space is left on the device' : error.message.replace(/\.$/u, '');
}
