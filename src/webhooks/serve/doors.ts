import type { Context } from '../../context.ts';
import { Failure, messageOf } from '../../errors.ts';
import { capital } from '../../text/capital.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Door } from '../receive/options.ts';
import { splitSecrets, storedSecrets } from '../subscriptions/secrets.ts';
import type { ServeConfig } from './config-schema.ts';

type Needs = Pick<Context, 'env' | 'tokens'>;

/** A door, and where its secrets come from. `profile`: svc may have stored some for it. */
type Named = {
  readonly path: string;
  readonly account?: string;
  readonly env: readonly string[];
  readonly profile?: string;
};

/** Where deliveries come in: one path, or one for each account. */
function namedDoors({ accounts, listen, secrets }: ServeConfig, profile: string): readonly Named[] {
  if (!accounts) return [{ path: listen.path, env: secrets.env, profile: secrets.store ? profile : undefined }];
  return accounts.map((one) => ({ path: one.path, account: one.name, env: one.secrets.env, profile: one.profile }));
}

/** Whether svc stores secrets for any of them. */
export const storesSecrets = ({ accounts, secrets }: ServeConfig): boolean =>
  accounts ? accounts.some(({ profile }) => profile !== undefined) : secrets.store;

/** Every variable that holds signing secrets: no program that svc starts gets them. */
export const secretVariables = ({ accounts, secrets }: ServeConfig): readonly string[] =>
  accounts ? accounts.flatMap((one) => one.secrets.env) : secrets.env;

/** With their secrets. @throws Failure `usage` where one has none: nothing that comes there could be verified */
export async function doorsOf(ctx: Needs, config: ServeConfig, profile: string): Promise<readonly Door[]> {
  const doors = openedWith(ctx, config, { profile, stored: await laterDoors(ctx, config, profile) });
  const [closed] = doors.filter(({ secrets }) => secrets.length === 0);
  if (closed) throw noSecret(closed.named);
  refuseShared(doors);
  return doors.map(({ named: { path, account }, secrets }) => ({ path, account, secrets }));
}

/**
 * What `serve` would miss here, with the secrets that svc has stored.
 *
 * @throws Failure `usage` where it would not start anywhere: two accounts have a secret in common
 */
export async function judgedSecrets(ctx: Needs, config: ServeConfig, profile: string): Promise<readonly string[]> {
  const stored = await laterDoors(ctx, config, profile).catch((error: unknown) => messageOf(error));
  const isRead = typeof stored !== 'string';
  const doors = openedWith(ctx, config, { profile, stored: isRead ? stored : [] });
  refuseShared(doors);
  if (!isRead) return [`The stored secrets cannot be read here. ${stored}`];
  // Of the others `missingSecrets` says which variables are not set.
  const closed = doors.filter(({ named, secrets }) => named.profile !== undefined && secrets.length === 0);
  return closed.map(({ named }) => {
    const { message, hint } = noSecret(named);
    return `Here svc webhooks serve would not start: ${message} ${hint}`;
  });
}

type Opened = { readonly named: Named; readonly secrets: readonly string[] };

function openedWith(
  ctx: Needs,
  config: ServeConfig,
  { profile, stored }: { readonly profile: string; readonly stored: readonly Door[] },
): readonly Opened[] {
  return namedDoors(config, profile).map((named) => {
    const given = named.env.flatMap((name) => splitSecrets(ctx.env[name] ?? ''));
    return { named, secrets: secretsOf({ path: named.path, secrets: given }, stored) };
  });
}

function refuseShared(doors: readonly Opened[]): void {
  for (const [at, { named, secrets }] of doors.entries()) {
    const other = doors.slice(0, at).find((one) => one.secrets.some((secret) => secrets.includes(secret)));
    if (!other) continue;
    throw new Failure(
      'usage',
      `The accounts ${other.named.account} and ${named.account} have a signing secret in common.`,
      {
        hint: 'A delivery of one would be taken for one of the other: give each secrets of its own.',
      },
    );
  }
}

/** Those with a profile, with what svc has stored for it by now. */
export const laterDoors = async (ctx: Needs, config: ServeConfig, profile: string): Promise<readonly Door[]> =>
  Promise.all(
    namedDoors(config, profile).flatMap((door) =>
      door.profile === undefined
        ? []
        : [storedSecrets(ctx.tokens, door.profile).then((secrets) => ({ path: door.path, secrets }))],
    ),
  );

/** Each door with what was found for its path beside what it has. */
export const withLater = (doors: readonly Door[], later: readonly Door[]): readonly Door[] =>
  doors.map((door) => ({ ...door, secrets: secretsOf(door, later) }));

const secretsOf = ({ path, secrets }: Door, later: readonly Door[]): readonly string[] => [
  ...new Set([...secrets, ...(later.find((one) => one.path === path)?.secrets ?? [])]),
];

function noSecret({ account, env, profile }: Pick<Named, 'account' | 'env' | 'profile'>): Failure {
  const [variable] = env;
  if (account === undefined)
    return new Failure('usage', 'No signing secret is known, so no delivery could be verified.', {
      hint: `Set ${variable ?? 'a variable that secrets.env names'}, or subscribe with svc webhooks create.`,
    });
  const ways = [
    ...(variable === undefined ? [] : [`set ${variable}`]),
    ...(profile === undefined ? [] : [`subscribe with svc -p ${shellWord(profile)} webhooks create`]),
  ].join(', or ');
  return new Failure(
    'usage',
    `No signing secret of the account ${account} is known, so none of its deliveries could be verified.`,
    { hint: `${capital(ways)}.` },
  );
}
