import { getAccount } from '../api/account.ts';
import { environmentKinds } from '../auth/at-hand.ts';
import { begin, boundOf } from '../auth/bound.ts';
import { readConfig } from '../config/config-file.ts';
import { profileConfig, type Settings } from '../config/settings.ts';
import type { Context, TokenStore } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { call, connect } from './call.ts';
import { isId } from './made.ts';

/** By the store, which a process opens once: a command may need to know it several times. */
const asked = new WeakMap<TokenStore, Promise<number | undefined>>();

/** What is kept here must be found also where the service is away. */
const patienceMs = 5_000;

/**
 * The account of the login, as far as svc can know it: a profile knows it since its login; for a credential of the environment the
 * service is asked, which does not tell it without the scope `identity`.
 */
export async function loginAccount(ctx: Context, settings: Settings): Promise<number | undefined> {
  if (environmentKinds(ctx.env).every((kind) => kind === 'm2m')) {
    const { profile } = settings;
    const told = profileConfig(await readConfig(ctx.files), profile).account?.id;
    if (told !== undefined) return told;
    const bound = boundOf(ctx, profile);
    await begin(ctx, profile, bound);
    return bound.account;
  }
  const answer = asked.get(ctx.tokens) ?? askAccount(ctx, settings);
  asked.set(ctx.tokens, answer);
  return answer;
}

async function askAccount(ctx: Context, settings: Settings): Promise<number | undefined> {
  try {
    const hurried = { ...settings, maxWaitMs: patienceMs, timeoutMs: Math.min(settings.timeoutMs, patienceMs) };
    const { account_id: id } = await call(await connect(ctx, hurried), getAccount, {});
    return isId(id) ? id : undefined;
  } catch (error) {
    if (error instanceof Failure && !isInterruption(error)) return undefined;
    throw error;
  }
}
