import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isLoopback } from '../config/service-url.ts';
import { codeOf, Failure } from '../errors.ts';
import { closedNow } from '../promise/closed.ts';
import { resolvable } from '../promise/resolvable.ts';
import { isSameSecret } from '../text/digest.ts';
import { callbackPage, type Page } from './callback-page.ts';

/** The redirect of this very attempt. The browser waits until `answer` says what became of it. */
type Callback = { readonly params: URLSearchParams; answer(page: Page): Promise<void> };

export type Receiver = { readonly callback: Promise<Callback>; close(): Promise<void> };

/** What of a request decides. `host` is the Host header. */
export type Hit = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

export type Verdict =
  | { readonly kind: 'callback'; readonly params: URLSearchParams }
  | { readonly kind: 'ignored'; readonly status: number; readonly page: Page };

/** A redirect URI that a server on this machine can answer; the others (https://) are for pasting back. */
export const canListen = (redirectUri: string): boolean =>
  URL.canParse(redirectUri) && new URL(redirectUri).protocol === 'http:' && isLoopback(redirectUri);

/**
 * Only a plain navigation to the redirect URI with the state of this attempt counts. Everything else that reaches the
 * port (favicons, scanners, pages of other origins, an older tab) is turned away, and the login stays pending.
 */
export function judge(hit: Hit, redirectUri: string, state: string): Verdict {
  const expected = new URL(redirectUri);
  const ignored = (status: number, title: string, text: string): Verdict => ({
    kind: 'ignored',
    status,
    page: { ok: false, title, text },
  });
  // A page that rebinds its own name to this address sends its own name as Host.
  if (String(hit.headers.host).toLowerCase() !== expected.host)
    return ignored(421, 'Not here', 'This address is for svc only.');
  const url = URL.canParse(hit.target, expected.origin) ? new URL(hit.target, expected.origin) : undefined;
  if (url?.origin !== expected.origin || url.pathname !== expected.pathname) {
    return ignored(404, 'Nothing here', 'This address waits for a login in svc.');
  }
  if (hit.method !== 'GET') return ignored(405, 'Nothing here', 'This address waits for a login in svc.');
  const { origin, 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': destination = 'document' } = hit.headers;
  // Scripts, images and frames of other pages; a redirect in the address bar has no Origin.
  if (origin !== undefined || mode !== 'navigate' || destination !== 'document') {
    return ignored(403, 'Not from here', 'A login must return by a redirect, not from inside another page.');
  }
  const given = url.searchParams.getAll('state');
  if (given.length !== 1 || !isSameSecret(given[0] ?? '', state)) {
    return ignored(
      400,
      'Not the login that svc waits for',
      'This answer belongs to another attempt. Go on in the newest tab, or start again with svc login.',
    );
  }
  if (url.searchParams.getAll('code').length + url.searchParams.getAll('error').length !== 1) {
    return ignored(
      400,
      'An incomplete answer',
      'The service must send exactly one code or one error. Start again with svc login.',
    );
  }
  return { kind: 'callback', params: url.searchParams };
}

/** Binds the redirect URI's own loopback address. The first callback is taken; another one finds the login under way. */
export async function listenForCallback(redirectUri: string, state: string, login: string): Promise<Receiver> {
  const url = new URL(redirectUri);
  let taken = false;
  const { promise: callback, resolve: take } = resolvable<Callback>();

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const hit = { method: request.method ?? '', target: request.url ?? '', headers: request.headers };
    const verdict = judge(hit, redirectUri, state);
    if (verdict.kind === 'ignored') {
      respond(response, verdict.status, verdict.page);
    } else if (taken) {
      respond(response, 409, { ok: false, title: 'Already under way', text: 'This login was already answered.' });
    } else {
      taken = true;
      take({ params: verdict.params, answer: (page) => respond(response, page.ok ? 200 : 400, page) });
    }
  };

  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(closedNow));
  };
  for (const [index, host] of hostsOf(url).entries()) {
    try {
      servers.push(await listen(handle, host, Number(url.port || 80)));
    } catch (error) {
      const code = codeOf(error) ?? '';
      // `localhost` may be either family; a machine without IPv6 is fine. Another program on that port is not.
      if (index > 0 && code !== 'EADDRINUSE') continue;
      await close();
      throw cannotListen(url, code, login);
    }
  }
  return { callback, close };
}

const hostsOf = ({ hostname }: URL): string[] =>
  hostname === 'localhost' ? ['127.0.0.1', '::1'] : [hostname.replace(/^\[|\]$/gu, '')];

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  host: string,
  port: number,
): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000, maxHeaderSize: 16_384 }, handle);
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return server;
}

function respond(response: ServerResponse, status: number, page: Page): Promise<void> {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    // The address holds the code: it goes into no cache and to no other site.
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...(status === 405 && { allow: 'GET' }),
  });
  return new Promise((resolve) => {
    // Whoever has closed the page meanwhile is not waited for.
    if (response.closed) return resolve();
    response.once('close', resolve);
    response.end(callbackPage(page));
  });
}

function cannotListen(url: URL, code: string, login: string): Failure {
  const way = `or give another registered one: ${login} --redirect-uri http://127.0.0.1:PORT/callback`;
  const [fact, first] =
    code === 'EADDRINUSE'
      ? [
          `Port ${url.port || '80'} on ${url.hostname} is in use. The browser must return there after the login.`,
          'Stop the program that holds it',
        ]
      : [`svc cannot wait for the browser on ${url.host} (${code}).`, 'Allow it'];
  return new Failure('failed', fact, { hint: `${first}, ${way} (or paste the address back with --no-browser).` });
}
