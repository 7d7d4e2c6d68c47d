import { readConfig } from '../../config/config-file.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { openCopyIfKnown } from '../../mirror/store/open-copy.ts';
import { isOwnPlace } from '../../mirror/store/place.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { isPostgresUrl } from '../../sends/place.ts';
import { openDrafts } from '../../sends/store.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { slotsFolder, slotsOf } from '../../webhooks/store/folder/slot.ts';
import { receivedIn } from '../../webhooks/store/folder/view.ts';
import { waitingIn } from '../../webhooks/store/listen-inbox.ts';

/** What svc keeps of the account on this machine, which no logout deletes. What cannot be read is left out. */
export async function keptHere(ctx: Context, settings: Settings): Promise<string | undefined> {
  const { account, base_url } = profileConfig(await readConfig(ctx.files), settings.profile);
  if (!account) return undefined;
  const own = { ...settings, baseUrl: base_url ?? settings.baseUrl, maxWaitMs: 0 };
  const looks = [hasCopy(ctx, own), waitingDrafts(ctx, own, account.id), events(ctx, own, account.id)];
  const kept = (await Promise.all(looks.map((look) => look.catch(insteadOf('any', undefined))))).filter(
    (one) => one !== undefined,
  );
  return kept.length === 0 ? undefined : `Of ${account.name} this stays on this machine: ${listed(kept)}.`;
}

async function hasCopy(ctx: Context, settings: Settings): Promise<string | undefined> {
  if (!isOwnPlace(ctx, undefined)) return undefined;
  const copy = await openCopyIfKnown(ctx, settings);
  await copy?.store.close();
  return copy && `its copy in ${copy.store.place} (to delete it: svc mirror forget)`;
}

async function waitingDrafts(ctx: Context, { drafts }: Settings, id: number): Promise<string | undefined> {
  if (drafts !== undefined && isPostgresUrl(drafts)) return undefined;
  const store = await openDrafts(ctx, drafts);
  const all = await store.list().finally(() => store.close());
  const waiting = all.filter(({ state, account }) => state === 'waiting' && account === id).length;
  return waiting === 0 ? undefined : `${counted(waiting, 'draft')} not decided yet`;
}

async function events(ctx: Context, { profile }: Settings, account: number): Promise<string | undefined> {
  const { mine } = await slotsOf(slotsFolder(ctx.files.state, profile), account);
  const all = (await receivedIn(mine, () => true)).seen.length;
  if (all === 0) return undefined;
  const waiting = await waitingIn(mine);
  const still = waiting > 0 ? `, ${waiting} not forwarded yet` : '';
  return `${counted(all, 'webhook event')}${still} (to delete them: svc webhooks inbox purge)`;
}
