import { getAccount } from '../api/account.ts';
import { credentialVariables, environmentKinds } from '../auth/at-hand.ts';
import { readConfig } from '../config/config-file.ts';
import { originOf } from '../config/service-url.ts';
import { profileConfig, type Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { call, connect, type Service } from '../http/call.ts';
import { hexDigestOf } from '../text/digest.ts';
import { noCopy } from './place.ts';
import type { Account, Sql, Store } from './store.ts';

/**
 * Whose copy this run asks. A profile knows its account since the login; a credential of the environment since its first
 * pull. Only one that is not known yet costs a request, the account's.
 */
export async function accountOf(ctx: Context, settings: Settings, store: Store, open?: Service): Promise<Account> {
  const known = await knownAccount(ctx, settings, store);
  if (known) return known;
  const service = open ?? (await connect(ctx, settings));
  const account = await askedAccount(service);
  await store.write((sql) => remember(sql, account, credentialOf(ctx, settings, account.service)));
  return account;
}

/** Without a request; undefined where it is not known yet. */
export async function knownAccount(ctx: Context, settings: Settings, store: Store): Promise<Account | undefined> {
  const { baseUrl, profile } = settings;
  if (baseUrl === undefined) return onlyAccount(store);
  const service = originOf(baseUrl);
  if (environmentKinds(ctx.env).every((kind) => kind === 'm2m')) {
    const own = profileConfig(await readConfig(ctx.files), profile).account;
    if (own) return { service, id: String(own.id), name: own.name };
  }
  const digest = credentialOf(ctx, settings, service);
  return store.read(async (sql) => {
    const [row] = await sql.all('SELECT service, account_id FROM svc_credentials WHERE digest = $1', [digest]);
    return row && { service: String(row.service), id: String(row.account_id) };
  });
}

/** The same, where there is a copy of it. */
export async function accountInCopy(ctx: Context, settings: Settings, store: Store): Promise<Account> {
  const account = await knownAccount(ctx, settings, store);
  if (!account) throw noCopy(store.place);
  await requirePulled(store, account);
  return account;
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
  const rows = await store.read((sql) => sql.all('SELECT service, account_id FROM svc_accounts LIMIT 2'));
  const [row, other] = rows;
  if (row && !other) return { service: String(row.service), id: String(row.account_id) };
  throw new Failure('usage', 'The address of the service is not set, so svc cannot tell whose copy you mean.', {
    hint: 'Give --base-url URL or set SVC_BASE_URL.',
  });
}

async function askedAccount(service: Service): Promise<Account> {
  const { baseUrl, profile, from } = service.session;
  const origin = originOf(baseUrl);
  try {
    const { account_id: id, name } = await call(service, getAccount, {});
    return { service: origin, id: String(id), name };
  } catch (error) {
    // A token without the scope identity: the credential alone says whose account it is.
    if (!(error instanceof Failure) || error.kind !== 'forbidden') throw error;
    const { ctx, settings } = service;
    const id =
      from === 'profile' ? `profile:${profile}` : `credential:${credentialOf(ctx, settings, origin).slice(0, 12)}`;
    return { service: origin, id };
  }
}

/** No secret is written: a digest cannot be turned back, and a token has more to guess than anybody could try. */
function credentialOf({ env }: Pick<Context, 'env'>, { profile }: Settings, service: string): string {
  const [kind] = environmentKinds(env).filter((given) => given !== 'm2m');
  const credential = kind ? `token ${env[credentialVariables[kind]]}` : `profile ${profile}`;
  return hexDigestOf(`svc mirror\n${service}\n${credential}`).slice(0, 32);
}

async function remember(sql: Sql, { service, id, name }: Account, digest: string): Promise<void> {
  await sql.run(
    'INSERT INTO svc_accounts (service, account_id, name) VALUES ($1, $2, $3) ' +
      'ON CONFLICT (service, account_id) DO UPDATE SET name = coalesce(excluded.name, svc_accounts.name)',
    [service, id, name ?? null],
  );
  await sql.run(
    'INSERT INTO svc_credentials (digest, service, account_id) VALUES ($1, $2, $3) ' +
      'ON CONFLICT (digest) DO UPDATE SET service = excluded.service, account_id = excluded.account_id',
    [digest, service, id],
  );
}

/** So that it is known without a request, and told apart from the others in the database. */
export const rememberAccount = (ctx: Context, settings: Settings, store: Store, account: Account): Promise<void> =>
  store.write((sql) => remember(sql, account, credentialOf(ctx, settings, account.service)));
