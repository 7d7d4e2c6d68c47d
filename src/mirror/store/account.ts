import { environmentKinds } from '../../auth/at-hand.ts';
import { readConfig } from '../../config/config-file.ts';
import { credentialVariables } from '../../config/credential-variables.ts';
import { originOf } from '../../config/service-url.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { Service } from '../../http/call/call.ts';
import { hexDigestOfShort } from '../../text/short-digest.ts';
import type { Account, Sql, Store } from '../tables/store.ts';
import { noCopy } from './place.ts';

/** Asks the service, with one request, whose account this login is. */
export async function accountByAsking(ctx: Context, settings: Settings, open?: Service): Promise<Account> {
  const { connect } = await import('../../http/call/call.ts');
  return askedAccount(open ?? (await connect(ctx, settings)));
}

/**
 * Whose copy this run asks, without a request: a profile knows its account since the login, a credential of the
 * environment since its first pull. Undefined where it is not known yet.
 */
export async function knownAccount(ctx: Context, settings: Settings, store: Store): Promise<Account | undefined> {
  const { baseUrl } = settings;
  if (baseUrl === undefined) return onlyAccount(store);
  const service = originOf(baseUrl);
  const own = await accountOfProfile(ctx, settings);
  if (own) return own;
  const digest = await credentialOf(ctx, settings, service);
  return store.read(async (sql) => {
    const [row] = await sql.all('SELECT service, account_id FROM svc_credentials WHERE digest = $1', [digest]);
    return row && { service: String(row.service), id: String(row.account_id) };
  });
}

/** A profile knows its account since the login. */
export async function accountOfProfile(ctx: Context, { baseUrl, profile }: Settings): Promise<Account | undefined> {
  if (baseUrl === undefined || !environmentKinds(ctx.env).every((kind) => kind === 'm2m')) return undefined;
  const own = profileConfig(await readConfig(ctx.files), profile).account;
  return own && { service: originOf(baseUrl), id: String(own.id), name: own.name };
}

/** An account that was never pulled is told so. */
export async function requirePulled(store: Store, { service, id }: Account): Promise<void> {
  const rows = await store.read((sql) =>
    sql.all('SELECT 1 AS one FROM svc_kinds WHERE service = $1 AND account_id = $2 LIMIT 1', [service, id]),
  );
  if (rows.length === 0) throw noCopy(store.place);
}

/** Where nothing says whose copy is meant and there is one alone, it is that one. */
async function onlyAccount(store: Store): Promise<Account> {
  const [one, other] = await accountsIn(store);
  if (one && !other) return one;
  throw whichAccount();
}

export const whichAccount = (): Failure =>
  new Failure('usage', 'The address of the service is not set, so svc cannot tell whose copy you mean.', {
    hint: 'Give --base-url URL or set SVC_BASE_URL.',
  });

async function askedAccount(service: Service): Promise<Account> {
  const origin = originOf(service.session.baseUrl);
  // A question to the copy needs neither.
  const [{ call }, { getAccount }] = [await import('../../http/call/call.ts'), await import('../../api/account.ts')];
  try {
    const { account_id: id, name } = await call(service, getAccount, {});
    return { service: origin, id: String(id), name };
  } catch (error) {
    // A token without the scope identity: the credential alone says whose account it is.
    if (!(error instanceof Failure) || error.kind !== 'forbidden') throw error;
    const { ctx, settings } = service;
    return { service: origin, id: `${unknownPrefix}${(await credentialOf(ctx, settings, origin)).slice(0, 12)}` };
  }
}

/** Of a login that does not say whose it is, in place of the account's id. */
const unknownPrefix = 'credential:';

/**
 * Who asks, where nothing says whose account it is: this very login or token, never a profile, for the next login of the
 * same profile may be of another account. No secret is written: a digest cannot be turned back, and a token has more to
 * guess than anybody could try.
 */
async function credentialOf(
  ctx: Pick<Context, 'env' | 'tokens'>,
  settings: Settings,
  service: string,
): Promise<string> {
  const [kind] = environmentKinds(ctx.env).filter((given) => given !== 'm2m');
  const credential = kind ? `token ${ctx.env[credentialVariables[kind]]}` : await heldBy(ctx, settings);
  return hexDigestOfShort(`svc mirror\n${service}\n${credential}`).slice(0, 32);
}

/** What the profile held as this process began, as its requests use it: of an API key and a login the API key. */
async function heldBy(ctx: Pick<Context, 'tokens'>, { profile }: Settings): Promise<string> {
  const { begin, boundOf, loginIdOf } = await import('../../auth/bound.ts');
  const bound = boundOf(ctx, profile);
  await begin(ctx, profile, bound);
  const key = bound.fixed.get('api_key');
  if (key) return `token ${key.token}`;
  return bound.login ? `login ${loginIdOf(bound.login)}` : `nothing in ${profile}`;
}

/**
 * So that it is known without a request, and told apart from the others in the database.
 *
 * @throws Failure `usage` where a SQLite file is the copy of another account.
 */
export async function rememberAccount(ctx: Context, settings: Settings, store: Store, account: Account): Promise<void> {
  const { service, id, name } = account;
  const digest = await credentialOf(ctx, settings, service);
  await store.write(async (sql) => {
    if (sql.engine === 'sqlite') refuseAnother(await accountRows(sql), account, store.place);
    await sql.run(
      'INSERT INTO svc_accounts (service, account_id, name) VALUES ($1, $2, $3) ' +
        'ON CONFLICT (service, account_id) DO UPDATE SET name = coalesce(excluded.name, svc_accounts.name)',
      [service, id, name ?? null],
      1,
    );
    await sql.run(
      'INSERT INTO svc_credentials (digest, service, account_id) VALUES ($1, $2, $3) ' +
        'ON CONFLICT (digest) DO UPDATE SET service = excluded.service, account_id = excluded.account_id',
      [digest, service, id],
      1,
    );
  });
}

const anotherWords = 'is the copy of another account';

export const isOfAnother = (error: unknown): boolean =>
  error instanceof Failure && error.message.includes(anotherWords);

const isSame =
  (one: Account) =>
  ({ service, id }: Account): boolean =>
    one.service === service && one.id === id;

function refuseAnother(accounts: readonly Account[], account: Account, place: string): void {
  const [other] = accounts;
  if (!other || accounts.some(isSame(account))) return;
  const isUnknown = other.id.startsWith(unknownPrefix) || other.id.startsWith('profile:');
  const whose = other.name ?? (isUnknown ? 'that of a login without the scope identity' : `account ${other.id}`);
  throw new Failure('usage', `${place} ${anotherWords}: ${whose}. A file holds one account.`, {
    hint: 'Name another file with --db, or leave it out: svc then keeps a file for each account.',
  });
}

/** Whether the database has that account. */
export const holds = async (store: Store, account: Account): Promise<boolean> =>
  (await accountsIn(store)).some(isSame(account));

/** Every account of the database. A SQLite file has one, or several where an older svc made it. */
export const accountsIn = (store: Store): Promise<Account[]> => store.read(accountRows);

async function accountRows(sql: Sql): Promise<Account[]> {
  const rows = await sql.all('SELECT service, account_id, name FROM svc_accounts');
  return rows.map(({ service, account_id: id, name }) => ({
    service: String(service),
    id: String(id),
    ...(name !== null && { name: String(name) }),
  }));
}

/** A file of somebody else is a mistake; of an empty one, or a database of many, a first pull is still to come. */
export async function requireHeld(store: Store, account: Account): Promise<void> {
  if (store.engine === 'sqlite') refuseAnother(await accountsIn(store), account, store.place);
}
