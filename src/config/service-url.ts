import { Failure } from '../errors.ts';
import { isLoopbackHost } from '../text/loopback.ts';

/**
 * The URL of the service, or of its OAuth endpoints, as requests are built on it: a path prefix is kept, a trailing
 * slash is not. `by` names the flag, variable or setting that it came from.
 */
export function parseServiceUrl(text: string, by: string): string {
  const bad = (why: string, hint?: string) => new Failure('usage', `${by}: ${why}`, { hint });
  const whole = /^https?:\/\//u.test(text) ? undefined : withScheme(text);
  // What stands before an @ is a secret, also where the text is no URL: it is not repeated.
  const it = text.includes('@') ? 'it' : `"${text}"`;
  if (!URL.canParse(text) || (whole && !/^https?:/iu.test(text))) {
    const isQuoted = /^\s*["'`]|["'`]\s*$/u.test(text);
    throw bad(
      `${it} is not a URL.`,
      isQuoted
        ? 'There are quotation marks around it, as docker --env-file keeps them: take them away.'
        : `Include the scheme: ${(it === 'it' ? undefined : whole) ?? 'https://api.example.com'}`,
    );
  }
  const url = new URL(text);
  if (url.username || url.password) throw bad('a URL may not carry a user name or password.', 'Log in with: svc login');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw bad(`${it} must begin with https:// (or http:// on this machine).`);
  }
  if (url.search || url.hash) throw bad(`${it} may not carry a query or a fragment.`);
  return url.origin + url.pathname.replace(/\/+$/u, '');
}

/** An address as people say it, `127.0.0.1:4010` or `api.example.com/v1`, as the URL that is meant. */
export function withScheme(text: string): string | undefined {
  const typed = text.trim();
  if (!/^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?(?:\/[^\s?#]*)?$/iu.test(typed)) return undefined;
  const host = `http://${typed}`;
  if (!URL.canParse(host)) return undefined;
  return isLoopbackHost(new URL(host).hostname) ? host : `https://${typed}`;
}

export const originOf = (url: string): string => new URL(url).origin;

/** This machine alone can be reached there, so that plain http:// gives nothing away. */
export const isLoopback = (url: string): boolean => isLoopbackHost(new URL(url).hostname);

/** What is sent by plain http:// can be read on the way: allowed on this machine, elsewhere only where it is asked for. */
export function requireHttps(url: string, what: string, { insecureHttp }: { readonly insecureHttp?: boolean }): void {
  if (insecureHttp || new URL(url).protocol === 'https:' || isLoopback(url)) return;
  throw new Failure('usage', `${what} ${url} must begin with https://; nothing was sent.`, {
    hint: 'Over http:// the credential could be read on the way. To allow it: --insecure-http or SVC_INSECURE_HTTP=1',
  });
}

/** Nobody has said where the service is. */
export const noAddress = (): Failure =>
  new Failure('usage', 'The address of the service is not set.', {
    hint: 'Give --base-url URL or set SVC_BASE_URL. To try svc without an account: svc sandbox start',
  });
