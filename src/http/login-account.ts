import { getAccount } from '../api/account.ts';
import { environmentKinds } from '../auth/at-hand.ts';
import { begin, boundOf } from '../auth/bound.ts';
import { readConfig } from '../config/config-file.ts';
import { profileConfig, type Settings } from '../config/settings.ts';
import type { Context, TokenStore } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { call, connect } from './call.ts';
import { isId } from './made.ts';

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
 * service is asked, which does not tell it without the scope `identity`.
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
  const answer = asked.get(ctx.tokens) ?? askAccount(ctx, settings);
  asked.set(ctx.tokens, answer);
  return answer;
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
