import { usualPresets } from '../api/path.ts';
import { andThen } from '../promise/and-then.ts';
import { answerOf, forbidden, noSuchPath, tooManyRequests } from './answer.ts';
import { answerApi } from './api.ts';
import { answerControl } from './control/control.ts';
import { answerInstead, type Fault } from './control/faults.ts';
import { isOwnHost } from './host.ts';
import { addressLimit } from './limits.ts';
import { answerOAuth } from './oauth/endpoints.ts';
import type { SandboxOptions } from './options.ts';
import { respond, type SandboxResponse, spoil, unlimited } from './response.ts';
import type { Row } from './store/records.ts';
import { oauthOf, snapshotOf } from './store/state.ts';
import { createWorld, type World } from './world.ts';

export type { SandboxOptions } from './options.ts';
export type { SandboxResponse } from './response.ts';

type SandboxRequest = {
  readonly method: string;
  /** A path with its query, or a whole URL. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
  /** Undefined where no socket is involved. */
  readonly remoteAddress?: string;
};

export type Sandbox = ReturnType<typeof createSandbox>;

/** The whole service offline, without a socket: a request goes in, a response comes out. */
export function createSandbox(options: SandboxOptions = {}) {
  const world = createWorld(options);
  /** The document's shape for a server failure; never a stack trace. */
  const failed = (error: unknown): SandboxResponse => {
    const told = error instanceof Error ? error.message : String(error);
    return respond({ status: 500, body: { error: `The sandbox failed: ${told}` } }, unlimited, world.now());
  };
  /** A request is answered only when what it did, or was shown, is kept. */
  const kept = (response: SandboxResponse): SandboxResponse | Promise<SandboxResponse> =>
    options.stateFile || world.state.changed.size > 0 ? world.keep().then(() => response) : response;
  const handled = (request: SandboxRequest): SandboxResponse | Promise<SandboxResponse> => {
    if (isFromElsewhere(request)) return respond(answerOf(foreignHost), unlimited, world.now());
    const isOpen = options.cors === true && !isControl(request.url);
    if (isOpen && isPreflight(request)) return preflightAnswer(request);
    return andThen(answer(world, options, request), (answered) => kept(isOpen ? withCors(answered) : answered));
  };
  return {
    /** At once where nothing has to be waited for, as with most reads. Neither throws nor rejects. */
    handle(request: SandboxRequest): SandboxResponse | Promise<SandboxResponse> {
      try {
        const response = handled(request);
        return response instanceof Promise ? response.catch(failed) : response;
      } catch (error) {
        return failed(error);
      }
    },
    /** Writes what has changed to the state file, as every request does before its answer. */
    keep: world.keep,
    now: world.now,
    /** Every row as it is now. */
    rows: () => snapshotOf(world.state),
    /** Ends what goes on by itself: webhook deliveries. */
    async close(): Promise<void> {
      await world.deliveries.stop();
      await world.keep();
    },
  };
}

type Asked = ReturnType<typeof split> & { readonly body: string };

function answer(
  world: World,
  options: SandboxOptions,
  request: SandboxRequest,
): SandboxResponse | Promise<SandboxResponse> {
  const { method, headers, remoteAddress } = request;
  const { path, search } = split(request.url);
  const body = textOf(request.body);
  const free = (answered: Parameters<typeof respond>[0]) => respond(answered, unlimited, world.now());
  if (isControlPath(path)) {
    return answerControl(world, { method, path, headers, body, remoteAddress }).then(free);
  }

  if (path === '/openapi.json' && (method === 'GET' || method === 'HEAD')) {
    return answerDescription(absolute(request).origin).then((body) => free({ status: 200, body }));
  }

  const fault = world.faults.meet(method, path);
  const waitMs = (options.latencyMs ?? 0) + (fault?.action === 'delay' ? (fault.ms ?? 0) : 0);
  const waited = waitMs > 0 ? (options.sleep ?? sleep)(waitMs) : undefined;
  return andThen(waited, () => answerAs(world, options, request, { path, search, body, fault }));
}

/** What the fault leaves of the answer. */
function answerAs(
  world: World,
  options: SandboxOptions,
  request: SandboxRequest,
  { path, search, body, fault }: Asked & { readonly fault: Fault | undefined },
): SandboxResponse | Promise<SandboxResponse> {
  const { method, headers, remoteAddress } = request;
  const now = world.now();
  const note = (status: number | null, credential: string | null) => {
    const at = now.getTime();
    world.log.add({ at, method, path, query: search, status, credential, body, fault: fault?.action });
  };

  switch (fault?.action) {
    case 'drop-before':
      note(null, null);
      return { status: 0, headers: {}, body: '', cut: 'before' };
    case 'status':
    case 'rate-limit': {
      const instead = answerInstead(fault);
      note(instead.status, null);
      // As a real 429 does, it says that nothing remains.
      return respond(instead, fault.action === 'rate-limit' ? { ...unlimited, remaining: 0 } : unlimited, now);
    }
  }
  if (path.startsWith('/oauth/platform/')) {
    const { verdict, ...answered } = answerLimitedOAuth(world, options, request, now);
    note(answered.status, null);
    return spoil(respond(answered, verdict, now), fault);
  }
  const address = remoteAddress ?? 'local';
  return andThen(answerApi(world, now, { method, path, search, headers, body, address }), (answered) => {
    note(answered.status, answered.credential?.kind ?? null);
    return spoil(respond(answered, answered.verdict, now), fault);
  });
}

function answerLimitedOAuth(world: World, { consent = 'page' }: SandboxOptions, request: SandboxRequest, now: Date) {
  const buckets = [{ key: `oauth ${request.remoteAddress}`, limit: addressLimit }];
  const verdict = world.limiter.take(buckets, now.getTime());
  if (verdict.retryAfter !== undefined) return { verdict, ...answerOf(tooManyRequests(verdict.retryAfter)) };
  const { method, headers } = request;
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
  const answered = answerOAuth(
    oauthOf(world.state),
    { method, url: absolute(request), headers, body: body ?? new Uint8Array() },
    {
      now,
      random: world.random,
      accounts: [...world.state.rows.accounts.values()].map((account) => shownTo(world, account)),
      consent,
      formKey: world.formKey,
    },
  );
  return { verdict, ...(answered ?? answerOf(noSuchPath)) };
}

/** Whoever comes sees the consent page: of a real account it has no name. */
const shownTo = ({ keys }: World, { account_id, name }: Row<'accounts'>) => ({
  account_id,
  name: keys.isPrivate ? `Account ${account_id}` : name,
});

const foreignHost = forbidden('The sandbox answers requests to this machine alone: 127.0.0.1 or localhost.');

const isFromElsewhere = ({ headers: { host }, remoteAddress }: SandboxRequest): boolean =>
  remoteAddress !== undefined && host !== undefined && !isOwnHost(host);

const isControlPath = (path: string): boolean => path.startsWith('/_sandbox/');
const isControl = (url: string): boolean => isControlPath(split(url).path);

/** Some clients send a Host that is not valid. */
function absolute({ url, headers: { host = '' } }: SandboxRequest): URL {
  const base = `http://${host}`;
  return new URL(url, URL.canParse(base) ? base : 'http://127.0.0.1');
}

function split(url: string): { path: string; search: string } {
  const from = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  const mark = url.indexOf('?', from);
  if (from < 0) return { path: '/', search: mark < 0 ? '' : url.slice(mark + 1) };
  const end = url.indexOf('#', from);
  const last = end < 0 ? url.length : end;
  if (mark < 0 || mark > last) return { path: url.slice(from, last), search: '' };
  return { path: url.slice(from, mark), search: url.slice(mark + 1, last) };
}

const decoder = new TextDecoder();
const textOf = (body: string | Uint8Array = ''): string => (typeof body === 'string' ? body : decoder.decode(body));

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** `GET /openapi.json`: the description of the service, with this sandbox as its server. */
async function answerDescription(origin: string): Promise<object> {
  // Loaded when it is asked for: a sandbox that nobody asks starts without it.
  const { openApiOf } = await import('../derive/openapi.ts');
  return openApiOf({ baseUrl: origin, authUrl: origin, partnerSegment: usualPresets.partner });
}

/** `--cors`: pages of any origin may call the sandbox. The control calls stay closed to them. */
const allowed = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After',
};

/** A browser's question before the request itself; it carries no credential, and counts for no limit. */
const isPreflight = ({ method, headers }: SandboxRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

const preflightAnswer = ({ headers }: SandboxRequest): SandboxResponse => ({
  status: 204,
  headers: {
    ...allowed,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'Authorization, Content-Type',
    'access-control-max-age': '600',
    vary: 'Access-Control-Request-Headers',
  },
  body: '',
});

const withCors = (response: SandboxResponse): SandboxResponse => ({
  ...response,
  headers: { ...response.headers, ...allowed },
});
