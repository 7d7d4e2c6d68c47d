import type { Dispatcher } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import request from 'undici/lib/api/api-request.js';
import Base from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import { type Proxies, proxiesIn } from '../config/proxies.ts';
import type { HttpRequest } from '../context.ts';
import type { Env } from '../env.ts';
import { messageOf } from '../errors.ts';
import { setFlags } from '../v8-flags.ts';
import { connectTimeoutMs, type Flight, headersOf, isRead, pieces, type RawAnswer, type Sending } from './sending.ts';

// Node 20 stays alive for about 55 ms to optimise the WebAssembly of undici's parser, which a short run never needs.
if (process.versions.node.startsWith('20.')) setFlags(['no-wasm-tier-up', 'no-wasm-dynamic-tiering']);

// undici's entry, which svc does not load, gives every dispatcher this method; tunnels through a proxy call it.
Object.assign(Base.prototype, { connect });

/** Through the proxies that the environment names, except for the hosts in NO_PROXY. */
export function proxied(env: Env): Sending {
  const proxies = proxiesIn(env);
  const open = () =>
    new EnvHttpProxyAgent({
      connect: { timeout: connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      httpProxy: proxies.http?.url.href ?? '',
      httpsProxy: proxies.https?.url.href ?? '',
      noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
      // As everywhere: https through a tunnel, http by asking the proxy for the whole address.
      proxyTunnel: false,
    });
  const kept = open();
  return async (asked, flight) => {
    if (isRead(asked)) return answerBy(kept, asked, flight).catch(namingProxy(proxies, asked));
    // Which connections are kept open to the other side of a proxy cannot be seen, so each write has one of its own.
    const own = open();
    return answerBy(own, asked, flight)
      .catch(namingProxy(proxies, asked))
      .finally(() => void own.destroy());
  };
}

async function answerBy(dispatcher: Dispatcher, asked: HttpRequest, flight: Flight): Promise<RawAnswer> {
  const leaves = () => {
    flight.left = true;
  };
  const giving = new AbortController();
  flight.stop = (error) => giving.abort(error);
  if (flight.stopped) throw flight.stopped;
  // Not `compose`: what it makes never calls `onConnect`.
  const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
    dispatcher.dispatch(options, telling(handler, leaves));
  const told: Dispatcher = Object.create(dispatcher, { dispatch: { value: dispatch } });
  const answer = await request.call(told, optionsOf(asked, giving.signal));
  answer.body.on('error', () => {});
  const body = pieces();
  for await (const piece of answer.body) {
    flight.came = (flight.came ?? 0) + piece.length;
    body.take(piece);
  }
  return { status: answer.statusCode, headers: answer.headers, body: body.whole() };
}

/**
 * What a proxy refuses is told by undici in the text of an error alone: of a tunnel its status, of a plain request that
 * it is a 407. The service has got nothing then. Any other 407 is an answer, which comes from behind the proxy.
 */
const namingProxy = (proxies: Proxies, { url }: HttpRequest) => {
  const proxy = new URL(url).protocol === 'https:' ? proxies.https : proxies.http;
  return (error: unknown): never => {
    const [, tunnel, plain] =
      /^Proxy (?:response \((4\d\d)\)|Authentication Required \((407)\))/u.exec(messageOf(error)) ?? [];
    const status = tunnel ?? plain;
    if (status === undefined || !proxy) throw error;
    const fact = status === '407' ? 'asks for a name and a password that it accepts' : 'does not let svc through';
    throw Object.assign(new Error(`The proxy ${proxy.url.host} (${proxy.name}) ${fact} (HTTP ${status}).`), {
      code: 'SVC_PROXY',
    });
  };
};

/**
 * undici calls `onConnect` when it has a connection, handshake and tunnel included, and is about to write to it. By then
 * its `onHeaders` for plain requests has taken the place of the handler's: to that any 407 is an error.
 */
function telling(handler: Dispatcher.DispatchHandler, leaves: () => void): Dispatcher.DispatchHandler {
  const onConnect = handler.onConnect?.bind(handler);
  const onHeaders = handler.onHeaders?.bind(handler);
  handler.onConnect = (...about) => {
    leaves();
    const ofUndici = handler.onHeaders?.bind(handler);
    handler.onHeaders = (status, headers, ...rest) =>
      (status === 407 && !asksForPassword(headers) ? onHeaders : ofUndici)?.(status, headers, ...rest) ?? true;
    onConnect?.(...about);
  };
  return handler;
}

/**
 * Whether a 407 is the word of the proxy that svc asked: it must have this header, which is for the next client alone and
 * is not passed on (RFC 9110, 11.7.1). Without it something behind the proxy says so, which may have passed the request on.
 */
const asksForPassword = (rawHeaders: readonly Buffer[]): boolean =>
  rawHeaders.some((name, at) => at % 2 === 0 && name.toString().toLowerCase() === 'proxy-authenticate');

function optionsOf(asked: HttpRequest, signal: AbortSignal): Dispatcher.RequestOptions {
  const url = new URL(asked.url);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: asked.method,
    headers: headersOf(asked),
    body: asked.body,
    signal,
  };
}
