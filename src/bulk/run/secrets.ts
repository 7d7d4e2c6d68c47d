import type { Operation } from '../../api/operation.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { Service } from '../../http/call/call.ts';
import { fieldsIn } from '../../text/record.ts';
import { keepSecret } from '../../webhooks/subscriptions/secrets.ts';

/** Where the signing secrets of what is made go; each is shown once. */
export type Secrets =
  | { readonly to: 'nowhere' }
  | { readonly to: 'store'; readonly field: string; readonly tokens: Context['tokens']; readonly profile: string }
  /** Beside the row, in the file of results: with a credential of the environment nothing is stored. */
  | { readonly to: 'results'; readonly field: string };

export function secretsOf(
  ctx: Pick<Context, 'tokens'>,
  { secret }: Operation,
  { session, settings }: Pick<Service, 'session' | 'settings'>,
  results: string | undefined,
): Secrets {
  if (secret === undefined) return { to: 'nowhere' };
  if (session.from === 'profile') return { to: 'store', field: secret, tokens: ctx.tokens, profile: settings.profile };
  if (results !== undefined) return { to: 'results', field: secret };
  throw new Failure(
    'usage',
    'The signing secrets would be lost: svc stores none for a credential of the environment.',
    {
      hint: 'Add --results FILE: the secrets are written into it, readable by you alone. Nothing was sent.',
    },
  );
}

/** Keeps the secret of an answer. What goes into the results is returned. */
export async function keptSecret(secrets: Secrets, id: number | null, answer: unknown): Promise<{ secret?: string }> {
  if (secrets.to === 'nowhere') return {};
  const secret = fieldsIn(answer)[secrets.field];
  if (typeof secret !== 'string' || id === null) return {};
  if (secrets.to === 'results') return { secret };
  await keepSecret(secrets.tokens, secrets.profile, id, secret);
  return {};
}
