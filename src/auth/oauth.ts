import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { jsonIn } from '../text/json.ts';
import { isRecord } from '../text/record.ts';
import { isRevocation } from './revocation.ts';
import {
  type Answered,
  type Client,
  endpoints,
  type Limits,
  maybeSpent,
  type Ports,
  prepare,
  type Refused,
  requireSecret,
} from './token-endpoint.ts';

/** One attempt to log in. State and verifier are random, and of this attempt alone. */
export type Attempt = {
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
};

export async function beginAttempt(
  { random }: Pick<Context, 'random'>,
  client: Pick<Client, 'authUrl' | 'clientId'>,
  { redirectUri, scopes, ...limits }: Pick<Attempt, 'redirectUri' | 'scopes'> & Pick<Limits, 'insecureHttp'>,
): Promise<Attempt> {
  const oauth = await import('oauth4webapi');
  requireSecret(client.authUrl, limits);
  const secret = () => Buffer.from(random(32)).toString('base64url');
  const [state, verifier] = [secret(), secret()];
  const url = new URL(client.authUrl + endpoints.authorize);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  return { url, state, verifier, redirectUri, scopes };
}

/**
 * Turns the redirect's parameters into tokens. The code works once, so a lost answer cannot be repeated. A failure says
 * (`mayBeDone`) where the service may have given tokens that nobody has.
 */
export async function redeem(
  ports: Ports,
  limits: Limits,
  { client, attempt }: { readonly client: Client; readonly attempt: Attempt },
  answer: URLSearchParams,
): Promise<Grant> {
  const oauth = await import('oauth4webapi');
  // RFC 9207's `iss` is no part of the service's redirect, and we know of no issuer name to compare it with.
  const params = new URLSearchParams(answer);
  params.delete('iss');
  const { as, who, auth, options, answered, explain } = prepare(oauth, ports, limits, { client });
  let checked: URLSearchParams;
  try {
    checked = oauth.validateAuthResponse(as, who, params, attempt.state);
    const { redirectUri, verifier } = attempt;
    await oauth.authorizationCodeGrantRequest(as, who, auth, checked, redirectUri, verifier, options);
  } catch (error) {
    throw explain(error).failure;
  }
  const given = grantOf(answered(), attempt.scopes);
  if (!given) throw explain(undefined).failure;
  if (!('refreshOnly' in given)) return given;
  // A code works once as well, so the person would have to consent again.
  const held = { refresh_token: given.refreshOnly, scopes: attempt.scopes };
  const refreshed = await exchangeRefreshToken(ports, limits, client, held);
  if ('failure' in refreshed) {
    const { kind, message, status } = refreshed.failure;
    throw new Failure(kind, message, { status, mayBeDone: true });
  }
  if ('refreshOnly' in refreshed) throw explain(undefined).failure;
  return refreshed;
}

/**
 * Exchanges the refresh token, which works once, for a new pair. A refusal is returned, not thrown. `ready` runs
 * before each attempt; what it throws is thrown, and the token is not spent.
 */
export async function exchangeRefreshToken(
  ports: Ports,
  limits: Limits,
  client: Client,
  held: { readonly refresh_token: string; readonly scopes: readonly string[]; readonly ready?: () => Promise<void> },
): Promise<Grant | RefreshOnly | Refused> {
  const oauth = await import('oauth4webapi');
  const manner = { ready: held.ready, mustFinish: true };
  const { as, who, auth, options, answered, explain } = prepare(oauth, ports, limits, { client, manner });
  try {
    await oauth.refreshTokenGrantRequest(as, who, auth, held.refresh_token, options);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return explain(error);
  }
  const given = grantOf(answered(), held.scopes);
  if (given && 'refreshOnly' in given) return given;
  // A service that does not rotate sends no new one; the old one then stays in use (RFC 6749, section 6).
  if (given) return { refresh_token: held.refresh_token, ...given };
  const refused = explain(undefined);
  if (!refused.failure.mayBeDone) return refused;
  const { kind, message, status } = refused.failure;
  return { ...refused, failure: new Failure(kind, message, { status, hint: maybeSpent }) };
}

/** A token that the service does not know any more counts as revoked (RFC 7009, section 2.2). */
export async function revoke(ports: Ports, limits: Limits, client: Client, token: string): Promise<void> {
  const oauth = await import('oauth4webapi');
  const { as, who, auth, options, answered, explain } = prepare(oauth, ports, limits, { client });
  await oauth.revocationRequest(as, who, auth, token, options);
  // With which success the endpoint answers is not described (service.md#oauth-8).
  const { answer } = answered();
  if (answer.status >= 200 && answer.status < 300) {
    if (isRevocation(answer)) return;
    throw new Failure('failed', `${client.authUrl} answered with something that no revocation is answered with.`, {
      status: answer.status,
      mayBeDone: true,
    });
  }
  const { code, failure } = explain(undefined);
  if (code !== 'invalid_grant' && code !== 'invalid_token') throw failure;
}

/** What the token endpoint grants; `scopes` may be fewer than were asked for. */
export type Grant = {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** ISO 8601, by this machine's clock. */
  readonly issued_at: string;
  readonly expires_at: string;
  readonly scopes: string[];
};

/** A good refresh token beside an access token that cannot be sent: with it a whole grant can be had. */
type RefreshOnly = { readonly refreshOnly: string };

/** Access tokens last one hour (service.md#oauth-5). */
const usualLifetime = 3600;
const longestLifetime = 366 * 24 * 3600;

/**
 * The grant in an answer, or undefined where it holds neither an access token that could be sent nor a refresh token. A refresh token works once:
 * when this answer comes, the old pair is gone, so a new one is kept however odd the rest of the answer is.
 */
function grantOf({ answer, sentAt }: Answered, asked: readonly string[]): Grant | RefreshOnly | undefined {
  if (answer.status < 200 || answer.status > 299) return undefined;
  const fields = objectIn(answer.body);
  const access_token = tokenIn(fields?.access_token);
  const refresh_token = tokenIn(fields?.refresh_token);
  if (!fields || !access_token) return refresh_token === undefined ? undefined : { refreshOnly: refresh_token };
  return {
    access_token,
    ...(refresh_token && { refresh_token }),
    issued_at: sentAt.toISOString(),
    expires_at: new Date(sentAt.getTime() + lifetimeIn(fields.expires_in) * 1000).toISOString(),
    scopes: scopesIn(fields.scope) ?? [...asked],
  };
}

function objectIn(body: string): Record<string, unknown> | undefined {
  const value = jsonIn(body.replace(/^\uFEFF/u, ''));
  return isRecord(value) ? value : undefined;
}

/** A token must fit into a header and into a form. */
const tokenIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\x21-\x7e]+$/u.test(value) ? value : undefined;

/** Without a sensible lifetime the document's counts. If the token ends sooner, a 401 will tell. */
function lifetimeIn(value: unknown): number {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, longestLifetime) : usualLifetime;
}

/** Undefined where the answer does not tell: then what was asked for was granted (RFC 6749, section 5.1). */
function scopesIn(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(/[\s,]+/u).filter(Boolean);
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string' && scope !== '') : undefined;
}
