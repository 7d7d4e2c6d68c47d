import type { Context, HttpRequest, HttpResponse, Lost } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { version } from '../version.ts';
import { isLoopback } from './service-url.ts';

export type Ports = Pick<Context, 'exchange' | 'clock' | 'progress'>;
export type Limits = Pick<Settings, 'timeoutMs' | 'maxWaitMs'>;

/** The pre-registered client at one service (service-api.txt, OAuth clients). */
export type Client = { readonly authUrl: string; readonly clientId: string; readonly clientSecret: string };

/** `code`: the error of RFC 6749, section 5.2, where the endpoint named one; `said`: with its description. */
export type Refused = { readonly code: string | undefined; readonly said?: string; readonly failure: Failure };

export const endpoints = {
  authorize: '/oauth/platform/authorize',
  token: '/oauth/platform/token',
  revoke: '/oauth/platform/revoke',
};

type Library = typeof import('oauth4webapi');

/** The library, bound to one client and to our own way of sending. `explain` is for whatever it throws. */
export function prepare(oauth: Library, ports: Ports, limits: Limits, client: Client) {
  requireSecret(client.authUrl);
  const as = {
    issuer: client.authUrl,
    authorization_endpoint: client.authUrl + endpoints.authorize,
    token_endpoint: client.authUrl + endpoints.token,
    revocation_endpoint: client.authUrl + endpoints.revoke,
  };
  let answer: HttpResponse | undefined;
  const options = {
    [oauth.allowInsecureRequests]: isLoopback(client.authUrl),
    [oauth.customFetch]: async (
      url: string,
      request: { method: string; headers: Record<string, string>; body: unknown },
    ) => {
      answer = await sendPatiently(ports, limits, {
        method: request.method,
        url,
        headers: { ...request.headers, 'user-agent': `svc/${version}` },
        body: String(request.body),
        timeoutMs: limits.timeoutMs,
      });
      const empty = [204, 205, 304].includes(answer.status);
      return new Response(empty ? null : answer.body, { status: answer.status, headers: answer.headers });
    },
  };
  return {
    as,
    who: { client_id: client.clientId },
    // In the body, not by Basic: its percent-encoding of the secret (RFC 6749, 2.3.1) is often left undone by servers.
    auth: oauth.ClientSecretPost(client.clientSecret),
    options,
    status: () => answer?.status ?? 0,
    explain: (error: unknown): Refused => explainError(error, answer, client),
  };
}

/**
 * What certainly never arrived is sent again, three times within about two seconds; a 429 is waited out. Anything else
 * that was lost is not repeated, because a code or a refresh token works once.
 */
async function sendPatiently(
  { exchange, clock, progress }: Ports,
  limits: Limits,
  request: HttpRequest,
): Promise<HttpResponse> {
  const maxWaitMs = limits.maxWaitMs ?? 120_000;
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    const answer = await exchange(request);
    if ('lost' in answer) {
      if (answer.lost !== 'before-sending' || attempt === 3) throw lostFailure(answer, request.url);
      await clock.sleep(500 * attempt);
    } else if (answer.status === 429) {
      const waitMs = (Number(answer.headers['retry-after']) || 1) * 1000;
      if (waitedMs + waitMs > maxWaitMs) {
        throw new Failure(
          'rate-limited',
          'The service limits how often one may log in, longer than --max-wait allows.',
          {
            status: 429,
            hint: `Try again in ${Math.ceil(waitMs / 1000)} seconds.`,
          },
        );
      }
      progress(`The service asks to wait ${Math.ceil(waitMs / 1000)} s before logging in`);
      await clock.sleep(waitMs);
      progress(undefined);
      waitedMs += waitMs;
    } else {
      return answer;
    }
  }
}

const lostFailure = (lost: Lost, url: string): Failure =>
  new Failure('network', `Could not reach ${new URL(url).origin}: ${lost.detail}`, {
    hint: 'Check the connection and the auth URL (--auth-url, SVC_AUTH_URL), then try again.',
  });

/** The library's errors hold whole answers, with tokens in them: never kept as a cause, never shown. */
function explainError(error: unknown, answer: HttpResponse | undefined, client: Client): Refused {
  if (error instanceof Failure) return { code: undefined, failure: error };
  const refused = (kind: Failure['kind'], message: string, hint?: string) =>
    new Failure(kind, message, { status: answer?.status, hint });
  if (!answer) return { code: undefined, failure: refused('failed', 'The redirected address is not a valid answer.') };
  const { code, description } = errorOf(answer);
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
    return ['auth', `The service does not accept the authorization any more ${said}.`, 'Run: svc login'];
  }
  if (code) return ['rejected', `${origin} refused the request ${said}.`];
  if (status >= 500) return ['failed', `${origin} failed with status ${status}.`, 'Try again later.'];
  return [
    'failed',
    `${origin} answered with status ${status} and something that no token endpoint sends.`,
    'Check the auth URL: --auth-url, SVC_AUTH_URL or svc config get auth_url.',
  ];
}

/** RFC 6749, section 5.2: errors come with a status of 400 or 401. What another status says of a grant is not believed. */
function errorOf({ status, body }: HttpResponse): { readonly code?: string; readonly description?: string } {
  if (status < 400 || status > 499) return {};
  try {
    const { error, error_description } = JSON.parse(body);
    return {
      code: typeof error === 'string' ? error : undefined,
      description: typeof error_description === 'string' ? error_description.replace(/\.$/u, '') : undefined,
    };
  } catch {
    return {};
  }
}

/** Codes, secrets and tokens travel to this address: in the clear only where they cannot leave the machine. */
export function requireSecret(authUrl: string): void {
  if (new URL(authUrl).protocol === 'https:' || isLoopback(authUrl)) return;
  throw new Failure('usage', `The auth URL ${authUrl} must begin with https://; nothing was sent.`, {
    hint: 'http:// is accepted for this machine alone.',
  });
}
