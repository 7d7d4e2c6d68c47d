import type { HttpRequest } from '../context.ts';

/** An answer as it came, its body still encoded. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
};

/** Sends one request and reads the whole answer, or rejects with an error whose `code` says why not. */
export type Sending = (asked: HttpRequest, signal: AbortSignal) => Promise<RawAnswer>;

/** How long a connection may take; answers have the time-out of their request. */
export const connectTimeoutMs = 10_000;

/** An answer larger than this is no answer of the service. */
const largestAnswer = 64 * 1024 * 1024;

/** The whole body, in a bounded amount of memory. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > largestAnswer) throw Object.assign(new Error('the answer is too large'), { code: 'SVC_TOO_LARGE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
