import { join, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { isPostgresUrl } from '../../database/place.ts';
import { damagedText, type OnDamage } from './folder/file.ts';
import type { InboxStore } from './inbox-store.ts';

/** Where `serve` keeps its inbox: a Postgres URL, or a folder. */
export type Place = { readonly url: string } | { readonly folder: string };

type Named = { readonly inbox?: string; readonly folder: string; readonly profile: string };

/** A relative folder begins at that of the configuration. Without a name it is in the state folder. */
export function placeOfInbox({ files }: Pick<Context, 'files'>, { inbox, folder, profile }: Named): Place {
  if (inbox === undefined) return { folder: join(files.state, 'webhooks', `serve-${encodeURIComponent(profile)}`) };
  return isPostgresUrl(inbox) ? { url: inbox } : { folder: resolve(folder, inbox) };
}

/** Opens it for one instance, which is the only one where it is a folder. */
export async function openInboxStore(ctx: Context, place: Place, limit: number): Promise<InboxStore> {
  if ('folder' in place) {
    const { openFolder } = await import('./folder/folder-store.ts');
    const onDamage: OnDamage = (damaged) => ctx.notice(damagedText(damaged));
    return openFolder({ folder: place.folder, limit, now: () => ctx.clock.now(), onDamage });
  }
  const { openPostgres } = await import('./postgres/postgres-store.ts');
  const holder = `${process.pid} ${Buffer.from(ctx.random(12)).toString('hex')}`;
  return openPostgres({ url: place.url, env: ctx.env, clock: ctx.clock, holder, limit });
}
