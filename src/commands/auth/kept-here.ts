import { environmentKinds, variablesOf } from '../../auth/at-hand.ts';
import { readConfig } from '../../config/config-file.ts';
import { credentialNames } from '../../config/credential-variables.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import { type Context, withContext } from '../../context.ts';
import { openCopyIfKnown } from '../../mirror/store/open-copy.ts';
import { isOwnPlace } from '../../mirror/store/place.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { isPostgresUrl } from '../../sends/place.ts';
import { openDrafts } from '../../sends/store.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { shellWord } from '../../text/shell-word.ts';
import { slotsFolder } from '../../webhooks/store/folder/slot.ts';
import { inboxOf, keptIn } from '../../webhooks/store/listen-inbox.ts';

/** Of an account: what svc keeps of it on this machine. */
export type KeptHere = { readonly name: string; readonly kept: readonly string[] };

/**
 * What svc keeps of the account on this machine, which no logout deletes. What cannot be read is left out.
 *
 * @param named where another profile than that of the run is meant: ` -p NAME`
 * @param leaving the profiles that are logged out, this one too
 */
export async function keptHere(
  ctx: Context,
  settings: Settings,
  { named, leaving }: { readonly named: string; readonly leaving: readonly string[] },
): Promise<KeptHere | undefined> {
  const config = await readConfig(ctx.files);
  const { account, base_url } = profileConfig(config, settings.profile);
  if (!account) return undefined;
  const users = Object.entries(config.profiles ?? {})
    .filter(
      ([name, other]) => !leaving.includes(name) && other.account?.id === account.id && other.base_url === base_url,
    )
    .map(([name]) => name);
  const own = { ...settings, baseUrl: base_url ?? settings.baseUrl, maxWaitMs: 0 };
  const looks = [hasCopy(ctx, own, users), drafts(ctx, own, account.id), events(ctx, own, account.id, named)];
  const kept = (await Promise.all(looks.map((look) => look.catch(insteadOf('any', undefined)))))
    .flat()
    .filter((one) => one !== undefined);
  return { name: account.name, kept };
}

/** `users`: other profiles of the account, which go on with the same copy. */
async function hasCopy(ctx: Context, settings: Settings, users: readonly string[]): Promise<string | undefined> {
  // A database may be far away, and no logout waits for it.
  if (isPostgresUrl(ctx.env.SVC_MIRROR_DB ?? '')) return 'what the database that SVC_MIRROR_DB names holds of it';
  if (!isOwnPlace(ctx, undefined)) return undefined;
  // The copy of the profile that ends, whose credential the environment holds besides.
  const held = Object.fromEntries(credentialNames.map((name) => [name, undefined]));
  const copy = await openCopyIfKnown(withContext(ctx, { env: { ...ctx.env, ...held } }), settings);
  await copy?.store.close();
  if (!copy) return undefined;
  const without = variablesOf(environmentKinds(ctx.env).filter((kind) => kind !== 'm2m'));
  return users.length > 0
    ? `its copy (which profile ${listed(users)} ${users.length === 1 ? 'uses' : 'use'} too)`
    : `its copy (to delete it${without && `, without ${without}`}: svc mirror forget --db ${shellWord(copy.store.place)})`;
}

async function drafts(ctx: Context, { drafts: named }: Settings, id: number): Promise<readonly string[]> {
  if (named !== undefined && isPostgresUrl(named)) return ['the drafts in the database that is named for them'];
  const store = await openDrafts(ctx, named);
  const all = (await store.list().finally(() => store.close())).filter(({ account }) => account === id);
  const waiting = all.filter(({ state }) => state === 'waiting').length;
  const decided = all.length - waiting;
  return [
    ...(waiting === 0 ? [] : [`${counted(waiting, 'draft')} not decided yet`]),
    ...(decided === 0 ? [] : [`${counted(decided, 'decided draft')} with text and address, in ${store.place}`]),
  ];
}

async function events(
  ctx: Context,
  { profile }: Settings,
  account: number,
  named: string,
): Promise<string | undefined> {
  const { parts } = await inboxOf(slotsFolder(ctx.files.state, profile), { account });
  const { kept, waiting } = (await keptIn(parts.map((part) => ({ ...part, whose: () => account })))).get(account) ?? {};
  if (!kept) return undefined;
  const still = waiting ? `, ${waiting} not forwarded yet` : '';
  return `${counted(kept, 'webhook event')}${still} (to delete them: svc${named} webhooks inbox purge)`;
}
