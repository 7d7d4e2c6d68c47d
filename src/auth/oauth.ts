import type { Context } from '../context.ts';
import {
  type Client,
  endpoints,
  type Limits,
  type Ports,
  prepare,
  type Refused,
  requireSecret,
} from './token-endpoint.ts';

/** What the token endpoint grants; `scopes` may be fewer than were asked for. */
export type Grant = {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** ISO 8601, by this machine's clock. */
  readonly issued_at: string;
  readonly expires_at: string;
  readonly scopes: string[];
};

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
  { redirectUri, scopes }: Pick<Attempt, 'redirectUri' | 'scopes'>,
): Promise<Attempt> {
  const oauth = await import('oauth4webapi');
  requireSecret(client.authUrl);
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

/** Turns the redirect's parameters into tokens. The code works once, so a lost answer cannot be repeated. */
export async function redeem(ports: Ports, limits: Limits, client: Client, attempt: Attempt, answer: URLSearchParams) {
  const oauth = await import('oauth4webapi');
  // RFC 9207's `iss` is no part of the service's redirect, and we know of no issuer name to compare it with.
  const params = new URLSearchParams(answer);
  params.delete('iss');
  const { as, who, auth, options, explain } = prepare(oauth, ports, limits, client);
  try {
    const checked = oauth.validateAuthResponse(as, who, params, attempt.state);
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      who,
      auth,
      checked,
      attempt.redirectUri,
      attempt.verifier,
      options,
    );
    const token = await oauth.processAuthorizationCodeResponse(as, who, response);
    return asGrant(token, attempt.scopes, ports.clock.now());
  } catch (error) {
    throw explain(error).failure;
  }
}

/** Exchanges the refresh token, which works once, for a new pair. A refusal is returned, not thrown. */
export async function exchangeRefreshToken(
  ports: Ports,
  limits: Limits,
  client: Client,
  held: { readonly refresh_token: string; readonly scopes: readonly string[] },
): Promise<Grant | Refused> {
  const oauth = await import('oauth4webapi');
  const { as, who, auth, options, explain } = prepare(oauth, ports, limits, client);
  try {
    const response = await oauth.refreshTokenGrantRequest(as, who, auth, held.refresh_token, options);
    const token = await oauth.processRefreshTokenResponse(as, who, response);
    // A service that does not rotate sends no new one; the old one then stays in use (RFC 6749, section 6).
    return { refresh_token: held.refresh_token, ...asGrant(token, held.scopes, ports.clock.now()) };
  } catch (error) {
    return explain(error);
  }
}

/** A token that the service does not know any more counts as revoked (RFC 7009, section 2.2). */
export async function revoke(ports: Ports, limits: Limits, client: Client, token: string): Promise<void> {
  const oauth = await import('oauth4webapi');
  const { as, who, auth, options, status, explain } = prepare(oauth, ports, limits, client);
  try {
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, who, auth, token, options));
  } catch (error) {
    // The document does not say with which success the endpoint answers; the library takes 200 alone.
    if (status() >= 200 && status() < 300) return;
    const { code, failure } = explain(error);
    if (code !== 'invalid_grant' && code !== 'invalid_token') throw failure;
  }
}

function asGrant(
  token: { access_token: string; refresh_token?: string; expires_in?: number; scope?: string },
  asked: readonly string[],
  now: Date,
): Grant {
  // Without a lifetime: the document's (one hour). Without a scope: what was asked for (RFC 6749, section 5.1).
  const lifetime = token.expires_in ?? 3600;
  return {
    access_token: token.access_token,
    ...(token.refresh_token && { refresh_token: token.refresh_token }),
    issued_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifetime * 1000).toISOString(),
    scopes: token.scope === undefined ? [...asked] : token.scope.split(/\s+/u).filter(Boolean),
  };
}
