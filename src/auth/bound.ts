import type { CredentialKind } from '../api/operation.ts';
import type { Context, TokenStore } from '../context.ts';
import { accountVariable } from '../env.ts';
import { Failure } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';
import { jsonIn } from '../text/json.ts';
import { fieldsIn, isId } from '../text/record.ts';
import { heldByProfile, loginCommand, readStored, type Stored } from './credentials.ts';

/** What this process has begun with, of one profile. Whatever the store holds later, it acts in no other account. */
export type Bound = {
  readonly fixed: Map<CredentialKind, Stored<'api_key'>>;
  /** Also one that has ended: what comes after it must be of its account. */
  login?: Stored<'oauth'>;
  /** The account, where the store or the service has told it. */
  account?: number;
  /** What the profile held at the beginning has been read. */
  began?: Promise<void>;
};

/** By the store, which a process opens once. */
const begun = new WeakMap<TokenStore, Map<string, Bound>>();

/** The same for every session of this process: a long one opens several. */
export function boundOf({ tokens }: { readonly tokens: TokenStore }, profile: string): Bound {
  const profiles = begun.get(tokens) ?? new Map<string, Bound>();
  begun.set(tokens, profiles);
  const bound = profiles.get(profile) ?? { fixed: new Map() };
  profiles.set(profile, bound);
  return bound;
}

/**
 * Reads what the profile holds, all at once: credentials that stand beside one another are of one account, as each login
 * has seen to. What cannot be read is left out; whoever needs it is told why.
 */
export function begin({ tokens }: { readonly tokens: TokenStore }, profile: string, bound: Bound): Promise<void> {
  const readAll = async () => {
    const held = (await heldByProfile(tokens)).get(profile) ?? [];
    const read = async <K extends 'api_key' | 'oauth'>(kind: K) =>
      held.includes(kind) ? await readStored(tokens, profile, kind).catch(() => undefined) : undefined;
    const [key, login] = [await read('api_key'), await read('oauth')];
    if (key) bound.fixed.set('api_key', key);
    if (login) bound.login = login;
    bound.account = key?.account_id ?? login?.account_id;
  };
  bound.began ??= readAll();
  return bound.began;
}

/** Who has just logged in or out here means it: the next session of this process takes what is there then. */
export const unbind = (tokens: TokenStore, profile: string): void => void begun.get(tokens)?.delete(profile);

/**
 * Tells a login from another of the same profile; a refresh keeps it. One of an older version has none until it is
 * refreshed: then it goes by its first tokens, for every process that knows them. It is a digest, so no secret.
 */
export const loginIdOf = ({ login_id, refresh_token, access_token }: Stored<'oauth'>): string =>
  login_id ?? hexDigestOf(`svc login\n${refresh_token ?? access_token}`).slice(0, 32);

type Held = { readonly token: string; readonly account_id?: number };

type Asking = Pick<Context, 'exchange' | 'signal'>;

/** Where a credential is asked whose it is. */
export type Asked = { readonly baseUrl: string; readonly profile: string; readonly timeoutMs: number };

/**
 * Lets through what is surely of the account that this process began with. `now`: what the store holds besides, or
 * instead. Throws `auth` for another account, and where one of the two is not known: svc does not guess whose data it is.
 */
export async function requireSameAccount(ctx: Asking, asked: Asked, bound: Bound, now: Held): Promise<void> {
  if (tokenOf(bound) === undefined) return;
  const theirs = now.account_id ?? (await askedAccount(ctx, asked, now.token));
  bound.account ??= await askedAccount(ctx, asked, tokenOf(bound));
  const { account } = bound;
  if (account !== undefined && account === theirs) return;
  throw replaced(asked.profile, account, theirs);
}

/** Throws `auth` where the profile was logged in to another account since it was chosen, or svc cannot tell. */
export async function requireChosen(ctx: Asking & Pick<Context, 'env'>, asked: Asked, bound: Bound): Promise<void> {
  const chosen = Number(ctx.env[accountVariable] || Number.NaN);
  if (Number.isNaN(chosen)) return;
  const theirs = bound.account ?? (await askedAccount(ctx, asked, tokenOf(bound)));
  if (theirs !== chosen) throw replaced(asked.profile, chosen, theirs);
}

const tokenOf = ({ login, fixed }: Bound): string | undefined => fixed.get('api_key')?.token ?? login?.access_token;

/** Undefined where the service does not say it: without the scope `identity`, for a token that has ended, or cut off. */
async function askedAccount(
  { exchange, signal }: Asking,
  { baseUrl, timeoutMs }: Asked,
  token = '',
): Promise<number | undefined> {
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const answer = await exchange({ method: 'GET', url: `${baseUrl}/platform/account`, headers, timeoutMs, signal });
  if ('lost' in answer || answer.status !== 200) return undefined;
  const { account_id: id } = fieldsIn(jsonIn(answer.body));
  return isId(id) ? id : undefined;
}

function replaced(profile: string, ours: number | undefined, theirs: number | undefined): Failure {
  const fact =
    ours !== undefined && theirs !== undefined
      ? `Profile ${profile} was logged in to account ${theirs} while this command was at work in account ${ours}.`
      : `Profile ${profile} was logged in again while this command was at work, and svc cannot tell whether to the same account.`;
  const first = ours === undefined ? 'the account that it began in' : `account ${ours}`;
  return new Failure('auth', `${fact} It stopped, and used nothing of the new login.`, {
    hint:
      `Before you go on, log in to ${first} again: ${loginCommand('oauth', profile)}\n` +
      `A profile for each account keeps them apart: ${loginCommand('oauth', 'NAME')}`,
  });
}
