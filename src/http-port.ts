/** One HTTP request, as small as svc needs it. Header names are in lower case. */
export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole attempt: connecting, sending, and the answer's last byte. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/** A complete answer. Header names are in lower case; `body` is decompressed and decoded as UTF-8. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * No complete answer came. `before-sending`: the request certainly never reached the service (DNS, refused connection, TLS, a proxy).
 * `after-sending`: the service may have acted on it.
 */
export type Lost = {
  readonly lost: 'before-sending' | 'after-sending';
  readonly reason:
    | 'dns'
    | 'refused'
    /** A proxy that the user has set does not pass it on (407, 403). */
    | 'proxy'
    | 'tls'
    | 'timeout'
    | 'reset'
    | 'truncated'
    | 'aborted'
    | 'too-large'
    | 'unreadable';
  /** One sentence for a person, without secrets. */
  readonly detail: string;
};

export type Exchange = (request: HttpRequest) => Promise<HttpResponse | Lost>;
