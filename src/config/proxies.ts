import type { Env } from '../env.ts';
import { Failure, orElse } from '../errors.ts';
import { isText } from '../text/record.ts';

/** A proxy, and the variable that names it. */
type Proxy = { readonly name: string; readonly url: URL };

/** By the scheme of what is asked for; where `https` has none of its own, that of `http` serves for it. The lower case comes first. */
export type Proxies = { readonly http?: Proxy; readonly https?: Proxy };

/** The proxies that the environment names; a usage Failure where one is no address. */
export function proxiesIn(env: Env): Proxies {
  const http = proxyIn(env, env.http_proxy === undefined ? 'HTTP_PROXY' : 'http_proxy');
  const https = proxyIn(env, env.https_proxy === undefined ? 'HTTPS_PROXY' : 'https_proxy') ?? http;
  return { ...(http && { http }), ...(https && { https }) };
}

/** What HTTP and SOCKS proxies are named by; a bare `HOST:PORT` is an HTTP proxy, as curl has it. */
const schemes = ['http:', 'https:', 'socks5:', 'socks:'];

function proxyIn(env: Env, name: string): Proxy | undefined {
  const value = env[name]?.trim();
  if (!value) return undefined;
  const address = /^[a-z][a-z\d+.-]*:\/\//iu.test(value) ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && schemes.includes(url.protocol) && isEncoded(url.username) && isEncoded(url.password)) return { name, url };
  // The value may hold a password, so it is not repeated.
  throw new Failure('usage', `${name} is not the address of a proxy.`, {
    hint: `Set ${name} to an address like http://proxy.example.com:3128, or unset it.`,
  });
}

/** A `%` of a password that was left as it is cannot be undone. */
const isEncoded = (text: string): boolean => orElse(() => isText(decodeURIComponent(text)), false);
