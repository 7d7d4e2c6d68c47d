import type { CredentialKind, Scope } from '../api/operation.ts';
import { authenticate } from './oauth/state.ts';
import { oauthOf } from './store/state.ts';
import type { World } from './world.ts';

/** Whom a request speaks for. An API key passes every scope check, so it has no scopes to look at. */
export type Credential = {
  readonly kind: CredentialKind;
  /** What the rate limit counts by. */
  readonly token: string;
  readonly account?: number;
  readonly connection?: string;
  readonly scopes?: readonly Scope[];
};

export const bearerIn = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+)$/iu.exec(authorization?.trim() ?? '')?.[1];

/** The credential of an Authorization header; undefined where it is missing, malformed, unknown, expired or revoked. */
export function credentialOf(
  { state, keyMeant }: Pick<World, 'state' | 'keyMeant'>,
  authorization: string | undefined,
  now: Date,
): Credential | undefined {
  const token = bearerIn(authorization);
  if (token === undefined) return undefined;
  const key = keyMeant(token);
  if (key?.kind === 'm2m') return { kind: 'm2m', token };
  if (key && state.rows.accounts.has(key.account)) return { kind: 'api_key', token, account: key.account };
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
