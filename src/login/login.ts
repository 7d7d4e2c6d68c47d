import type { getAccount } from '../api/account.ts';
import type { CredentialKind, Output, Scope } from '../api/operation.ts';
import { loginIdOf, unbind } from '../auth/bound.ts';
import { checkToken, heldByProfile, loginCommand, nameOf, newProfile, readStored, store } from '../auth/credentials.ts';
import type { Bearer } from '../auth/session.ts';
import { readConfig, updateProfile } from '../config/config-file.ts';
import { originOf, requireHttps } from '../config/service-url.ts';
import { type ProfileConfig, profileConfig, type Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { fieldsIn } from '../text/record.ts';
import { authorize } from './authorize.ts';
import { checkRedirectUri, findClient } from './oauth-login.ts';
import { placeOf, reportOf, type StatusReport } from './report.ts';
import { type Lines, readSecret } from './stdin-lines.ts';

type Account = Output<typeof getAccount>;

/** What the service says of a credential. */
export type Judged = {
  readonly valid: boolean;
  /** Undefined where the credential may not see it: without the scope `identity`, or machine-to-machine. */
  readonly account?: Pick<Account, 'account_id' | 'name'> & Partial<Pick<Account, 'billing_active' | 'setup_url'>>;
  /** The account that the profile is known to belong to, where a machine-to-machine token was taken for it. */
  readonly takenFor?: number | undefined;
  /** Why it does not work. */
  readonly refusal?: Failure;
};

type Common = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly baseUrl: string;
  readonly lines: Lines;
  readonly place: 'best' | 'file';
  /** Asks the service. `accountId`: the account that the profile is known to belong to. */
  readonly judge: (bearer: Bearer, accountId: number | undefined) => Promise<Judged>;
};

export type LoggedIn = {
  /** `account_before`: where the profile was of another account. */
  readonly status: StatusReport & { readonly account_before?: StatusReport['account'] };
  readonly setupUrl?: string;
  /** Why the account is not known, where the service failed to tell. */
  readonly doubt?: Failure;
  /** Where no refresh token came, so that nothing prolongs it. */
  readonly endsAt?: string;
};

/** An API key or a machine-to-machine token: tried first, and kept only when it works. */
export async function loginWithSecret({
  kind,
  ...common
}: Common & { readonly kind: Exclude<CredentialKind, 'oauth'> }): Promise<LoggedIn> {
  const { ctx, settings, baseUrl, lines, place, judge } = common;
  const { profile } = settings;
  requireHttps(baseUrl, 'The base URL', settings);
  const others = await otherCredentials(common, kind);
  const title = nameOf(kind);
  const token = checkToken(await readSecret(ctx, title, lines, settings.noInput), `The ${title}`);
  const { valid, account, takenFor, refusal, doubt } = await judged(judge({ kind, token }, others.account?.id));
  // The person still has the secret, so it is not kept for an address that may be another's.
  if (doubt && isWrongAddress(doubt)) throw doubt;
  if (!valid) {
    throw new Failure('auth', `${originOf(baseUrl)} does not accept this ${title}; nothing was stored.`, {
      status: refusal?.status,
      hint: 'Check that it was copied whole, and that --base-url is the service that it belongs to.',
    });
  }
  refuseOtherAccount(others, account, { profile, kind, baseUrl });
  const keep = () => store(ctx.tokens, { profile, kind, place }, { base_url: baseUrl, token, ...told(account) });
  const now = account ? named(account) : others.account;
  await keepBeside(common, { was: others.account, now, rest: { base_url: baseUrl } }, keep);
  const report = reportOf({ kind, valid: true, store: await placeOf(ctx.tokens, profile, kind) });
  const done = finished(common, others, account, report);
  const isKnown = account !== undefined || (now !== undefined && takenFor === now.id);
  return { ...done, status: { ...done.status, account: (isKnown && now) || null }, doubt };
}

type Browsing = Common & {
  readonly scopes: readonly Scope[];
  readonly clientId?: string;
  readonly redirectUri?: string;
  readonly browser: boolean;
  /** A new consent for a login that is there. */
  readonly isRenewal?: boolean;
};

/** Authorization code with PKCE; see `authorize`. The browser is told how it ended. */
export async function loginWithBrowser(browsing: Browsing): Promise<LoggedIn> {
  const { ctx, settings, baseUrl, lines, place, judge, scopes, browser } = browsing;
  const { profile } = settings;
  requireHttps(baseUrl, 'The base URL', settings);
  const others = await otherCredentials(browsing, 'oauth');
  // The document names a separate host for OAuth. Where none is set, it is the service's.
  const authUrl = settings.authUrl ?? baseUrl;
  const redirectUri = checkRedirectUri(browsing.redirectUri ?? settings.redirectUri, '--redirect-uri');
  const client = await findClient(ctx, settings, { ...browsing, authUrl, lines });
  const { grant, show } = await authorize(ctx, settings, { client, scopes, redirectUri, browser, lines });
  try {
    const asked = judge({ kind: 'oauth', token: grant.access_token }, undefined);
    const { valid, account, refusal, doubt } = await judged(asked);
    if (!valid) {
      throw new Failure('auth', `${originOf(baseUrl)} does not accept the token that ${originOf(authUrl)} gave.`, {
        status: refusal?.status,
        hint: 'Check that --base-url and --auth-url belong to the same service.',
      });
    }
    refuseOtherAccount(others, account, { profile, kind: 'oauth', baseUrl });
    const known = others.kinds.length > 0 ? others.account : undefined;
    const { clientId: client_id, clientSecret: client_secret } = client;
    const rest = {
      base_url: baseUrl,
      auth_url: authUrl,
      client_id,
      ...(browsing.redirectUri && { redirect_uri: redirectUri }),
    };
    const login = { base_url: baseUrl, auth_url: authUrl, client_id, ...told(account), ...grant };
    // Without the scope identity the account is unknown, unless another credential of the profile has told it.
    const now = account ? named(account) : known;
    await keepBeside(browsing, { was: others.account, now, rest }, async () => {
      await store(ctx.tokens, { profile, kind: 'client', place }, { auth_url: authUrl, client_id, client_secret });
      await store(ctx.tokens, { profile, kind: 'oauth', place }, { ...login, login_id: loginIdOf(login) });
    });
    await show({
      ok: true,
      title: account ? `svc is connected to ${account.name}` : 'svc is connected',
      text: 'You are logged in.',
    });
    const report = reportOf({ kind: 'oauth', valid: true, store: await placeOf(ctx.tokens, profile, 'oauth') }, login);
    const endsAt = grant.refresh_token === undefined ? grant.expires_at : undefined;
    return { ...finished(browsing, others, account, report), doubt, endsAt };
  } catch (error) {
    const text = error instanceof Failure ? error.message : 'Something went wrong.';
    await show({ ok: false, title: 'The login did not succeed', text });
    throw error;
  }
}

type Accounts = {
  readonly was: ProfileConfig['account'];
  readonly now: ProfileConfig['account'];
  readonly rest: Partial<ProfileConfig>;
};

/**
 * Keeps a credential, and beside it in the configuration whose it is. Whoever reads in between, or after a store that
 * failed, finds no account rather than that of another login.
 */
async function keepBeside(
  { ctx, settings: { profile } }: Common,
  { was, now, rest }: Accounts,
  keep: () => Promise<void>,
): Promise<void> {
  const isAnother = was !== undefined && was.id !== now?.id;
  await updateProfile(ctx, profile, { ...rest, account: isAnother ? undefined : now });
  await keep();
  if (isAnother) await updateProfile(ctx, profile, { account: now });
  unbind(ctx.tokens, profile);
}

/**
 * What the service says, if it can say it. A service that fails at that moment says nothing against the credential:
 * a grant that was just given is kept, since the person would have to give it again.
 */
async function judged(asked: Promise<Judged>): Promise<Judged & { readonly doubt?: Failure }> {
  try {
    const said = await asked;
    if (said.account === undefined || isAccount(said.account)) return said;
    const doubt = new Failure('failed', 'The service answered with something that is not an account.');
    return { valid: said.valid, doubt };
  } catch (error) {
    if (!(error instanceof Failure) || isInterruption(error)) throw error;
    return { valid: true, doubt: error };
  }
}

const isAccount = (account: unknown): boolean => {
  const { account_id, name } = fieldsIn(account);
  return Number.isSafeInteger(account_id) && typeof name === 'string';
};

/** Nothing is there, or what is there is another program. */
const isWrongAddress = ({ kind, status }: Failure): boolean =>
  kind === 'network' || status === 404 || (status !== undefined && status < 400);

type Others = Awaited<ReturnType<typeof otherCredentials>>;

/**
 * What the profile holds beside the credential that is about to be replaced. A profile is one account at one service:
 * an API key of another would make commands of one run act in two accounts.
 */
async function otherCredentials({ ctx, settings: { profile }, baseUrl }: Common, kind: CredentialKind) {
  const kinds = ((await heldByProfile(ctx.tokens)).get(profile) ?? []).filter((held) => held !== kind);
  for (const held of kinds) {
    const stored = await readStored(ctx.tokens, profile, held).catch(() => undefined);
    if (!stored || originOf(stored.base_url) === originOf(baseUrl)) continue;
    throw new Failure('usage', `Profile ${profile} also holds the ${nameOf(held)} of ${originOf(stored.base_url)}.`, {
      hint: `Use a separate profile: ${loginCommand(kind, newProfile(baseUrl), baseUrl)} (or forget that one: svc logout)`,
    });
  }
  // Of the profile, before this login.
  const { account, base_url } = profileConfig(await readConfig(ctx.files), profile);
  return { kinds, account, baseUrl: base_url };
}

function refuseOtherAccount(
  { kinds, account }: Others,
  now: Judged['account'],
  { profile, kind, baseUrl }: { readonly profile: string; readonly kind: CredentialKind; readonly baseUrl: string },
): void {
  if (!now || !account || account.id === now.account_id || kinds.length === 0) return;
  throw new Failure(
    'usage',
    `Profile ${profile} belongs to account ${account.id} (${account.name}), this to ${now.account_id} (${now.name}); nothing was stored.`,
    { hint: `Use a separate profile: ${loginCommand(kind, `account-${now.account_id}`, baseUrl)}` },
  );
}

/** Kept with the credential itself: the configuration is another file, and may be of another moment. */
const told = (account: Judged['account']) => (account ? { account_id: account.account_id } : {});

const named = ({ account_id: id, name }: NonNullable<Judged['account']>) => ({ id, name });

function finished(
  { settings: { profile }, baseUrl }: Common,
  others: Others,
  account: Judged['account'],
  report: StatusReport['credentials'][number],
): LoggedIn {
  const before = others.account;
  const isElsewhere = others.baseUrl !== undefined && originOf(others.baseUrl) !== originOf(baseUrl);
  const isMoved = account && before && (before.id !== account.account_id || isElsewhere);
  const status = {
    ...{ profile, base_url: baseUrl, account: account ? named(account) : null },
    ...(isMoved && { account_before: before }),
    credentials: [report],
  };
  const unfinished = account?.billing_active === false && account.setup_url;
  return { status, ...(unfinished && { setupUrl: unfinished }) };
}
