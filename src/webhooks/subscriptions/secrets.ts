import type { Context, TokenStore } from '../../context.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';

/** For whoever tests an app of their own, and has no subscription. */
export const anySecret =
  'To test an app of your own any text will do, if the app has the same one: export SVC_WEBHOOK_SECRET=sample';

/** Where the signing secret of a subscription is kept. */
const webhookSecretName = (profile: string, id: number): string => `webhook/${profile}/${id}`;

export const keepSecret = (tokens: TokenStore, profile: string, id: number, secret: string) =>
  tokens.update(webhookSecretName(profile, id), async () => secret);

export const forgetSecret = (tokens: TokenStore, profile: string, id: number) =>
  tokens.update(webhookSecretName(profile, id), async () => undefined);

export const storedSecret = (tokens: TokenStore, profile: string, id: number): Promise<string | undefined> =>
  tokens.read(webhookSecretName(profile, id));

/** Every secret of the profile's subscriptions, the newest subscription's first. */
export async function storedSecrets(tokens: TokenStore, profile: string): Promise<string[]> {
  const names = await tokens.names(`webhook/${profile}/`);
  const ids = names.map((name) => Number(name.slice(name.lastIndexOf('/') + 1))).filter((id) => id > 0);
  const secrets: string[] = [];
  for (const id of ids.sort((a, b) => b - a)) {
    const secret = await tokens.read(webhookSecretName(profile, id));
    if (secret !== undefined) secrets.push(secret);
  }
  return secrets;
}

/** The ids of the subscriptions whose secrets are kept, in the file and in the keyring, by profile. */
export async function secretsByProfile(tokens: TokenStore): Promise<ReadonlyMap<string, readonly number[]>> {
  const kept = new Map<string, number[]>();
  for (const name of await tokens.names('webhook/')) {
    const [, profile, id] = /^webhook\/(.+)\/(\d+)$/u.exec(name) ?? [];
    if (profile !== undefined) kept.set(profile, [...(kept.get(profile) ?? []), Number(id)]);
  }
  return kept;
}

/** One a line, as in SVC_WEBHOOK_SECRET and on standard input. */
export const splitSecrets = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** What --secret-stdin or SVC_WEBHOOK_SECRET give, in this order; none where neither is used. */
export async function givenSecrets(
  ctx: Pick<Context, 'stdin' | 'env' | 'signal'>,
  fromStdin: boolean,
): Promise<string[]> {
  if (!fromStdin) return splitSecrets(ctx.env.SVC_WEBHOOK_SECRET ?? '');
  const secrets = splitSecrets(await readUserText(ctx, '-', '--secret-stdin'));
  if (secrets.length > 0) return secrets;
  throw new Failure('usage', 'Standard input holds no secret.', { hint: 'Give one a line.' });
}

/** The same, where there must be one. */
export async function requiredSecrets(
  ctx: Pick<Context, 'stdin' | 'env' | 'signal'>,
  fromStdin: boolean,
): Promise<[string, ...string[]]> {
  const [first, ...others] = await givenSecrets(ctx, fromStdin);
  if (first !== undefined) return [first, ...others];
  throw new Failure('usage', 'The signing secret is missing.', {
    hint: 'Set SVC_WEBHOOK_SECRET, or give it on standard input with --secret-stdin.',
  });
}
