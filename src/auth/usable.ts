import type { CredentialKind, Operation } from '../api/operation.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { choose, credentialsAtHand } from './at-hand.ts';
import { readStored } from './credentials.ts';

type Judge = (operation: Pick<Operation, 'credentials' | 'scope'>) => boolean;

/**
 * Whether the credentials at hand may do an operation, as far as svc knows without asking: the scopes of a token from the
 * environment are not known, those of a login are.
 */
export async function usableBy(ctx: Pick<Context, 'env' | 'tokens'>, settings: Settings): Promise<Judge> {
  const atHand = await credentialsAtHand(ctx, settings);
  const isStored = (kind: CredentialKind) => atHand.some((each) => each.kind === kind && each.from === 'profile');
  const login = isStored('oauth') ? await readStored(ctx.tokens, settings.profile, 'oauth') : undefined;
  return (operation) => {
    const chosen = choose(atHand, operation);
    if (!chosen) return false;
    const isKnown = chosen.kind === 'oauth' && chosen.from === 'profile' && login && operation.scope;
    return !isKnown || login.scopes.includes(operation.scope ?? '');
  };
}
