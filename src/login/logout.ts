import type { CredentialKind } from '../api/operation.ts';
import { forget, heldByProfile, parseStored, type Stored, secretName } from '../auth/credentials.ts';
import { revoke } from '../auth/oauth.ts';
import { clientOf } from '../auth/refresh.ts';
import { updateProfile } from '../config/config-file.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, type FailureKind, isInterruption } from '../errors.ts';

type Ports = Pick<
  Context,
  'env' | 'files' | 'tokens' | 'exchange' | 'clock' | 'progress' | 'notice' | 'signal' | 'writes'
>;

export type LoggedOut = {
  readonly forgotten: readonly CredentialKind[];
  /** What svc had is revoked, but the service may have given tokens that svc never had. */
  readonly mayLiveOn: boolean;
};

/**
 * Revokes the OAuth login at the service, then forgets everything that the profile holds. Where the service cannot be
 * told, nothing is forgotten: a token that nobody knows of any more would live on for 30 days.
 *
 * All of it is one step under the lock of the login: a refresh that is on its way is waited for, and its tokens are those that
 * are revoked; a login that comes meanwhile is saved after it, and stays.
 */
export async function logout(
  ctx: Ports,
  settings: Settings,
  { localOnly }: { readonly localOnly: boolean },
): Promise<LoggedOut> {
  const { profile } = settings;
  const forgotten = (await heldByProfile(ctx.tokens)).get(profile) ?? [];
  let [isRevoked, mayLiveOn] = [false, false];
  let wasThere = true;
  const revoking: Revoking = { what: `The login of profile ${profile}` };
  const forgetRest = async () => {
    for (const kind of [...forgotten, 'client' as const])
      if (kind !== 'oauth') await forget(ctx.tokens, profile, kind, { localOnly });
    if (forgotten.length > 0) await updateProfile(ctx, profile, { account: undefined });
  };
  if (!forgotten.includes('oauth')) {
    await forgetRest();
    return { forgotten, mayLiveOn };
  }
  const { progress, notice, signal } = ctx;
  const patience = { progress, notice, signal, maxWaitMs: settings.maxWaitMs };
  const end = async (text: string | undefined, _: unknown, wasCut: boolean) => {
    // Another logout, or a refresh that was refused, may have been first. A locked keyring shows nothing of what it holds.
    wasThere = localOnly || text !== undefined;
    const login = localOnly ? undefined : parseStored(text, profile, 'oauth');
    if (login) await revokeLogin(ctx, settings, login, revoking);
    isRevoked = true;
    mayLiveOn = login !== undefined && (wasCut || login.unanswered === true);
    await forgetRest();
    return undefined;
  };
  await ctx.tokens
    .update(secretName(profile, 'oauth'), end, localOnly ? 'file' : 'as-is', patience)
    .catch((error: unknown) => {
      throw error instanceof Failure && !localOnly && !isRevoked ? kept(error, revoking) : error;
    });
  return { forgotten: forgotten.filter((kind) => wasThere || kind !== 'oauth'), mayLiveOn };
}

/** What is not revoked yet, in words. */
type Revoking = { what: string };

async function revokeLogin(ctx: Ports, settings: Settings, login: Stored<'oauth'>, revoking: Revoking): Promise<void> {
  const client = await clientOf(ctx.env, ctx.tokens, settings, login);
  // The refresh token first: once it is gone, no new access token can be made.
  for (const kind of ['refresh', 'access'] as const) {
    const token = login[`${kind}_token`];
    if (!token) continue;
    const what = `The ${kind} token of profile ${settings.profile}`;
    if (kind === 'access' && login.refresh_token) revoking.what = what;
    await revoke(ctx, settings, client, token);
    ctx.writes?.done.push({
      of: what,
      done: 'revoked',
      lookHint: 'To see what is left: svc auth list',
      isRepeatable: true,
      ids: () => [],
    });
  }
}

/** What was not revoked, or perhaps not. */
function kept(error: Failure, { what }: Revoking): Failure {
  const fact = error.mayBeDone ? 'may or may not have been revoked' : 'was not revoked';
  return new Failure(kindOf(error), `${what} ${fact}, and is kept: ${error.message}`, {
    status: error.status,
    mayBeDone: error.mayBeDone,
    hint: 'Try again, or forget it on this machine alone: svc logout --local-only',
  });
}

function kindOf(error: Failure): FailureKind {
  if (error.mayBeDone && !isInterruption(error)) return 'unknown';
  // A keyring that is locked is no login that has ended.
  return error.isUnread ? 'failed' : error.kind;
}
