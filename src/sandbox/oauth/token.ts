import { hash } from 'node:crypto';
import { orElse } from '../../errors.ts';
import { isSameSecret } from '../../text/digest.ts';
import { type OAuthAnswer, type OAuthRequest, type Parameters, parametersOf, readForm } from './http.ts';
import {
  type Client,
  connectionOf,
  isKept,
  isPast,
  issueTokens,
  type Moment,
  type OAuthState,
  withoutTokens,
} from './state.ts';

type Refusal = {
  readonly error: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'invalid_scope' | 'unsupported_grant_type';
  readonly description: string;
  readonly status?: number;
  readonly basic?: boolean;
};

/** `POST /oauth/platform/token`: a code or a refresh token for a pair of tokens (Authentication, Token endpoint). */
export function answerToken(state: OAuthState, request: OAuthRequest, moment: Moment): OAuthAnswer {
  const read = readClientRequest(state, request);
  if ('error' in read) return refuse(read);
  const { client, parameters } = read;
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) return missing('grant_type');
  if (grantType === 'authorization_code') return redeemCode(state, client, parameters, moment);
  if (grantType === 'refresh_token') return refresh(state, client, parameters, moment);
  return refuse({
    error: 'unsupported_grant_type',
    description: 'grant_type must be authorization_code or refresh_token.',
  });
}

function redeemCode({ connections }: OAuthState, client: Client, { get }: Parameters, moment: Moment): OAuthAnswer {
  const [code, verifier, redirectUri] = [get('code'), get('code_verifier'), get('redirect_uri')];
  if (code === undefined) return missing('code');
  if (redirectUri === undefined) return missing('redirect_uri');
  if (verifier === undefined) return missing('code_verifier');

  const connection = connectionOf(connections, 'ac', code);
  const issued = connection?.code ?? null;
  if (!connection || !issued || !isKept(issued, code)) return invalidGrant('The code is not known.');
  if (connection.client_id !== client.client_id) return invalidGrant('The code was given to another client.');
  if (connection.ended_at !== null) return invalidGrant('The customer has disconnected the app.');
  if (issued.used) {
    // The second client may be the real one, so the tokens of the first stop working (RFC 6749, 4.1.2).
    connections.put(withoutTokens(connection));
    return invalidGrant('The code was used before. The tokens that it gave are revoked.');
  }
  if (isPast(issued.expires_at, moment.now)) return invalidGrant('The code has expired.');
  // Whoever tries a code with the wrong proof may have stolen it, so it is used up (RFC 9700, 2.1.1).
  const burn = () => connections.put({ ...connection, code: { ...issued, used: true } });
  if (redirectUri !== issued.redirect_uri) {
    burn();
    return invalidGrant('redirect_uri is not the one of the authorization request.');
  }
  if (hash('sha256', verifier, 'base64url') !== issued.code_challenge) {
    burn();
    return invalidGrant('code_verifier does not match the code_challenge.');
  }
  if (!/^[\w.~-]{43,128}$/u.test(verifier)) {
    return refuse({
      error: 'invalid_request',
      description: 'code_verifier must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~',
    });
  }
  return json(200, issueTokens(connections, { ...connection, code: { ...issued, used: true } }, moment));
}

function refresh({ connections }: OAuthState, client: Client, { get }: Parameters, moment: Moment): OAuthAnswer {
  const token = get('refresh_token');
  if (token === undefined) return missing('refresh_token');

  const connection = connectionOf(connections, 'rt', token);
  if (!connection) return invalidGrant('The refresh token is not known.');
  if (connection.client_id !== client.client_id) return invalidGrant('The refresh token was given to another client.');
  if (connection.ended_at !== null) return invalidGrant('The customer has disconnected the app.');
  const issued = connection.refresh_token;
  if (!issued || !isKept(issued, token)) return invalidGrant('The refresh token was used before or revoked.');
  if (isPast(issued.expires_at, moment.now)) return invalidGrant('The refresh token has expired.');

  // Fewer scopes hold for this access token alone; the refresh token keeps what was granted (RFC 6749, 6).
  const asked = get('scope')?.split(' ').filter(Boolean);
  const more = asked?.filter((name) => !connection.scopes.some((granted) => granted === name)) ?? [];
  if (more.length > 0) {
    return refuse({
      error: 'invalid_scope',
      description: `A refresh cannot add scopes: ${printable(more.join(' '))}. Start a new authorization.`,
    });
  }
  const scopes = asked ? connection.scopes.filter((granted) => asked.includes(granted)) : connection.scopes;
  return json(200, issueTokens(connections, connection, moment, { scopes }));
}

/**
 * `POST /oauth/platform/revoke` (RFC 7009). An access token ends alone; a refresh token takes the connection's access
 * tokens with it. A token that is unknown, or was revoked before, gets 200 too.
 */
export function answerRevoke(state: OAuthState, request: OAuthRequest): OAuthAnswer {
  const read = readClientRequest(state, request);
  if ('error' in read) return refuse(read);
  const token = read.parameters.get('token');
  if (token === undefined) return missing('token');

  const { connections } = state;
  const connection = connectionOf(connections, 'at', token) ?? connectionOf(connections, 'rt', token);
  const access = connection?.access_tokens.find((kept) => isKept(kept, token));
  const isRefresh = connection !== undefined && isKept(connection.refresh_token, token);
  if (!connection || (!access && !isRefresh)) return json(200, {});
  if (connection.client_id !== read.client.client_id) return invalidGrant('The token was given to another client.');
  connections.put(
    isRefresh
      ? withoutTokens(connection)
      : { ...connection, access_tokens: connection.access_tokens.filter((kept) => kept !== access) },
  );
  return json(200, {});
}

/** The form and the client that sent it, by HTTP Basic or by client_id and client_secret in the body. */
function readClientRequest(
  state: OAuthState,
  request: OAuthRequest,
): { readonly client: Client; readonly parameters: Parameters } | Refusal {
  const read = readForm(request);
  if (!read.ok) return { error: 'invalid_request', description: read.problem, status: read.status };
  const parameters = parametersOf(read.form);
  if (parameters.repeated.length > 0) {
    return invalidRequest(`A parameter may come only once: ${printable(parameters.repeated.join(', '))}.`);
  }

  const header = request.headers.authorization;
  const [bodyId, bodySecret] = [parameters.get('client_id'), parameters.get('client_secret')];
  if (header !== undefined && bodySecret !== undefined) {
    return invalidRequest('Authenticate by HTTP Basic or by client_secret in the body, not both.');
  }
  const basic = header === undefined ? undefined : readBasic(header);
  const given = basic ?? { id: bodyId, secret: bodySecret };
  if (header !== undefined && !basic)
    return invalidClient('The Authorization header is not valid HTTP Basic.', { basic: true });
  if (given.id === undefined || given.secret === undefined) {
    return invalidClient('Authenticate by HTTP Basic or by client_id and client_secret.', { basic: true });
  }
  if (basic && bodyId !== undefined && bodyId !== basic.id) {
    return invalidRequest('client_id differs from the one in the Authorization header.');
  }
  const client = state.clients.find(({ client_id }) => client_id === given.id);
  // Compared for an unknown client too, so that the time taken does not tell which clients exist.
  const matches = isSameSecret(client?.client_secret ?? '', given.secret);
  if (!client || !matches)
    return invalidClient('The client is not known or its secret is wrong.', { basic: basic !== undefined });
  return { client, parameters };
}

/** Both halves are form-encoded before they are joined (RFC 6749, 2.3.1). */
function readBasic(header: string): { readonly id: string; readonly secret: string } | undefined {
  const encoded = /^basic +([a-z\d+/]+=*) *$/iu.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/su.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  // A stray % is no form encoding.
  return orElse(() => ({ id: decode(id), secret: decode(secret) }), undefined);
}

const invalidRequest = (description: string): Refusal => ({ error: 'invalid_request', description });
const missing = (name: string): OAuthAnswer => refuse(invalidRequest(`${name} is missing.`));
const invalidGrant = (description: string): OAuthAnswer => refuse({ error: 'invalid_grant', description });
const invalidClient = (description: string, { basic }: { readonly basic: boolean }): Refusal => ({
  error: 'invalid_client',
  description,
  status: 401,
  basic,
});

/** error_description may hold printable ASCII but for the quotation mark and the backslash (RFC 6749, 5.2). */
const printable = (text: string): string => text.replaceAll(/[^ !#-[\]-~]/gu, '?').slice(0, 200);

/** RFC 6749, 5.2: 400, but 401 for a client that could not be authenticated. */
const refuse = ({ error, description, status = 400, basic }: Refusal): OAuthAnswer =>
  json(status, { error, error_description: description }, basic ? { 'www-authenticate': 'Basic realm="svc"' } : {});

export function json(status: number, body: object, more: OAuthAnswer['headers'] = {}): OAuthAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache', ...more },
    body: JSON.stringify(body),
  };
}
