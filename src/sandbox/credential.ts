import type { CredentialKind, Scope } from '../api/operation.ts';
import { authenticate } from './oauth/state.ts';
import { oauthOf, type State } from './store/state.ts';

/** What everyone who starts a sandbox may know. */
export const known = {
  apiKeys: { key_acme: 1, key_globex: 2 },
  m2mToken: 'm2m_sandbox',
  clientId: 'sandbox_cli',
  clientSecret: 'sandbox_secret',
  redirectUri: 'http://127.0.0.1:8976/callback',
} as const;

const accountOfKey: ReadonlyMap<string, number> = new Map(Object.entries(known.apiKeys));

/** Whom a request speaks for. An API key passes every scope check, so it has no scopes to look at. */
export type Credential = {
  readonly kind: CredentialKind;
  /** What the rate limit counts by. */
  readonly token: string;
  readonly account?: number;
  readonly connection?: string;
  readonly scopes?: readonly Scope[];
};

/** The credential of an Authorization header; undefined where it is missing, malformed, unknown, expired or revoked. */
export function credentialOf(state: State, authorization: string | undefined, now: Date): Credential | undefined {
  const token = /^bearer +(\S+)$/iu.exec(authorization?.trim() ?? '')?.[1];
  if (token === undefined) return undefined;
  if (token === known.m2mToken) return { kind: 'm2m', token };
  const account = accountOfKey.get(token);
  if (account !== undefined && state.rows.accounts.has(account)) return { kind: 'api_key', token, account };
  const granted = authenticate(oauthOf(state).connections, token, now);
  if (!granted) return undefined;
  return {
    kind: 'oauth',
    token,
    account: granted.account_id,
    connection: granted.connection_id,
    scopes: granted.scopes,
  };
}
