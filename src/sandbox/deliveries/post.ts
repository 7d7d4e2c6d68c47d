import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../text/loopback.ts';

/** How an attempt ended: with an answer of any status, or with a connection that failed. */
export type Outcome =
  | { readonly outcome: 'answered'; readonly status: number }
  | { readonly outcome: 'timeout' | 'dns' | 'refused' | 'tls' | 'reset' | 'not_allowed' };

export type Post = {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** For the whole attempt (service.md#delivery-1). */
  readonly timeoutMs: number;
  /** Ends the attempt as a time-out. */
  readonly signal: AbortSignal;
};

/** Targets are HTTPS. For development a sandbox may be told to take loopback http:// too, and no other. */
export function isAllowedTarget(target: string, allowHttpTargets: boolean): boolean {
  if (!URL.canParse(target)) return false;
  const { protocol, hostname } = new URL(target);
  if (protocol === 'https:') return true;
  return allowHttpTargets && protocol === 'http:' && isLoopbackHost(hostname);
}

/** One attempt over a connection of its own. Never rejects: a connection that fails is an outcome. */
export function post({ target, headers, body, timeoutMs, signal }: Post): Promise<Outcome> {
  const url = new URL(target);
  // Loading these takes a while, and a sandbox without subscriptions never needs them.
  const { request } =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
  return new Promise((resolve) => {
    let answer: Outcome | undefined;
    const end = (outcome: Outcome) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      // Once a status has come it counts, whatever becomes of the rest of the body.
      resolve(answer ?? outcome);
      sending.destroy();
    };
    const giveUp = () => end({ outcome: 'timeout' });
    const timer = setTimeout(giveUp, timeoutMs);
    // No kept connection: one that the receiver has closed meanwhile would look like a failed delivery.
    const sending = request(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': body.length },
    });
    sending.on('response', (response: IncomingMessage) => {
      answer = { outcome: 'answered', status: response.statusCode ?? 0 };
      response.on('end', () => end({ outcome: 'reset' }));
      response.on('error', () => end({ outcome: 'reset' }));
      response.resume();
    });
    // Stays in place after the end: a destroyed request may still report an error.
    sending.on('error', (error: NodeJS.ErrnoException) => end({ outcome: failureOf(error) }));
    sending.on('close', () => end({ outcome: 'reset' }));
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp);
    sending.end(body);
  });
}

function failureOf({ code = '' }: NodeJS.ErrnoException): 'timeout' | 'dns' | 'refused' | 'tls' | 'reset' {
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_FAIL') return 'dns';
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_')) return 'reset';
  // OpenSSL's many names: CERT_HAS_EXPIRED, UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID, EPROTO …
  return /TLS|SSL|CERT|SIGNATURE|EPROTO/u.test(code) ? 'tls' : 'reset';
}
