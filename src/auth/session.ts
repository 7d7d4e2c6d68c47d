import type { CredentialKind, Operation } from '../api/operation.ts';
import { credentialVariables } from '../config/credential-variables.ts';
import { noAddress, originOf, requireHttps } from '../config/service-url.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { oneByOne } from '../promise/one-by-one.ts';
import {
  type AtHand,
  choose,
  credentialsAtHand,
  environmentKinds,
  missing,
  notLoggedIn,
  refuseTwoSources,
} from './at-hand.ts';
import { begin, boundOf, loginIdOf, requireChosen, requireSameAccount } from './bound.ts';
import { checkToken, endsSoon, loginCommand, nameOf, newProfile, readStored, type Stored } from './credentials.ts';

/** A token that goes into `Authorization: Bearer`. */
export type Bearer = {
  readonly kind: CredentialKind;
  readonly token: string;
};

/** Who we are at which service, for the length of one command. */
export type Session = {
  readonly profile: string;
  /** Without a trailing slash; may have a path prefix, which is kept. */
  readonly baseUrl: string;
  /** With a credential from the environment nothing is stored. */
  readonly from: 'environment' | 'profile';
  /**
   * The credential that the service accepts for this operation: of an API key and an OAuth login the API key.
   * Throws an auth Failure with the command that gets a missing one.
   */
  bearer(operation: Pick<Operation, 'credentials'>): Promise<Bearer>;
  /** Which login the bearer is of, through all its refreshes; undefined for a token that stays as it is. */
  loginId?(bearer: Bearer): string | undefined;
  /** The account, as far as the store or the service has told it. */
  account?(): number | undefined;
  /** The service has said whose the credential is. */
  learn?(accountId: number): void;
  /** After a 401: a token that is not the refused one, or undefined where there is nothing to refresh. */
  renew(refused: Bearer): Promise<Bearer | undefined>;
};

type Needs = Pick<Context, 'env' | 'tokens' | 'exchange' | 'clock' | 'notice' | 'progress' | 'signal'>;

/**
 * Judges what is at hand; sends nothing. A refresh happens only when a token that needs it is asked for. With a
 * credential in the environment the store is not looked at until an operation takes another one.
 */
export async function openSession(ctx: Needs, settings: Settings): Promise<Session> {
  const given = environmentKinds(ctx.env);
  await refuseTwoSources(ctx, settings);
  let atHand: readonly AtHand[] = given.map((kind) => ({ kind, from: 'environment' }));
  if (given.length === 0) {
    atHand = await credentialsAtHand(ctx, settings);
    if (atHand.length === 0) throw await notLoggedIn(ctx, settings);
  }
  const baseUrl = requireBaseUrl(settings);
  const profile = profileBearers(ctx, settings, baseUrl);
  // Not with the first request: a server may stand idle for hours before it.
  if (given.length === 0) {
    const bound = boundOf(ctx, settings.profile);
    await begin(ctx, settings.profile, bound);
    await requireChosen(ctx, { baseUrl, profile: settings.profile, timeoutMs: settings.timeoutMs }, bound);
  }

  const from = given.some((kind) => kind !== 'm2m') ? 'environment' : 'profile';

  return {
    profile: settings.profile,
    baseUrl,
    from,
    async bearer(operation) {
      if (!choose(atHand, operation) && given.length > 0) atHand = await credentialsAtHand(ctx, settings);
      const chosen = choose(atHand, operation);
      if (!chosen) throw missing(operation, atHand, settings);
      const { kind, from } = chosen;
      if (from === 'profile') return await profile.bearer(kind);
      return { kind, token: checkToken(ctx.env[credentialVariables[kind]] ?? '', credentialVariables[kind]) };
    },
    loginId: ({ kind }) => (kind === 'oauth' && from === 'profile' ? profile.loginId() : undefined),
    account: () => (from === 'profile' ? profile.account() : undefined),
    learn: (accountId) => (from === 'profile' ? profile.learn(accountId) : undefined),
    async renew({ kind, token }) {
      // A token from the environment came without a refresh token.
      return kind === 'oauth' && !given.includes('oauth') ? await profile.renew(token) : undefined;
    },
  };
}

/** The session with credentials of that kind alone, also where another one goes before it. */
export const onlyWith = (session: Session, kind: CredentialKind): Session => ({
  ...session,
  bearer: () => session.bearer({ credentials: [kind] }),
});

/** For a credential that is not kept yet: a login looks whether it works first. */
export const sessionWith = (bearer: Bearer, { profile }: Pick<Settings, 'profile'>, baseUrl: string): Session => ({
  profile,
  baseUrl,
  from: 'profile',
  bearer: async () => bearer,
  renew: async () => undefined,
});

/**
 * What the profile keeps, read once each in a process, and all of one account; an OAuth token is renewed before it
 * ends. Somebody may log the profile in to another account meanwhile: that ends what is at work here.
 */
function profileBearers(ctx: Needs, settings: Settings, baseUrl: string) {
  const { profile } = settings;
  const bound = boundOf(ctx, profile);
  const requireOurs = (now: Parameters<typeof requireSameAccount>[3]) =>
    requireSameAccount(ctx, { baseUrl, profile, timeoutMs: settings.timeoutMs }, bound, now);

  const loadFixed = async (kind: 'api_key' | 'm2m'): Promise<Bearer> => {
    await begin(ctx, profile, bound);
    const stored = bound.fixed.get(kind) ?? (await readStored(ctx.tokens, profile, kind));
    // Another process may have logged out since we looked.
    if (!stored) throw missing({ credentials: [kind] }, [], settings);
    refuseOtherOrigin(stored.base_url, baseUrl, kind, profile);
    // The one operation that takes the machine-to-machine token names its account itself.
    if (kind === 'api_key' && !bound.fixed.has(kind)) await requireOurs(stored);
    bound.fixed.set(kind, stored);
    return { kind, token: stored.token };
  };

  const firstLogin = async (): Promise<Stored<'oauth'> | undefined> => {
    await begin(ctx, profile, bound);
    const login = bound.login ?? (await readStored(ctx.tokens, profile, 'oauth'));
    if (!login) return undefined;
    refuseOtherOrigin(login.base_url, baseUrl, 'oauth', profile);
    if (!bound.login) await requireOurs({ token: login.access_token, ...login });
    bound.login = login;
    return login;
  };

  const currentLogin = async (refused?: string): Promise<Bearer | undefined> => {
    let login = await firstLogin();
    while (login && (login.access_token === refused || endsSoon(login, ctx.clock.now()))) {
      const { liveLogin } = await import('./refresh.ts');
      const only = loginIdOf(login);
      login = await liveLogin(ctx, settings, { refused, only });
      if (!login) break;
      refuseOtherOrigin(login.base_url, baseUrl, 'oauth', profile);
      const isSame = loginIdOf(login) === only;
      if (!isSame) await requireOurs({ token: login.access_token, ...login });
      bound.login = login;
      if (isSame) break;
    }
    return login && login.access_token !== refused ? { kind: 'oauth', token: login.access_token } : undefined;
  };
  // Of many calls in flight, the first refreshes and the rest find it done.
  const inTurn = oneByOne();
  const loadLogin = (refused?: string) => inTurn(() => currentLogin(refused));

  return {
    async bearer(kind: CredentialKind): Promise<Bearer> {
      if (kind !== 'oauth') return await loadFixed(kind);
      const bearer = await loadLogin();
      if (!bearer) throw missing({ credentials: ['oauth'] }, [], settings);
      return bearer;
    },
    renew: (refused: string) => loadLogin(refused),
    loginId: () => bound.login && loginIdOf(bound.login),
    account: () => bound.account,
    learn: (accountId: number) => {
      bound.account ??= accountId;
    },
  };
}

function requireBaseUrl(settings: Settings): string {
  const { baseUrl } = settings;
  if (!baseUrl) throw noAddress();
  requireHttps(baseUrl, 'The base URL', settings);
  return baseUrl;
}

export function refuseOtherOrigin(storedFor: string, baseUrl: string, kind: CredentialKind, profile: string): void {
  if (originOf(storedFor) === originOf(baseUrl)) return;
  throw new Failure(
    'usage',
    `The ${nameOf(kind)} of profile ${profile} belongs to ${originOf(storedFor)}, not to ${originOf(baseUrl)}; nothing was sent.`,
    { hint: `Log in there under a separate profile: ${loginCommand(kind, newProfile(baseUrl), baseUrl)}` },
  );
}
