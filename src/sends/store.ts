import type { DraftStore, StoreNeeds } from './draft-store.ts';

export type { DraftStore } from './draft-store.ts';

/** `place`: a postgres:// URL or a folder; undefined: below the state folder. */
export async function openDrafts(ctx: StoreNeeds, place: string | undefined): Promise<DraftStore> {
  if (place === undefined) return (await import('./store-folder.ts')).openFolder(ctx, undefined);
  const { isPostgresUrl, refuseNoPlace } = await import('./place.ts');
  refuseNoPlace(place, ctx.env.SVC_DRAFTS_DB ? 'SVC_DRAFTS_DB' : 'drafts');
  if (isPostgresUrl(place)) return (await import('./store-postgres.ts')).openPostgres(ctx, place);
  return (await import('./store-folder.ts')).openFolder(ctx, place);
}

/** The store for the length of some work. */
export async function withDrafts<T>(
  ctx: StoreNeeds,
  place: string | undefined,
  work: (store: DraftStore) => Promise<T>,
): Promise<T> {
  const store = await openDrafts(ctx, place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
