import type { Exchange, HttpRequest, HttpResponse } from '../context.ts';
import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';
import { once } from '../promise/once.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import { ticks } from '../ticks.ts';
import { turns } from './lines.ts';
import type { Flight, RawAnswer, Sending } from './sending.ts';

/**
 * The real exchange: keep-alive, proxies from the environment, gzip; redirects are never followed here. Whatever the
 * peer does, it ends in an answer or in a loss within the time-out. It throws only before anything was sent: a bug, or a
 * usage Failure where the environment names no proxy but something else.
 */
export async function createExchange(env: Env): Promise<Exchange> {
  const send = await chooseSending(env);
  return async (asked) => {
    const flight: Timed = { left: false, timedOut: false };
    try {
      return await inTime(send, asked, flight);
    } catch (error) {
      const { isMistake, lostBy } = await import('./lost.ts');
      if (!flight.left && (error instanceof Failure || isMistake(error))) throw error;
      return lostBy({ error, ...flight }, asked);
    }
  };
}

type Timed = Flight & { timedOut: boolean; isWhole?: boolean };

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
    const began = ticks();
    let isOver = false;
    const timer = setTimeout(() => void giveUp(), Math.min(timeoutMs, longestTimerMs));
    signal?.addEventListener('abort', end);
    // A signal that is still listened to is kept in memory for as long as svc runs.
    function forget() {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
    function end() {
      const error = ended();
      forget();
      reject(error);
      flight.stopped = error;
      flight.stop?.(error);
    }
    async function giveUp() {
      await whatWaits(flight, ticks() - began - timeoutMs);
      if (isOver) return;
      flight.timedOut = true;
      end();
    }
    answerTo(send, asked, flight).then(resolve, reject).finally(forget);
  });
}

/** The longest that svc reads on after a time-out that came late. */
const catchUpMs = 1_000;

/**
 * A process that was stopped, or had no processor, finds that its time is over before it finds what came meanwhile: that
 * is read first. For no longer than it was held up, so that a peer that never ends gains nothing.
 */
async function whatWaits(flight: Timed, lateMs: number): Promise<void> {
  const until = ticks() + Math.min(lateMs, catchUpMs);
  let came: number | undefined;
  do {
    came = flight.came;
    await turns();
  } while ((flight.came !== came || flight.isWhole) && ticks() < until);
}

const ended = (): Error => new DOMException('It was ended.', 'AbortError');

async function answerTo(send: Sending, asked: HttpRequest, flight: Timed): Promise<HttpResponse> {
  const { status, headers: raw, body } = await send(asked, flight);
  flight.isWhole = true;
  const headers = flatten(raw);
  const encoding = headers['content-encoding'];
  const text =
    encoding === undefined ? body.toString('utf8') : await (await import('./decode.ts')).decode(body, encoding);
  return { status, headers, body: withoutMark(text) };
}

/** A byte order mark is no part of the text (RFC 8259, section 8.1). */
const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text);

/**
 * Straight, or through a proxy where the environment names one: what stays on this machine goes straight all the same. What
 * only a proxy needs is loaded only then.
 */
async function chooseSending(env: Env): Promise<Sending> {
  const { direct } = await import('./direct.ts');
  const straight = direct();
  const isProxied = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'].some((name) => env[name]);
  if (!isProxied) return straight;
  const through = once(async () => (await import('./proxied.ts')).proxied(env));
  return async (asked, flight) =>
    (isLoopbackHost(new URL(asked.url).hostname) ? straight : await through())(asked, flight);
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
