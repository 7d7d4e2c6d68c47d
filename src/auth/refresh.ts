import { originOf } from '../config/service-url.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';
import { loginIdOf } from './bound.ts';
import {
  endsSoon,
  isSameClient,
  loginCommand,
  parseStored,
  readStored,
  type Stored,
  secretName,
} from './credentials.ts';
import { exchangeRefreshToken } from './oauth.ts';
import { type Client, maybeSpent, refuseInterrupted } from './token-endpoint.ts';

type Ports = Pick<Context, 'env' | 'tokens' | 'exchange' | 'clock' | 'progress' | 'notice' | 'signal'>;
type Login = Stored<'oauth'>;
type Change = Parameters<Context['tokens']['update']>[1];

type Wish = {
  readonly refused?: string;
  readonly force?: boolean;
  /** The login that is meant (`loginIdOf`): another one is handed on as it is, for the caller to judge. */
  readonly only?: string;
};

/**
 * The profile's OAuth login with an access token that still works and is not `refused`; undefined where the profile
 * holds none, or none that could be renewed.
 *
 * Refresh tokens work once, so across all processes exactly one exchange happens: under the lock of this credential
 * everyone first looks whether another has done it. The store makes the new pair durable before it hands it on.
 */
export async function liveLogin(
  ctx: Ports,
  settings: Settings,
  { refused, force = false, only }: Wish = {},
): Promise<Login | undefined> {
  const { profile } = settings;
  const held = await readStored(ctx.tokens, profile, 'oauth');
  const isAnother = (login: Login) => only !== undefined && loginIdOf(login) !== only;
  const isLive = (login: Login) =>
    isAnother(login) || (login.access_token !== refused && !endsSoon(login, ctx.clock.now()));
  if (!held || (isLive(held) && !force)) return held;
  const stale = force ? held.access_token : refused;

  let failed: Failure | undefined;
  let isSpent = false;
  const refresh: Change = async (text, ready, wasCut) => {
    const saved = parseStored(text, profile, 'oauth');
    if (!saved) return undefined;
    const current = wasCut ? { ...saved, unanswered: true } : saved;
    const asItIs = wasCut ? JSON.stringify(current) : text;
    if (isAnother(current) || (current.access_token !== stale && !endsSoon(current, ctx.clock.now()))) return asItIs;
    if (!current.refresh_token) {
      if (!hasEnded(current, ctx.clock.now()) && !refused) return asItIs;
      throw loginEnded(profile, '(it came without a refresh token)');
    }
    const client = await clientOf(ctx.env, ctx.tokens, settings, current);
    const { refresh_token, scopes } = current;
    const login_id = loginIdOf(current);
    const answer = await exchangeRefreshToken(ctx, settings, client, { refresh_token, scopes, ready });
    isSpent = 'refreshOnly' in answer || !('failure' in answer);
    if ('refreshOnly' in answer) {
      // The old pair is gone at the service, so the new refresh token is kept for the next need.
      const kept = { ...current, login_id, unanswered: undefined, refresh_token: answer.refreshOnly };
      if (!refused && !force && !hasEnded(current, ctx.clock.now())) return JSON.stringify(kept);
      failed = withoutAccess(originOf(current.auth_url));
      return JSON.stringify({ ...kept, expires_at: current.issued_at });
    }
    if (!('failure' in answer)) return JSON.stringify({ ...current, login_id, unanswered: undefined, ...answer });
    // Only this one says that the login is over. A time-out, a 500 or a wrong client secret never forgets it.
    if (answer.code === 'invalid_grant') {
      failed = loginEnded(profile, answer.said ?? '', {
        status: answer.failure.status,
        unanswered: current.unanswered,
      });
      return undefined;
    }
    const isUnanswered = answer.failure.hint === maybeSpent;
    const kept = isUnanswered ? JSON.stringify({ ...current, unanswered: true }) : asItIs;
    // Where it was an early refresh, and failed, the token that we have still works for a while.
    if (refused || force || hasEnded(current, ctx.clock.now()))
      failed = force ? whereRefreshWasAsked(answer.failure) : answer.failure;
    return kept;
  };
  const { progress, notice, signal } = ctx;
  const patience = { progress, notice, signal, maxWaitMs: settings.maxWaitMs };
  refuseInterrupted(ctx);
  const kept = await ctx.tokens
    .update(secretName(profile, 'oauth'), refresh, 'as-is', patience)
    .catch((error: unknown) => {
      throw isSpent && error instanceof Failure ? notSaved(profile, error) : error;
    });
  if (failed) throw failed;
  refuseInterrupted(ctx);
  return parseStored(kept, profile, 'oauth');
}

const hasEnded = ({ expires_at }: Login, now: Date): boolean => !(now.getTime() < Date.parse(expires_at));

/** The client that the login was given to. Its secret only goes to the service that it was saved for. */
export async function clientOf(
  env: Env,
  tokens: Context['tokens'],
  { profile, authUrl, authUrlNamed }: Pick<Settings, 'profile' | 'authUrl' | 'authUrlNamed'>,
  login: Login,
): Promise<Client> {
  if (authUrlNamed && authUrl && originOf(authUrl) !== originOf(login.auth_url)) {
    throw new Failure(
      'usage',
      `The login of profile ${profile} belongs to ${originOf(login.auth_url)}, not to ${originOf(authUrl)}; nothing was sent.`,
      { hint: 'Leave out --auth-url (SVC_AUTH_URL), or log in there under a separate profile.' },
    );
  }
  const identity = { authUrl: login.auth_url, clientId: login.client_id };
  const stored = await readStored(tokens, profile, 'client');
  if (stored && isSameClient(stored, login.auth_url, login.client_id)) {
    return { ...identity, clientSecret: stored.client_secret };
  }
  if (env.SVC_CLIENT_SECRET && env.SVC_CLIENT_ID === login.client_id) {
    return { ...identity, clientSecret: env.SVC_CLIENT_SECRET };
  }
  throw new Failure('auth', `svc no longer has the secret of the client ${login.client_id}.`, {
    hint: `Set SVC_CLIENT_ID and SVC_CLIENT_SECRET, or run: ${loginCommand('oauth', profile)}`,
  });
}

/** The exchange is the whole command then, and another exit code would say that nothing happened. */
const whereRefreshWasAsked = (failure: Failure): Failure =>
  failure.hint === maybeSpent
    ? new Failure('unknown', failure.message, { hint: maybeSpent, status: failure.status, cause: failure })
    : failure;

/** The old tokens are spent, and the new ones have found no place. */
const notSaved = (profile: string, cause: Failure): Failure =>
  new Failure(
    cause.kind,
    `${cause.message} The service had given new tokens already: the login of profile ${profile} has probably ended.`,
    {
      hint: [cause.hint, `Then log in again: ${loginCommand('oauth', profile)}`].filter(Boolean).join('\n'),
      cause,
    },
  );

const withoutAccess = (origin: string): Failure =>
  new Failure('failed', `${origin} answered with an access token that svc cannot use.`, {
    hint: 'The login is kept, with the new refresh token. Try again.',
  });

const loginEnded = (
  profile: string,
  why: string,
  { status, unanswered }: { readonly status?: number; readonly unanswered?: boolean } = {},
): Failure =>
  new Failure('auth', `The login of profile ${profile} has ended ${why}.${unanswered ? ` ${mayLiveOn}` : ''}`, {
    status,
    hint: `Log in again with: ${loginCommand('oauth', profile)}`,
  });

/** Of a login whose refresh was not answered. */
export const mayLiveOn =
  'A refresh of it was never answered, so tokens that svc does not have may be good for up to 30 days. To end them now, disconnect the app in the account.';
