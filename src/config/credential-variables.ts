import type { CredentialKind } from '../api/operation.ts';
import type { Env } from '../env.ts';

/** The variable of the environment for each kind of credential. */
export const credentialVariables = {
  api_key: 'SVC_API_KEY',
  oauth: 'SVC_ACCESS_TOKEN',
  m2m: 'SVC_M2M_TOKEN',
} as const satisfies Record<CredentialKind, string>;

/** Names of variables. */
export const credentialNames: readonly string[] = Object.values(credentialVariables);

export const holdsCredential = (env: Env): boolean => credentialNames.some((name) => Boolean(env[name]));
