import { requireHttps } from '../config/service-url.ts';
import type { Settings } from '../config/settings.ts';
import type { Context, HttpRequest, HttpResponse, Lost } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import { isGatewayTimeout, isOfGateways, isOwnRefusal, readBody, saysLimit } from '../retry/own-word.ts';
import { decide, type History, type Outcome, type Rules, repeated, untried } from '../retry/retry.ts';
import { retryAfterMs } from '../retry/retry-after.ts';
import { jsonIn } from '../text/json.ts';
import { counted } from '../text/number.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import { withoutSentSecrets } from '../text/redact.ts';
import { userAgent } from '../version.ts';

export type Ports = Pick<Context, 'exchange' | 'clock' | 'progress' | 'notice' | 'signal'>;
export type Limits = Pick<Settings, 'timeoutMs' | 'maxWaitMs'> & Partial<Pick<Settings, 'insecureHttp'>>;

/** The pre-registered client at one service (service.md#oauth-1). */
export type Client = { readonly authUrl: string; readonly clientId: string; readonly clientSecret: string };

/** `code`: the error of RFC 6749, section 5.2, where the endpoint named one; `said`: with its description. */
export type Refused = { readonly code: string | undefined; readonly said?: string; readonly failure: Failure };

export const endpoints = {
  authorize: '/oauth/platform/authorize',
  token: '/oauth/platform/token',
  revoke: '/oauth/platform/revoke',
};

type Library = typeof import('oauth4webapi');

/** What sets one request to the endpoint apart from another. */
type Manner = {
  /** Called before each attempt; what it throws ends the request. */
  readonly ready?: () => Promise<void>;
  /** The answer is waited for also after Ctrl-C, because it carries what cannot be had again. */
  readonly mustFinish?: boolean;
};

/** The answer, and the wall clock when its request left: tokens live from then on. */
export type Answered = { readonly answer: HttpResponse; readonly sentAt: Date };

/** The library, bound to one client and to our own way of sending. `explain` is for whatever it throws. */
export function prepare(oauth: Library, ports: Ports, limits: Limits, { client, manner = {} }: Exchanging) {
  requireSecret(client.authUrl, limits);
  const as = {
    issuer: client.authUrl,
    authorization_endpoint: client.authUrl + endpoints.authorize,
    token_endpoint: client.authUrl + endpoints.token,
    revocation_endpoint: client.authUrl + endpoints.revoke,
  };
  let answered: Answered | undefined;
  const options = {
    [oauth.allowInsecureRequests]: new URL(client.authUrl).protocol === 'http:',
    [oauth.customFetch]: async (
      url: string,
      request: { method: string; headers: Record<string, string>; body: unknown },
    ) => {
      const wire = {
        method: request.method,
        url,
        headers: { ...request.headers, 'user-agent': userAgent },
        body: String(request.body),
        timeoutMs: limits.timeoutMs,
        ...(!manner.mustFinish && { signal: ports.signal }),
      };
      answered = await sendPatiently(ports, limits, wire, manner);
      // The library makes the request. The answer is judged here: a token that was given must not be lost because
      // something beside it is odd.
      return new Response(null, { status: 200 });
    },
  };
  return {
    as,
    who: { client_id: client.clientId },
    // In the body, not by Basic: servers often forget to undo its percent-encoding of the secret (RFC 6749, 2.3.1).
    auth: oauth.ClientSecretPost(client.clientSecret),
    options,
    answered: (): Answered => {
      if (!answered) throw new Error('The token endpoint was not asked.');
      return answered;
    },
    explain: (error: unknown): Refused => explainError(error, answered?.answer, client),
  };
}

type Exchanging = { readonly client: Client; readonly manner?: Manner };

/**
 * By the rules of every other request (`decide`), as one that may be sent once: what certainly never left is sent
 * again, a 429 of the service itself is waited out. Anything else that was lost is not repeated, because a code or a
 * refresh token works once.
 */
async function sendPatiently(ports: Ports, limits: Limits, request: HttpRequest, manner: Manner): Promise<Answered> {
  const { exchange, clock } = ports;
  const began = clock.ticks();
  const maxWaitMs = limits.maxWaitMs ?? 120_000;
  const rules: Rules = { safety: 'once', deletes: false, reachesCustomer: false, maxWaitMs };
  // A 401 of this endpoint speaks of the client, for which there is nothing to renew.
  let history: History = { ...untried, renewed: true };
  for (;;) {
    refuseInterrupted(ports);
    await manner.ready?.();
    const attempt = clock.ticks();
    const stopTelling = manner.mustFinish ? tellOnInterrupt(ports) : undefined;
    const answer = await exchange(request).finally(stopTelling);
    const sentAt = new Date(clock.now().getTime() - (clock.ticks() - attempt));
    if ('lost' in answer && !manner.mustFinish && ports.signal.aborted) throw interruptedAfter(answer, ports);
    history = { ...history, elapsedMs: clock.ticks() - began };
    const step = decide(rules, history, outcomeOf(answer));
    if (step.next === 'repeat') {
      const isLimited = step.because === 'rate-limit';
      await pause(ports, step.afterMs, isLimited ? 'The service limits logins' : 'No connection to the service');
      history = repeated(history, step.because);
    } else if ('lost' in answer) {
      throw lostFailure(answer, request.url, manner);
    } else if (step.next === 'fail' && step.as === 'rate-limited') {
      throw limitedTooLong(answer);
    } else {
      return { answer: withoutSentSecrets(request, answer), sentAt };
    }
  }
}

function outcomeOf(answer: HttpResponse | Lost): Outcome {
  if ('lost' in answer) {
    return answer.lost === 'before-sending' ? { type: 'unsent', reason: answer.reason } : { type: 'unsettled' };
  }
  const { status, headers } = answer;
  if (status !== 429) return { type: 'settled', status };
  return { type: 'refused', retryAfterMs: retryAfterMs(headers), isForeign: !isRefusal(answer) };
}

/** Counts down on a terminal; says once in a pipe what a long wait is for. Ends at once with Ctrl-C. */
async function pause({ clock, progress, notice, signal }: Ports, ms: number, why: string): Promise<void> {
  const end = clock.ticks() + ms;
  if (ms > 5000) notice(`${why}; continuing in ${Math.ceil(ms / 1000)} s.`);
  for (let left = ms; left > 0 && !signal.aborted; left = end - clock.ticks()) {
    progress(`${why}; continuing in ${Math.ceil(left / 1000)} s`);
    await clock.sleep(Math.min(left, 1000), signal);
  }
  progress(undefined);
}

export function refuseInterrupted({ signal }: Pick<Ports, 'signal'>): void {
  if (signal.aborted) throw interruption(signal);
}

/** What had left may be done. */
function interruptedAfter({ lost }: Lost, { signal }: Ports): Failure {
  const { kind, message } = interruption(signal);
  return new Failure(kind, message, { mayBeDone: lost === 'after-sending' });
}

/** Ctrl-C is acknowledged at once, though the answer is waited for. Returns what ends the watch. */
function tellOnInterrupt({ signal, notice }: Ports): () => void {
  const tell = () => notice('Stopping once the refreshed login is saved. Press Ctrl-C again to lose it.');
  signal.addEventListener('abort', tell, { once: true });
  return () => signal.removeEventListener('abort', tell);
}

const limitedTooLong = ({ headers }: HttpResponse): Failure =>
  new Failure('rate-limited', 'The login limit of the service asks for a longer wait than --max-wait allows.', {
    status: 429,
    hint: `Try again in ${counted(Math.ceil((retryAfterMs(headers) ?? 1000) / 1000), 'second')}.`,
  });

function lostFailure(lost: Lost, url: string, { mustFinish }: Manner): Failure {
  const { origin } = new URL(url);
  if (lost.lost === 'after-sending') {
    const more = mustFinish ? { hint: maybeSpent } : { mayBeDone: true };
    return new Failure('network', `The answer from ${origin} was lost: ${lost.detail}`, more);
  }
  return new Failure('network', `Could not reach ${origin}: ${lost.detail}`, {
    hint: 'Check the connection and the auth URL (--auth-url, SVC_AUTH_URL), then try again.',
  });
}

/** For a refresh whose outcome is not known. */
export const maybeSpent =
  'The login is kept, but its refresh token may be spent. Try again; if the login has ended, run: svc login';

/** The library's errors hold whole answers, with tokens in them: never kept as a cause, never shown. */
function explainError(error: unknown, answer: HttpResponse | undefined, client: Client): Refused {
  if (error instanceof Failure) return { code: undefined, failure: error };
  const mayBeDone = answer && !isRefusal(answer);
  const refused = (kind: Failure['kind'], message: string, hint?: string) =>
    new Failure(kind, message, { status: answer?.status, hint, mayBeDone });
  if (!answer) return { code: undefined, failure: refused('failed', 'The redirected address is not a valid answer.') };
  const { code, description } = isRefusal(answer) ? errorIn(answer.body) : {};
  const said = `(${code}${description ? `: ${description}` : ''})`;
  return { code, said, failure: refused(...explained(code, said, answer.status, new URL(client.authUrl).origin)) };
}

type Explained = [kind: Failure['kind'], message: string, hint?: string];

function explained(code: string | undefined, said: string, status: number, origin: string): Explained {
  if (code === 'invalid_client') {
    return [
      'auth',
      `The service does not accept the client id or its secret ${said}.`,
      'Check SVC_CLIENT_ID and SVC_CLIENT_SECRET (or --client-id and the secret that you typed), and log in again.',
    ];
  }
  if (code === 'invalid_grant') {
    return ['auth', `The service no longer accepts the authorization ${said}.`, 'Run: svc login'];
  }
  if (code) return ['rejected', `${origin} refused the request ${said}.`];
  if (status >= 500) return ['failed', `${origin} failed with status ${status}.`, 'Try again later.'];
  return [
    'failed',
    `${origin} answered with status ${status} and something that no token endpoint sends.`,
    'Check the auth URL: --auth-url, SVC_AUTH_URL or svc config get auth_url.',
  ];
}

/** Those of RFC 6749, section 5.2, RFC 6750, section 3.1, and RFC 7009, section 2.2.1: walls and gateways write no such error. */
const codes: readonly unknown[] = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'invalid_scope', 'invalid_token'],
  ...['unauthorized_client', 'unsupported_grant_type', 'unsupported_token_type'],
];

/** All that RFC 6749, section 5.2, knows of an error. */
const fieldsOfError = new Set(['error', 'error_description', 'error_uri']);

/** The service's own word that it did nothing. With any other answer the request may have been carried out. */
function isRefusal(answer: HttpResponse): boolean {
  const { status } = answer;
  if (status < 400 || status > 499 || isGatewayTimeout(status)) return false;
  const said = fieldsIn(jsonIn(answer.body));
  const isPlain = textIn(said.error)?.trim() && Object.keys(said).every((name) => fieldsOfError.has(name));
  if (codes.includes(said.error) || (isPlain === true && !isOfGateways(status))) return true;
  return saysLimit(answer) && isOwnRefusal(answer, readBody(answer.body));
}

function errorIn(body: string) {
  const { error, error_description } = fieldsIn(jsonIn(body));
  return { code: textIn(error), description: textIn(error_description)?.replace(/\.$/u, '') };
}

/** Codes, secrets and tokens travel to this address: in the clear only where they cannot leave the machine. */
export const requireSecret = (authUrl: string, limits: Pick<Limits, 'insecureHttp'>): void =>
  requireHttps(authUrl, 'The auth URL', limits);
