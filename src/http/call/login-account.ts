import { join } from 'node:path';
import { getAccount } from '../../api/account.ts';
import { environmentKinds } from '../../auth/at-hand.ts';
import { begin, boundOf } from '../../auth/bound.ts';
import { readConfig } from '../../config/config-file.ts';
import { credentialVariables } from '../../config/credential-variables.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context, TokenStore } from '../../context.ts';
import { readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { Failure, isInterruption } from '../../errors.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn, isId } from '../../text/record.ts';
import { call, connect } from './call.ts';

/** Whose it is. `unsure`: it has an account, and why svc cannot ask now which. */
export type Login = { readonly account?: number | undefined; readonly unsure?: Failure | undefined };

/** By the store, which a process opens once: a command may need to know it several times. */
const asked = new WeakMap<TokenStore, Promise<Login>>();

/** What is kept here must be found also where the service is away. */
const patienceMs = 5_000;

export const loginAccount = async (ctx: Context, settings: Settings): Promise<number | undefined> =>
  (await loginOf(ctx, settings)).account;

/**
 * The account of the login, as far as svc can know it: a profile knows it since its login; for a credential of the environment the
 * service is asked, which does not tell it without the scope `identity`. That of a key is remembered: a key is of one account.
 */
export async function loginOf(ctx: Context, settings: Settings): Promise<Login> {
  if (environmentKinds(ctx.env).every((kind) => kind === 'm2m')) {
    const { profile } = settings;
    const told = profileConfig(await readConfig(ctx.files), profile).account?.id;
    if (told !== undefined) return { account: told };
    const bound = boundOf(ctx, profile);
    await begin(ctx, profile, bound);
    return { account: bound.account };
  }
  const answer = asked.get(ctx.tokens) ?? rememberedOrAsked(ctx, settings);
  asked.set(ctx.tokens, answer);
  return answer;
}

async function rememberedOrAsked(ctx: Context, settings: Settings): Promise<Login> {
  const path = fileOf(ctx, settings);
  const text = path === undefined ? undefined : await readIfThere(path).catch(() => undefined);
  const { account: before } = fieldsIn(jsonIn(text ?? ''));
  if (isId(before)) return { account: before };
  const login = await askAccount(ctx, settings);
  if (path !== undefined && login.account !== undefined)
    await replaceFile(path, JSON.stringify({ account: login.account })).catch(() => {});
  return login;
}

/** Named by a digest: no secret is written. Access tokens of the environment last an hour, so theirs is not remembered. */
function fileOf({ env, files }: Context, { baseUrl }: Settings): string | undefined {
  const key = env[credentialVariables.api_key];
  if (!key || baseUrl === undefined) return undefined;
  return join(files.state, 'accounts', `${hexDigestOf(`svc login\n${baseUrl}\n${key}`).slice(0, 24)}.json`);
}

async function askAccount(ctx: Context, settings: Settings): Promise<Login> {
  try {
    const hurried = { ...settings, maxWaitMs: patienceMs, timeoutMs: Math.min(settings.timeoutMs, patienceMs) };
    const { account_id: id } = await call(await connect(ctx, hurried), getAccount, {});
    return { account: isId(id) ? id : undefined };
  } catch (error) {
    if (!(error instanceof Failure) || isInterruption(error)) throw error;
    // No service that is named, and a login that may not ask or is not good, are of nobody that anyone could tell.
    return ['usage', 'auth', 'forbidden'].includes(error.kind) ? {} : { unsure: error };
  }
}
