import type { Exchange, HttpRequest, HttpResponse } from '../context.ts';
import type { RawAnswer, Sending } from './sending.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The real exchange: keep-alive, proxies from the environment, gzip; redirects are never followed here. Whatever the
 * peer does, it ends in an answer or in a loss within the time-out, and never throws.
 */
export async function createExchange(env: Env): Promise<Exchange> {
  const send = await chooseSending(env);
  return async (asked) => {
    const timeout = AbortSignal.timeout(asked.timeoutMs);
    const signal = asked.signal ? AbortSignal.any([timeout, asked.signal]) : timeout;
    let left = false;
    const answering = answerTo(send, asked, signal, () => {
      left = true;
    });
    const end = endOf(signal);
    try {
      return await Promise.race([answering, end.comes]);
    } catch (error) {
      const { isMistake, lostBy } = await import('./lost.ts');
      if (!left && isMistake(error)) throw error;
      return lostBy({ error, left, timedOut: timeout.aborted }, asked);
    } finally {
      end.forget();
    }
  };
}

async function answerTo(
  send: Sending,
  asked: HttpRequest,
  signal: AbortSignal,
  leaves: () => void,
): Promise<HttpResponse> {
  const { status, headers: raw, body } = await send(asked, signal, leaves);
  const headers = flatten(raw);
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return { status, headers, body: body.toString('utf8') };
  return { status, headers, body: await (await import('./decode.ts')).decode(body, encoding) };
}

/** Neither a client that does not tell of an end nor a body that takes long to decompress outlasts the signal. */
function endOf(signal: AbortSignal): { comes: Promise<never>; forget: () => void } {
  let end = (): void => {};
  const comes = new Promise<never>((_, reject) => {
    end = () => reject(new DOMException('It was ended.', 'AbortError'));
  });
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  // A signal that is still listened to is kept in memory for as long as svc runs.
  return { comes, forget: () => signal.removeEventListener('abort', end) };
}

async function chooseSending(env: Env): Promise<Sending> {
  const isProxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => env[name]);
  if (isProxied) return (await import('./proxied.ts')).proxied(env);
  return (await import('./direct.ts')).direct();
}

const flatten = (headers: RawAnswer['headers']): Record<string, string> =>
  // Names are the peer's, so none is assigned to: `__proto__` would not become one of its own.
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      if (value === undefined) return [];
      return [[name, typeof value === 'string' ? value : value.join(', ')]];
    }),
  );
