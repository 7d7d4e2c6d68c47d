import { promisify } from 'node:util';
import type { Exchange, HttpRequest, Lost } from '../context.ts';
import type { RawAnswer, Sending } from './sending.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The real exchange: keep-alive, proxies from the environment, gzip; redirects are never followed here. */
export async function createExchange(env: Env): Promise<Exchange> {
  const send = await chooseSending(env);
  return async (asked) => {
    const timeout = AbortSignal.timeout(asked.timeoutMs);
    const signal = asked.signal ? AbortSignal.any([timeout, asked.signal]) : timeout;
    try {
      const answer = await send(asked, signal);
      const headers = flatten(answer.headers);
      return { status: answer.status, headers, body: await decode(answer.body, headers['content-encoding']) };
    } catch (error) {
      return lostBy(error, asked, timeout);
    }
  };
}

async function chooseSending(env: Env): Promise<Sending> {
  const isProxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name]);
  if (isProxied) return (await import('./proxied.ts')).proxied(env);
  return (await import('./direct.ts')).direct();
}

async function decode(bytes: Buffer, encoding: string | undefined): Promise<string> {
  if (!encoding || encoding === 'identity' || bytes.length === 0) return bytes.toString('utf8');
  const { brotliDecompress, gunzip, inflate } = await import('node:zlib');
  const decoders: Record<string, (bytes: Buffer) => Promise<Buffer>> = {
    gzip: promisify(gunzip) as (bytes: Buffer) => Promise<Buffer>,
    'x-gzip': promisify(gunzip) as (bytes: Buffer) => Promise<Buffer>,
    br: promisify(brotliDecompress) as (bytes: Buffer) => Promise<Buffer>,
    deflate: promisify(inflate) as (bytes: Buffer) => Promise<Buffer>,
  };
  const decoder = decoders[encoding.toLowerCase()];
  if (!decoder) throw Object.assign(new Error(`unknown content encoding ${encoding}`), { code: 'SVC_ENCODING' });
  return (await decoder(bytes)).toString('utf8');
}

function flatten(headers: RawAnswer['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

const beforeSending: Readonly<Record<string, Lost['reason']>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  SVC_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
};

/** Sorts an error into "it never left" and "the service may have acted". In doubt the latter. */
export function lostBy(error: unknown, asked: Pick<HttpRequest, 'url' | 'timeoutMs'>, timeout: AbortSignal): Lost {
  const { code = '', message = String(error) } = rootOf(error);
  // A mistake of svc's own is no weather of the network.
  if ((error instanceof TypeError && code === '') || /^(?:UND_ERR_INVALID_ARG|ERR_INVALID_)/u.test(code)) throw error;
  const { host } = new URL(asked.url);
  const unsent = beforeSending[code];
  if (unsent) return { lost: 'before-sending', reason: unsent, detail: sentences[unsent](host) };
  if (isTls(code))
    return { lost: 'before-sending', reason: 'tls', detail: `The certificate of ${host} is not accepted (${code}).` };
  if (/^Proxy response/u.test(message)) return { lost: 'before-sending', reason: 'refused', detail: `${message}.` };
  if (timeout.aborted) {
    return { lost: 'after-sending', reason: 'timeout', detail: `No answer within ${asked.timeoutMs / 1000} s.` };
  }
  if (code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED') {
    return { lost: 'after-sending', reason: 'aborted', detail: 'It was interrupted.' };
  }
  if (cutShort.test(code)) {
    return { lost: 'after-sending', reason: 'truncated', detail: 'The answer was cut off.' };
  }
  return { lost: 'after-sending', reason: 'reset', detail: `The connection broke (${code || message}).` };
}

const sentences: Record<Lost['reason'], (host: string) => string> = {
  refused: (host) => `${host} refuses connections.`,
  timeout: (host) => `${host} does not accept the connection in time.`,
  dns: (host) => `The name ${host} cannot be resolved.`,
  tls: (host) => `The certificate of ${host} is not accepted.`,
  reset: () => 'The connection broke.',
  truncated: () => 'The answer was cut off.',
  aborted: () => 'It was interrupted.',
};

const cutShort = /^(?:SVC_CUT|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|Z_BUF_ERROR|Z_DATA_ERROR)$/u;

const isTls = (code: string): boolean =>
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/u.test(code);

/** Node wraps the errors of several addresses in one, and undici wraps causes. */
function rootOf(error: unknown): { code?: string; message?: string } {
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] };
  if (errors?.[0]) return rootOf(errors[0]);
  const own = error as { code?: string | number; message?: string };
  if (typeof own.code !== 'string' && cause) return rootOf(cause);
  return {
    code: typeof own.code === 'string' ? own.code : (error as Error).name === 'AbortError' ? 'ABORT_ERR' : '',
    message: own.message,
  };
}
