import type { CredentialKind } from '../api/operation.ts';
import { forget, heldByProfile, readStored } from '../auth/credentials.ts';
import { revoke } from '../auth/oauth.ts';
import { clientOf } from '../auth/refresh.ts';
import { updateProfile } from '../config/config-file.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

type Ports = Pick<
  Context,
  'env' | 'files' | 'tokens' | 'exchange' | 'clock' | 'progress' | 'notice' | 'signal' | 'writes'
>;

/**
 * Revokes the OAuth login at the service, then forgets everything that the profile holds. Where the service cannot be
 * told, nothing is forgotten: a token that nobody knows of any more would live on for 30 days.
 */
export async function logout(
  ctx: Ports,
  settings: Settings,
  { localOnly }: { readonly localOnly: boolean },
): Promise<readonly CredentialKind[]> {
  const { profile } = settings;
  const kinds = (await heldByProfile(ctx.tokens)).get(profile) ?? [];
  if (kinds.includes('oauth') && !localOnly) await revokeLogin(ctx, settings);
  for (const kind of kinds) await forget(ctx.tokens, profile, kind, { localOnly });
  await forget(ctx.tokens, profile, 'client', { localOnly });
  if (kinds.length > 0) await updateProfile(ctx, profile, { account: undefined });
  return kinds;
}

async function revokeLogin(ctx: Ports, settings: Settings): Promise<void> {
  try {
    const login = await readStored(ctx.tokens, settings.profile, 'oauth');
    if (!login) return;
    const client = await clientOf(ctx.env, ctx.tokens, settings, login);
    // The refresh token first: once it is gone, no new access token can be made.
    for (const kind of ['refresh', 'access'] as const) {
      const token = login[`${kind}_token`];
      if (!token) continue;
      await revoke(ctx, settings, client, token);
      ctx.writes?.done.push({
        of: `The ${kind} token of profile ${settings.profile}`,
        done: 'revoked',
        lookHint: 'To see what is left: svc auth list',
        isRepeatable: true,
        ids: () => [],
      });
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const what = `The login of profile ${settings.profile}`;
    const fact = error.mayBeDone ? 'may or may not have been revoked' : 'was not revoked';
    throw new Failure(
      error.mayBeDone && error.kind === 'network' ? 'unknown' : error.kind,
      `${what} ${fact}, and is kept: ${error.message}`,
      {
        status: error.status,
        hint: 'Try again, or forget it on this machine alone: svc logout --local-only',
      },
    );
  }
}
