import type { Context } from '../../context.ts';
import { splitSecrets } from '../subscriptions/secrets.ts';
import type { ServeConfig } from './config.ts';
import { usualSecret } from './config-schema.ts';

/**
 * Notes and no mistakes: the file may be judged on another machine than the one that runs it. Beside the store the usual
 * variable is one way of two.
 */
export function missingSecrets({ env }: Pick<Context, 'env'>, { secrets, accounts }: ServeConfig): string[] {
  if (accounts)
    return accounts.flatMap(({ name, secrets: own }) =>
      own.env
        .filter((variable) => splitSecrets(env[variable] ?? '').length === 0)
        .map((variable) => `${variable} is not set here; secrets.env of the account ${name} names it.`),
    );
  const unset = secrets.env.filter((name) => splitSecrets(env[name] ?? '').length === 0);
  const notes = unset
    .filter((name) => name !== usualSecret || !secrets.store)
    .map((name) => `${name} is not set here; secrets.env names it.`);
  if (secrets.store || unset.length < secrets.env.length) return notes;
  return [...notes, 'Without a secret svc webhooks serve does not start (exit 2): secrets.store is false.'];
}
