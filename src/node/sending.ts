import type { HttpRequest } from '../context.ts';

/** An answer as it came, its body still encoded. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
};

/**
 * Sends one request and reads the whole answer, or rejects with an error whose `code` says why not. `leaves` is called
 * before the first byte of the request can be on its way: over TLS that is after the handshake. As long as it was not
 * called, the peer has certainly got nothing.
 */
export type Sending = (asked: HttpRequest, signal: AbortSignal, leaves: () => void) => Promise<RawAnswer>;

/** How long a connection may take; answers have the time-out of their request. */
export const connectTimeoutMs = 10_000;

/** An answer larger than this, decompressed, is no answer of the service. */
export const largestAnswer = 64 * 1024 * 1024;

export const tooLarge = (): Error => Object.assign(new Error('the answer is too large'), { code: 'SVC_TOO_LARGE' });

/** The whole body, in a bounded amount of memory. Copied together, for a peer may send it in pieces of one byte. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  let whole: Buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of body) {
    const needed = size + chunk.length;
    if (needed > largestAnswer) throw tooLarge();
    if (needed > whole.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(needed, whole.length * 2), largestAnswer));
      whole.copy(larger, 0, 0, size);
      whole = larger;
    }
    whole.set(chunk, size);
    size = needed;
  }
  return whole.subarray(0, size);
}
