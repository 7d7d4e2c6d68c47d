import type { HttpRequest, Lost } from '../context.ts';
import { fieldsIn } from '../text/record.ts';

/** How far a request came before it was lost. */
export type Loss = {
  readonly error: unknown;
  /** Whether a byte of it may have left. */
  readonly left: boolean;
  readonly timedOut: boolean;
};

type RequestFacts = Pick<HttpRequest, 'url' | 'timeoutMs'>;

/**
 * Sorts an error into "it never left" and "the service may have acted". What decides is how far the request came, and
 * never the error's code: the same code comes before and after.
 */
export function lostBy({ error, left, timedOut }: Loss, asked: RequestFacts): Lost {
  const { code = '', message = String(error) } = rootOf(error);
  const { host } = new URL(asked.url);
  // A proxy that refuses a plain request has read it, and has not passed it on.
  if (code === 'SVC_PROXY') return { lost: 'before-sending', reason: 'proxy', detail: message };
  return left ? afterSending(code, message, { timedOut, asked }) : beforeSending(code, message, { timedOut, host });
}

/** Bugs in svc, or an address that cannot be asked: thrown before anything left, and never by what a peer sends. */
export function isMistake(error: unknown): boolean {
  const { code = '' } = rootOf(error);
  return ((error instanceof TypeError || error instanceof URIError) && code === '') || mistaken.test(code);
}

const mistaken = /^(?:UND_ERR_INVALID_ARG|ERR_INVALID_|ERR_UNESCAPED_|ERR_HTTP_INVALID_|ERR_OUT_OF_RANGE)/u;

function beforeSending(code: string, message: string, at: { timedOut: boolean; host: string }): Lost {
  const { host } = at;
  const lost = (reason: Lost['reason'], detail: string): Lost => ({ lost: 'before-sending', reason, detail });
  if (tooLate.test(code) || (at.timedOut && isEnded(code))) {
    return lost('timeout', `${host} did not accept the connection in time.`);
  }
  if (isEnded(code)) return lost('aborted', 'It was interrupted before anything was sent.');
  if (refusing.test(code)) return lost('refused', `${host} refuses connections.`);
  if (nameless.test(code)) return lost('dns', `The name ${host} cannot be resolved.`);
  if (ofACertificate.test(code)) return lost('tls', `The certificate of ${host} is not accepted (${code}).`);
  // As OpenSSL says of an answer that is no TLS.
  if (plainAnswer.test(`${code} ${message}`))
    return lost(
      'tls',
      `No secure connection to ${host} can be made (${code}): what answers there, or a proxy on the way, speaks plain http://.`,
    );
  if (ofTls.test(code)) return lost('tls', `No secure connection to ${host} can be made (${code}).`);
  if (/^Proxy response/u.test(message)) return lost('refused', `${message}.`);
  return lost('reset', `The connection to ${host} broke before anything was sent (${code || message}).`);
}

function afterSending(code: string, message: string, at: { timedOut: boolean; asked: RequestFacts }): Lost {
  const lost = (reason: Lost['reason'], detail: string): Lost => ({ lost: 'after-sending', reason, detail });
  if (code === 'SVC_TOO_LARGE') return lost('too-large', 'The answer is larger than svc reads (64 MB).');
  if (code === 'SVC_ENCODING') return lost('unreadable', `svc cannot read the encoding of the answer (${message}).`);
  if (at.timedOut) return lost('timeout', `No answer within ${at.asked.timeoutMs / 1000} s.`);
  if (isEnded(code)) return lost('aborted', 'It was interrupted.');
  if (cutShort.test(code)) return lost('truncated', 'The answer was cut off.');
  if (ofTls.test(code)) return lost('reset', `The secure connection broke (${code}).`);
  return lost('reset', `The connection broke (${code || message}).`);
}

const refusing = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/u;
const nameless = /^(?:ENOTFOUND|EAI_\w+)$/u;
const tooLate = /^(?:SVC_CONNECT_TIMEOUT|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/u;
const cutShort = /^(?:SVC_CUT|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/u;
const ofACertificate =
  /^(?:CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|ERR_TLS_CERT)/u;
const plainAnswer = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version number|packet length too long/u;
const ofTls = /^(?:ERR_TLS|ERR_SSL|EPROTO)/u;

const isEnded = (code: string): boolean => code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED';

/** Node wraps the errors of several addresses in one, and undici wraps causes. */
function rootOf(error: unknown): { code?: string; message?: string } {
  if (typeof error !== 'object' || error === null) return { message: String(error) };
  const { code, cause, errors, message: said, name } = fieldsIn(error);
  const message = typeof said === 'string' ? said : undefined;
  if (Array.isArray(errors) && errors[0]) return rootOf(errors[0]);
  if (typeof code === 'string') return { code, message };
  if (cause) return rootOf(cause);
  return { code: name === 'AbortError' || name === 'TimeoutError' ? 'ABORT_ERR' : '', message };
}
