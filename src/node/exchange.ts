import { promisify } from 'node:util';
import * as v8 from 'node:v8';
import type { Dispatcher } from 'undici';
import type { Exchange, HttpRequest, Lost } from '../context.ts';

// Node 20 stays alive for about 55 ms to optimise the WebAssembly of undici's parser, which a short run never needs.
if (process.versions.node.startsWith('20.')) {
  v8.setFlagsFromString('--no-wasm-tier-up');
  v8.setFlagsFromString('--no-wasm-dynamic-tiering');
}

/** An answer larger than this is no answer of the service. */
const largestAnswer = 64 * 1024 * 1024;

type Env = Readonly<Record<string, string | undefined>>;

/** The real exchange: keep-alive, proxies from the environment, gzip; redirects are never followed here. */
export async function createExchange(env: Env): Promise<Exchange> {
  const { default: request } = await import('undici/lib/api/api-request.js');
  const dispatcher = await createDispatcher(env);
  return async (asked) => {
    const timeout = AbortSignal.timeout(asked.timeoutMs);
    const signal = asked.signal ? AbortSignal.any([timeout, asked.signal]) : timeout;
    try {
      const answer = await request.call(dispatcher, optionsOf(asked, signal));
      const bytes = await readAll(answer.body);
      const headers = flatten(answer.headers);
      return { status: answer.statusCode, headers, body: await decode(bytes, headers['content-encoding']) };
    } catch (error) {
      return lostBy(error, asked, timeout);
    }
  };
}

async function createDispatcher(env: Env): Promise<Dispatcher> {
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name]);
  const options = { connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 };
  if (!proxied) {
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
    return new Agent(options);
  }
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
  // undici's entry, which svc does not load, gives every dispatcher this method; tunnels through a proxy call it.
  const [{ default: connect }, { default: Base }] = await Promise.all([
    import('undici/lib/api/api-connect.js'),
    import('undici/lib/dispatcher/dispatcher.js'),
  ]);
  Object.assign(Base.prototype, { connect });
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: env.http_proxy ?? env.HTTP_PROXY,
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY,
    noProxy: env.no_proxy ?? env.NO_PROXY,
    // As everywhere: https through a tunnel, http by asking the proxy for the whole address.
    proxyTunnel: false,
  });
}

function optionsOf(asked: HttpRequest, signal: AbortSignal): Dispatcher.RequestOptions {
  const url = new URL(asked.url);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: asked.method as Dispatcher.HttpMethod,
    headers: { 'accept-encoding': 'gzip', ...asked.headers },
    body: asked.body,
    signal,
  };
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > largestAnswer) throw Object.assign(new Error('the answer is too large'), { code: 'SVC_TOO_LARGE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

const beforeSending: Readonly<Record<string, Lost['reason']>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
};

/** Sorts an error into "it never left" and "the service may have acted". In doubt the latter. */
export function lostBy(error: unknown, asked: Pick<HttpRequest, 'url' | 'timeoutMs'>, timeout: AbortSignal): Lost {
  const { code = '', message = String(error) } = rootOf(error);
  // A mistake of svc's own is no weather of the network.
  if ((error instanceof TypeError && code === '') || code === 'UND_ERR_INVALID_ARG') throw error;
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
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code === 'Z_BUF_ERROR' || code === 'Z_DATA_ERROR') {
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
