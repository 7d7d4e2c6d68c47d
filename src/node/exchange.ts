import type { Exchange, HttpRequest, HttpResponse } from '../context.ts';
import type { Flight, RawAnswer, Sending } from './sending.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The real exchange: keep-alive, proxies from the environment, gzip; redirects are never followed here. Whatever the
 * peer does, it ends in an answer or in a loss within the time-out, and never throws.
 */
export async function createExchange(env: Env): Promise<Exchange> {
  const send = await chooseSending(env);
  return async (asked) => {
    const flight: Timed = { left: false, timedOut: false };
    try {
      return await inTime(send, asked, flight);
    } catch (error) {
      const { isMistake, lostBy } = await import('./lost.ts');
      if (!flight.left && isMistake(error)) throw error;
      return lostBy({ error, ...flight }, asked);
    }
  };
}

type Timed = Flight & { timedOut: boolean };

/** The longest that a timer of Node's takes: about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Neither a client that does not tell of an end nor a body that takes long to decompress outlasts the time-out and the
 * signal. One plain timer: signals that are made for one request, and joined, cost more than the request.
 */
function inTime(send: Sending, asked: HttpRequest, flight: Timed): Promise<HttpResponse> {
  const { signal, timeoutMs } = asked;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(ended());
    const timer = setTimeout(
      () => {
        flight.timedOut = true;
        end();
      },
      Math.min(timeoutMs, longestTimerMs),
    );
    signal?.addEventListener('abort', end);
    // A signal that is still listened to is kept in memory for as long as svc runs.
    function forget() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
    function end() {
      const error = ended();
      forget();
      reject(error);
      flight.stop?.(error);
    }
    answerTo(send, asked, flight).then(resolve, reject).finally(forget);
  });
}

const ended = (): Error => new DOMException('It was ended.', 'AbortError');

async function answerTo(send: Sending, asked: HttpRequest, flight: Flight): Promise<HttpResponse> {
  const { status, headers: raw, body } = await send(asked, flight);
  const headers = flatten(raw);
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return { status, headers, body: body.toString('utf8') };
  return { status, headers, body: await (await import('./decode.ts')).decode(body, encoding) };
}

async function chooseSending(env: Env): Promise<Sending> {
  const isProxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name]);
  if (isProxied) return (await import('./proxied.ts')).proxied(env);
  return (await import('./direct.ts')).direct();
}

function flatten(headers: RawAnswer['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // Names are the peer's. This one would not become a name of its own, and tells svc nothing.
    if (value === undefined || name === '__proto__') continue;
    flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}
