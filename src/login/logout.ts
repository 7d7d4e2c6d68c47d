import type { CredentialKind } from '../api/operation.ts';
import { forget, heldByProfile, parseStored, type Stored, secretName } from '../auth/credentials.ts';
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
    const login = localOnly ? undefined : parseStored(text, profile, 'oauth');
    if (login) await revokeLogin(ctx, settings, login);
    isRevoked = true;
    mayLiveOn = login !== undefined && (wasCut || login.unanswered === true);
    await forgetRest();
    return undefined;
  };
  await ctx.tokens
    .update(secretName(profile, 'oauth'), end, localOnly ? 'file' : 'as-is', patience)
    .catch((error: unknown) => {
      throw error instanceof Failure && !localOnly && !isRevoked
        ? kept(error, `The login of profile ${profile}`)
        : error;
    });
  return { forgotten, mayLiveOn };
}

async function revokeLogin(ctx: Ports, settings: Settings, login: Stored<'oauth'>): Promise<void> {
  const client = await clientOf(ctx.env, ctx.tokens, settings, login);
  // The refresh token first: once it is gone, no new access token can be made.
  for (const kind of ['refresh', 'access'] as const) {
    const token = login[`${kind}_token`];
    if (!token) continue;
    const what = `The ${kind} token of profile ${settings.profile}`;
    await revoke(ctx, settings, client, token).catch((error: unknown) => {
      throw error instanceof Failure && kind === 'access' && login.refresh_token ? kept(error, what) : error;
    });
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
function kept(error: Failure, what: string): Failure {
  if (error instanceof Kept) return error;
  const fact = error.mayBeDone ? 'may or may not have been revoked' : 'was not revoked';
  return new Kept(
    error.mayBeDone && error.kind === 'network' ? 'unknown' : error.kind,
    `${what} ${fact}, and is kept: ${error.message}`,
    {
      status: error.status,
      mayBeDone: error.mayBeDone,
      hint: 'Try again, or forget it on this machine alone: svc logout --local-only',
    },
  );
}

/** Says already what is kept. */
class Kept extends Failure {}
