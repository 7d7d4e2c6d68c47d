import type { CredentialKind, Operation } from '../api/operation.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Environment, Settings } from '../settings.ts';
import { checkToken, credentialKinds, heldByProfile, loginCommand, nameOf, readStored } from './credentials.ts';
import { isLoopback, originOf } from './service-url.ts';

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
  /** What there is to choose from, and where it comes from. */
  readonly held: { readonly from: 'environment' | 'profile'; readonly kinds: readonly CredentialKind[] };
  /**
   * The credential that the service accepts for this operation: of an API key and an OAuth login the API key.
   * Throws an auth Failure with the command that gets a missing one.
   */
  bearer(operation: Pick<Operation, 'credentials'>): Promise<Bearer>;
  /** After a 401: a token that is not the refused one, or undefined where there is nothing to refresh. */
  renew(refused: Bearer): Promise<Bearer | undefined>;
};

export const credentialVariables = {
  api_key: 'SVC_API_KEY',
  oauth: 'SVC_ACCESS_TOKEN',
  m2m: 'SVC_M2M_TOKEN',
} as const satisfies Record<CredentialKind, string>;

type Needs = Pick<Context, 'env' | 'tokens' | 'exchange' | 'clock' | 'notice'>;

/** Judges what is at hand; sends nothing. A refresh happens only when a token that needs it is asked for. */
export async function openSession(ctx: Needs, settings: Settings): Promise<Session> {
  const { profile } = settings;
  const fromEnvironment = environmentKinds(ctx.env);
  if (fromEnvironment.length > 0) {
    if (settings.profileNamed) await refuseTwoSources(ctx, profile, fromEnvironment);
    return environmentSession(ctx, settings, fromEnvironment);
  }
  const profiles = await heldByProfile(ctx.tokens);
  const kinds = profiles.get(profile) ?? [];
  if (kinds.length === 0) throw notLoggedIn(settings, [...profiles.keys()]);
  return profileSession(ctx, settings, kinds);
}

/** The kinds of credential that the environment holds. */
export const environmentKinds = (env: Environment): CredentialKind[] =>
  credentialKinds.filter((kind) => env[credentialVariables[kind]]);

/** Of those at hand, the one that the operation takes; in the order API key, OAuth, machine-to-machine. */
export const choose = (
  held: readonly CredentialKind[],
  { credentials }: Pick<Operation, 'credentials'>,
): CredentialKind | undefined => credentialKinds.find((kind) => held.includes(kind) && credentials.includes(kind));

/**
 * The environment's credentials stand alone: filling a gap from the profile could put two accounts into one run,
 * and a CI job must not depend on who once logged in there.
 */
function environmentSession(ctx: Needs, settings: Settings, kinds: readonly CredentialKind[]): Session {
  const baseUrl = requireBaseUrl(ctx, settings);
  return {
    profile: settings.profile,
    baseUrl,
    held: { from: 'environment', kinds },
    async bearer(operation) {
      const kind = choose(kinds, operation);
      if (!kind) throw missing(operation, kinds, settings, 'environment');
      return { kind, token: checkToken(ctx.env[credentialVariables[kind]] ?? '', credentialVariables[kind]) };
    },
    renew: async () => undefined,
  };
}

function profileSession(ctx: Needs, settings: Settings, kinds: readonly CredentialKind[]): Session {
  const { profile } = settings;
  const baseUrl = requireBaseUrl(ctx, settings);
  const bearers = new Map<CredentialKind, Promise<Bearer>>();

  const load = async (kind: CredentialKind): Promise<Bearer> => {
    const stored = await readStored(ctx.tokens, profile, kind);
    // Another process has logged out since we looked.
    if (!stored) throw missing({ credentials: [kind] }, [], settings, 'profile');
    refuseOtherOrigin(stored.base_url, baseUrl, kind, profile);
    return { kind, token: 'token' in stored ? String(stored.token) : String(stored.access_token) };
  };

  return {
    profile,
    baseUrl,
    held: { from: 'profile', kinds },
    bearer(operation) {
      const kind = choose(kinds, operation);
      if (!kind) return Promise.reject(missing(operation, kinds, settings, 'profile'));
      const bearer = bearers.get(kind) ?? load(kind);
      bearers.set(kind, bearer);
      return bearer;
    },
    renew: async () => undefined,
  };
}

function requireBaseUrl(ctx: Needs, { baseUrl }: Settings): string {
  if (!baseUrl) {
    throw new Failure('usage', 'The address of the service is not known.', {
      hint: 'Give --base-url URL or set SVC_BASE_URL. To try svc without an account: svc sandbox start',
    });
  }
  const url = new URL(baseUrl);
  if (url.protocol === 'http:' && !isLoopback(baseUrl)) {
    ctx.notice(`Warning: ${url.origin} is not https://, so the credential crosses the network unencrypted.`);
  }
  return baseUrl;
}

async function refuseTwoSources(ctx: Needs, profile: string, kinds: readonly CredentialKind[]): Promise<void> {
  const held = (await heldByProfile(ctx.tokens)).get(profile);
  if (!held) return;
  const variables = kinds.map((kind) => credentialVariables[kind]).join(' and ');
  throw new Failure(
    'usage',
    `Profile ${profile} was named and holds ${listed(held)}, but ${variables} is set as well.`,
    {
      hint: `Unset ${variables} to use the profile, or leave out --profile (SVC_PROFILE) to use ${variables}.`,
    },
  );
}

function refuseOtherOrigin(storedFor: string, baseUrl: string, kind: CredentialKind, profile: string): void {
  if (originOf(storedFor) === originOf(baseUrl)) return;
  throw new Failure(
    'usage',
    `The ${nameOf(kind)} of profile ${profile} belongs to ${originOf(storedFor)}, not to ${originOf(baseUrl)}; nothing was sent.`,
    { hint: `Log in there under a profile of its own: ${loginCommand(kind, 'NAME', baseUrl)}` },
  );
}

function notLoggedIn({ profile, baseUrl }: Settings, others: readonly string[]): Failure {
  const login = loginCommand('oauth', profile, baseUrl ? undefined : 'URL');
  const elsewhere =
    others.length > 0 ? ` There is a login under ${others.join(', ')}: svc --profile ${others[0]} …` : '';
  return new Failure('auth', `Profile ${profile} is not logged in.`, {
    hint: `Run: ${login} (or: ${login} --with-api-key).${elsewhere} In CI, set SVC_API_KEY.`,
  });
}

function missing(
  { credentials }: Pick<Operation, 'credentials'>,
  held: readonly CredentialKind[],
  { profile }: Settings,
  from: 'environment' | 'profile',
): Failure {
  const [wanted = 'api_key'] = credentials;
  const needed = credentials.map(nameOf).join(' or ');
  const has =
    held.length > 0 ? `; ${from === 'profile' ? `profile ${profile}` : 'the environment'} holds ${listed(held)}` : '';
  const hint =
    from === 'profile'
      ? `Run: ${loginCommand(wanted, profile)}`
      : `Set ${credentialVariables[wanted]}, or unset ${held.map((kind) => credentialVariables[kind]).join(' and ')} and run: ${loginCommand(wanted, profile)}`;
  return new Failure('auth', `This takes ${article(needed)}${has}.`, { hint });
}

const listed = (kinds: readonly CredentialKind[]): string => kinds.map((kind) => article(nameOf(kind))).join(' and ');

const article = (noun: string): string => `${/^[AO]/u.test(noun) ? 'an' : 'a'} ${noun}`;
