import type { HttpRequest } from '../context.ts';

/** An answer as it came, its body still encoded. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
};

/** How far a request has come, told by the one who sends it; and how it is ended from outside. */
export type Flight = {
  /** Whether a byte of it may have left: set before the first can be on its way, over TLS after the handshake. */
  left: boolean;
  /** How many bytes of the answer's body have come. */
  came?: number;
  /** Set where it was given up before it could begin. */
  stopped?: Error;
  /** Gives it up. Set by the one who sends it. */
  stop?: (error: Error) => void;
};

/**
 * Sends one request and reads the whole answer, or rejects with an error whose `code` says why not. As long as `left` is
 * not set, the peer has certainly got nothing.
 */
export type Sending = (asked: HttpRequest, flight: Flight) => Promise<RawAnswer>;

/** Changes nothing, so it may go out again over another connection. */
export const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

const ofLength = /^(?:content-length|transfer-encoding)$/iu;

/**
 * The headers as they go out. Where there is a body, svc alone says its length: of a GET or a DELETE Node says none, and
 * what a peer is not told of, or is told too short, it takes for the next request over the same connection.
 */
export function headersOf({ headers, body }: HttpRequest): Record<string, string> {
  const all: Record<string, string> = { 'accept-encoding': 'gzip', ...headers };
  for (const name of Object.keys(all)) if (ofLength.test(name)) delete all[name];
  return body === undefined ? all : { ...all, 'content-length': `${Buffer.byteLength(body)}` };
}

/** How long a connection may take; answers have the time-out of their request. */
export const connectTimeoutMs = 10_000;

/** An answer larger than this, decompressed, is no answer of the service. */
export const largestAnswer = 64 * 1024 * 1024;

export const tooLarge = (): Error => Object.assign(new Error('the answer is too large'), { code: 'SVC_TOO_LARGE' });

/** A body that comes in pieces, in a bounded amount of memory. Several are copied together, for a peer may send them of one byte; `take` may throw. */
export function pieces() {
  let whole: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    take(piece: Uint8Array) {
      const needed = size + piece.length;
      if (needed > largestAnswer) throw tooLarge();
      if (size === 0) whole = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      else {
        if (needed > whole.length) whole = larger(whole, size, needed);
        whole.set(piece, size);
      }
      size = needed;
    },
    whole: () => whole.subarray(0, size),
  };
}

function larger(whole: Buffer, size: number, needed: number): Buffer {
  const next = Buffer.allocUnsafe(Math.min(Math.max(needed, whole.length * 2), largestAnswer));
  whole.copy(next, 0, 0, size);
  return next;
}
