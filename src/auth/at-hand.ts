import { type CredentialKind, credentialKinds, type Operation } from '../api/operation.ts';
import { credentialVariables } from '../config/credential-variables.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';
import { nearest } from '../text/near.ts';
import { heldByProfile, loginCommand, nameOf } from './credentials.ts';

export type AtHand = { readonly kind: CredentialKind; readonly from: 'environment' | 'profile' };

type Wanting = Pick<Operation, 'credentials'>;

/** The kinds of credential that the environment holds. */
export const environmentKinds = (env: Env): CredentialKind[] =>
  credentialKinds.filter((kind) => env[credentialVariables[kind]]);

/** For messages: `SVC_API_KEY and SVC_M2M_TOKEN`. */
export const variablesOf = (kinds: readonly CredentialKind[]): string =>
  kinds.map((kind) => credentialVariables[kind]).join(' and ');

/**
 * An API key and an OAuth token both speak for an account. Where the environment holds either, the profile's are left
 * alone: filling a gap from them could put two accounts into one run, and a CI job must not depend on who once logged
 * in there. The machine-to-machine token is apart: the one operation that takes it names its account itself.
 */
export const areRivals = (one: CredentialKind, other: CredentialKind): boolean =>
  speaksForAccount[one] === speaksForAccount[other];

const speaksForAccount: Readonly<Record<CredentialKind, boolean>> = { api_key: true, oauth: true, m2m: false };

/** What may be used, in the order in which it is chosen. Asks the store's index only, never the keyring. */
export async function credentialsAtHand(
  { env, tokens }: Pick<Context, 'env' | 'tokens'>,
  { profile }: Pick<Settings, 'profile'>,
): Promise<readonly AtHand[]> {
  const given = environmentKinds(env);
  const held = (await heldByProfile(tokens)).get(profile) ?? [];
  const left = held.filter((kind) => !given.some((other) => areRivals(kind, other)));
  const atHand: AtHand[] = [
    ...given.map((kind) => ({ kind, from: 'environment' }) as const),
    ...left.map((kind) => ({ kind, from: 'profile' }) as const),
  ];
  return atHand.sort((a, b) => credentialKinds.indexOf(a.kind) - credentialKinds.indexOf(b.kind));
}

/** Of those at hand, the one that the operation takes: an API key before an OAuth login. */
export const choose = (atHand: readonly AtHand[], { credentials }: Wanting): AtHand | undefined =>
  atHand.find(({ kind }) => credentials.includes(kind));

/** A profile that was named, and a credential in the environment that would take its place. */
export async function refuseTwoSources(
  ctx: Pick<Context, 'env' | 'tokens' | 'notice'>,
  settings: Settings,
): Promise<void> {
  const given = environmentKinds(ctx.env);
  if (!settings.profileNamed || given.length === 0) return;
  const saved = await heldByProfile(ctx.tokens);
  const known = new Set([...settings.profiles, ...saved.keys()]);
  // Where none is saved, as in CI, the name is all that there is of it.
  if (known.size > 0 && !known.has(settings.profile)) throw noSuchProfile(settings, given, [...saved.keys()]);
  // A variable stands for every run of a job, and so would the note.
  if (known.size === 0 && ctx.env.SVC_PROFILE !== settings.profile)
    tellOnce(ctx, `There is no profile ${settings.profile}; ${variablesOf(given)} is used.`);
  const held = saved.get(settings.profile) ?? [];
  const rivals = given.filter((kind) => held.some((other) => areRivals(kind, other)));
  if (rivals.length === 0) return;
  const variables = variablesOf(rivals);
  throw new Failure(
    'usage',
    `Profile ${settings.profile} was named and holds ${named(held).join(' and ')}, but ${variables} is set too; nothing was sent.`,
    { hint: `Unset ${variables} to use the profile, or leave out --profile (SVC_PROFILE) to use ${variables}.` },
  );
}

/** A run opens several sessions. */
const told = new WeakSet<Context['tokens']>();

function tellOnce({ tokens, notice }: Pick<Context, 'tokens' | 'notice'>, note: string): void {
  if (!told.has(tokens)) notice(note);
  told.add(tokens);
}

function noSuchProfile({ profile }: Settings, given: CredentialKind[], saved: readonly string[]): Failure {
  const near = nearest(profile, saved);
  const known = saved.length > 0 ? `Saved: ${[...saved].sort().join(', ')}.` : 'No login is saved.';
  return new Failure(
    'usage',
    `There is no profile ${profile}${near ? `; did you mean ${near}?` : '.'} Nothing was sent.`,
    { hint: `${known} Leave out --profile (SVC_PROFILE) to use ${variablesOf(given)}.` },
  );
}

export async function notLoggedIn(
  { env, tokens }: Pick<Context, 'env' | 'tokens'>,
  { profile, baseUrl }: Settings,
): Promise<Failure> {
  const saved = [...(await heldByProfile(tokens)).keys()].sort();
  const near = nearest(profile, saved);
  // Said at once: else the run after the login says that the address is not known either.
  const [url, address] = baseUrl === undefined ? ['URL', ', and SVC_BASE_URL'] : [];
  const login = `Run: ${loginCommand('oauth', profile, url)} (or with --with-api-key).`;
  const variable = 'SVC_API_KEY';
  // Nobody can log in there.
  const ways = env.CI
    ? [`Set ${variable} from a secret of this CI service${address ?? ''}.`]
    : [login, `In CI, set ${variable}${address ?? ''}.`];
  if (near) ways.unshift(`Saved: ${saved.join(', ')}.`);
  else if (!env.CI) ways.push(...othersSaved(saved));
  return new Failure('auth', `Profile ${profile} is not logged in${near ? `; did you mean ${near}?` : '.'}`, {
    hint: ways.join(' '),
  });
}

/** Of several nobody but the user knows which account is meant. */
function othersSaved([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  if (others.length === 0) return [`Another login is saved: add --profile ${first}`];
  return [`Other logins are saved: add --profile and one of ${[first, ...others].join(', ')}`];
}

/** The operation takes none of the credentials at hand. */
export function missing({ credentials }: Wanting, atHand: readonly AtHand[], { profile }: Settings): Failure {
  const [wanted = 'api_key'] = credentials;
  const login = loginCommand(wanted, profile);
  const inTheWay = atHand.filter(({ kind, from }) => from === 'environment' && areRivals(kind, wanted));
  const held = named(atHand.flatMap(({ kind, from }) => (from === 'profile' ? [kind] : [])));
  const has = [
    ...(held.length > 0 ? [`profile ${profile} holds ${held.join(' and ')}`] : []),
    ...atHand.filter(({ from }) => from !== 'profile').map(({ kind }) => `${credentialVariables[kind]} is set`),
  ];
  const message = `This takes ${article(credentials.map(nameOf).join(' or '))}${has.length > 0 ? `; ${has.join(' and ')}` : ''}.`;
  const hint =
    inTheWay.length > 0
      ? `Set ${credentialVariables[wanted]}; or unset ${variablesOf(inTheWay.map(({ kind }) => kind))} and run: ${login}`
      : `Run: ${login}`;
  return new Failure('auth', message, { hint });
}

const named = (kinds: readonly CredentialKind[]): string[] => kinds.map((kind) => article(nameOf(kind)));

const article = (noun: string): string => `${/^[AO]/u.test(noun) ? 'an' : 'a'} ${noun}`;
