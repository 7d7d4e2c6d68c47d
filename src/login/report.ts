import { type CredentialKind, scopes } from '../api/operation.ts';
import { nameOf, type Stored, secretName } from '../auth/credentials.ts';
import type { TokenStore } from '../context.ts';
import { capital } from '../text/capital.ts';

/** What `auth status --json` says of one credential. */
export type CredentialReport = {
  readonly kind: CredentialKind;
  readonly valid: boolean;
  /** It could not be read, so the service was not asked: the keyring is locked, or no longer holds it. */
  readonly unreadable?: true;
  /** Null where they cannot be known: an access token from the environment does not tell. */
  readonly scopes: readonly string[] | null;
  readonly missing_scopes: readonly string[] | null;
  readonly expires_at: string | null;
  readonly store: 'keyring' | 'file' | 'environment';
};

export type StatusReport = {
  readonly profile: string;
  readonly base_url: string | null;
  readonly account: { readonly id: number; readonly name: string } | null;
  readonly credentials: readonly CredentialReport[];
};

type Judged = Pick<CredentialReport, 'kind' | 'valid' | 'store' | 'unreadable'>;

export function reportOf({ kind, valid, store, unreadable }: Judged, login?: Stored<'oauth'>): CredentialReport {
  const how = { kind, valid, ...(unreadable && { unreadable }) };
  return { ...how, ...scopesOf(kind, login), expires_at: login?.expires_at ?? null, store };
}

function scopesOf(kind: CredentialKind, login: Stored<'oauth'> | undefined) {
  switch (kind) {
    case 'oauth':
      if (!login) return { scopes: null, missing_scopes: null };
      return { scopes: login.scopes, missing_scopes: missingScopes(login.scopes) };
    // It passes every scope check.
    case 'api_key':
      return { scopes, missing_scopes: [] };
    // It knows no scopes.
    case 'm2m':
      return { scopes: [], missing_scopes: [] };
  }
}

export const missingScopes = (granted: readonly string[]): string[] =>
  scopes.filter((scope) => !granted.includes(scope));

export const placeOf = (tokens: TokenStore, profile: string, kind: CredentialKind): Promise<'keyring' | 'file'> =>
  tokens.where(secretName(profile, kind));

/** Which credential serves what, given those beside it that work. */
export function servesWhat(
  { kind, missing_scopes: missing }: Pick<CredentialReport, 'kind' | 'missing_scopes'>,
  working: readonly CredentialKind[],
): string {
  switch (kind) {
    case 'api_key':
      return 'everything but webhook subscriptions and meetings';
    case 'oauth':
      if (missing === null)
        return working.includes('api_key')
          ? 'webhook subscriptions, where its scopes allow them; which it has is not known'
          : 'what its scopes and the modules of the account allow, and no meetings; which scopes it has is not known';
      if (working.includes('api_key')) {
        return missing.includes('webhooks:manage')
          ? 'nothing: webhook subscriptions were not granted'
          : 'webhook subscriptions';
      }
      return missing.length > 0 ? 'what was granted, and no meetings' : 'everything but meetings';
    case 'm2m':
      return 'meetings';
  }
}

export const titleOf = (kind: CredentialKind): string => capital(nameOf(kind));
