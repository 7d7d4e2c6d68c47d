import { timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { scopes as knownScopes, type Scope } from '../../api/operation.ts';
import { hexDigestOf } from '../../text/digest.ts';

const Scopes = v.array(v.picklist(knownScopes));

/** A pre-registered client (service.md#oauth-1). */
export const ClientRow = v.object({
  client_id: v.string(),
  client_secret: v.string(),
  /** Shown on the consent page. */
  name: v.string(),
  /** Matched exactly; `https://*.example.com/callback` stands for every host one label below example.com. */
  redirect_uris: v.array(v.string()),
  /** The scopes that may ever be requested. */
  scopes: Scopes,
});
export type Client = Readonly<v.InferOutput<typeof ClientRow>>;

const expiring = { digest: v.string(), expires_at: v.string() };

/**
 * One consent: a client that was let into an account. Its code, its tokens and its webhook subscriptions belong to it
 * and end with it. Codes and tokens carry the connection's id, so that no index beside the connections is needed, and
 * only their digests are kept: neither the state file nor `GET state` can be used to call the service.
 */
export const ConnectionRow = v.object({
  /** For example `conn_1`. */
  id: v.string(),
  client_id: v.string(),
  account_id: v.number(),
  scopes: Scopes,
  created_at: v.string(),
  /** When the customer disconnected the app. */
  ended_at: v.nullable(v.string()),
  code: v.nullable(v.object({ ...expiring, redirect_uri: v.string(), code_challenge: v.string(), used: v.boolean() })),
  access_tokens: v.array(v.object({ ...expiring, scopes: Scopes })),
  refresh_token: v.nullable(v.object(expiring)),
});
export type Connection = Readonly<v.InferOutput<typeof ConnectionRow>>;

/** Where connections are kept. Rows are replaced, never changed in place, so that whoever keeps them sees each change. */
export type Connections = {
  find(id: string): Connection | undefined;
  all(): Iterable<Connection>;
  put(connection: Connection): void;
  /** Never gives a number twice. */
  nextNumber(): number;
};

export type OAuthState = { readonly clients: readonly Client[]; readonly connections: Connections };

/** What the OAuth endpoints need from outside their state. */
export type Moment = { readonly now: Date; readonly random: (bytes: number) => Uint8Array };

export type Consent = Pick<Connection, 'client_id' | 'account_id' | 'scopes'>;

/** Seconds (service.md#oauth-3, service.md#oauth-5). */
const lifetimes = { code: 600, access: 3600, refresh: 30 * 86_400 } as const;

/** The code that a client gets when a customer lets it into an account: 10 minutes, single-use. */
export function grantCode(
  connections: Connections,
  { redirect_uri, code_challenge, ...consent }: Consent & { redirect_uri: string; code_challenge: string },
  moment: Moment,
): string {
  const connection = connect(connections, consent, moment.now);
  const code = newSecret('ac', connection.id, moment);
  const kept = { ...keep(code, lifetimes.code, moment.now), redirect_uri, code_challenge, used: false };
  connections.put({ ...connection, code: kept });
  return code;
}

/** A pair without the browser, for the control call `POST tokens`: a connection of its own. */
export function mintTokens(
  connections: Connections,
  { expires_in, ...consent }: Consent & { readonly expires_in?: number },
  moment: Moment,
) {
  return issueTokens(connections, connect(connections, consent, moment.now), moment, { expires_in });
}

/** A new pair; the refresh token that the connection had stops working (refresh tokens rotate on every use). */
export function issueTokens(
  connections: Connections,
  connection: Connection,
  moment: Moment,
  options: { readonly scopes?: readonly Scope[]; readonly expires_in?: number } = {},
) {
  const { scopes = connection.scopes, expires_in = lifetimes.access } = options;
  const access = newSecret('at', connection.id, moment);
  const refresh = newSecret('rt', connection.id, moment);
  const live = connection.access_tokens.filter((token) => !isPast(token.expires_at, moment.now));
  connections.put({
    ...connection,
    access_tokens: [...live, { ...keep(access, expires_in, moment.now), scopes: [...scopes] }],
    refresh_token: keep(refresh, lifetimes.refresh, moment.now),
  });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in,
    refresh_token: refresh,
    scope: scopes.join(' '),
  };
}

function connect(connections: Connections, consent: Consent, now: Date): Connection {
  const connection: Connection = {
    id: `conn_${connections.nextNumber()}`,
    ...consent,
    created_at: now.toISOString(),
    ended_at: null,
    code: null,
    access_tokens: [],
    refresh_token: null,
  };
  connections.put(connection);
  return connection;
}

/** Whom a bearer token speaks for; undefined where it is unknown, expired or revoked. */
export function authenticate(connections: Connections, token: string, now: Date) {
  const connection = connectionOf(connections, 'at', token);
  const found = connection?.access_tokens.find((kept) => isKept(kept, token));
  if (!connection || !found || isPast(found.expires_at, now)) return undefined;
  return { connection_id: connection.id, account_id: connection.account_id, scopes: found.scopes };
}

/** The connection after all its codes and tokens were revoked. Its subscriptions go on until the customer disconnects. */
export const withoutTokens = (connection: Connection): Connection => ({
  ...connection,
  access_tokens: [],
  refresh_token: null,
  // An outstanding code would bring new tokens; a used one stays, so that its reuse is still told from an unknown one.
  code: connection.code && { ...connection.code, used: true },
});

/**
 * The customer disconnects the app in the account: afterwards every request with the tokens answers 401, and a
 * refresh or a code `invalid_grant`. Returns the ids of the connections that ended, whose subscriptions end too.
 */
export function disconnect(
  connections: Connections,
  app: { readonly client_id: string; readonly account_id: number },
  now: Date,
): string[] {
  const ended = [...connections.all()].filter(
    ({ client_id, account_id, ended_at }) =>
      client_id === app.client_id && account_id === app.account_id && ended_at === null,
  );
  for (const connection of ended) connections.put({ ...withoutTokens(connection), ended_at: now.toISOString() });
  return ended.map(({ id }) => id);
}

type SecretKind = 'at' | 'rt' | 'ac';

const secretPattern = /^svc_(at|rt|ac)_(\d{1,15})_[\w-]{43}$/u;

const newSecret = (kind: SecretKind, connectionId: string, { random }: Moment): string =>
  `svc_${kind}_${connectionId.slice('conn_'.length)}_${Buffer.from(random(32)).toString('base64url')}`;

/** The connection that a code or token names; `isKept` says whether it was ever given out. */
export function connectionOf(connections: Connections, kind: SecretKind, secret: string): Connection | undefined {
  const [, found, number] = secretPattern.exec(secret) ?? [];
  return found === kind ? connections.find(`conn_${number}`) : undefined;
}

type Kept = { readonly digest: string; readonly expires_at: string };

const keep = (secret: string, seconds: number, now: Date): Kept => ({
  digest: hexDigestOf(secret),
  expires_at: new Date(now.getTime() + seconds * 1000).toISOString(),
});

export const isPast = (time: string, now: Date): boolean => Date.parse(time) <= now.getTime();

export const isKept = (kept: Kept | null, secret: string): boolean =>
  kept !== null && timingSafeEqual(Buffer.from(kept.digest), Buffer.from(hexDigestOf(secret)));
