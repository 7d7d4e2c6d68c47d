import type { Context } from '../context.ts';
import type { Draft, NewDraft } from './draft.ts';

/** What a change makes of a draft; undefined leaves it. `now`: by the store's own clock. */
export type Change = (draft: Draft, now: Date) => Draft | undefined;

/** Where drafts are kept. Each step is on disk before it resolves, and is alone among all who use the store. */
export type DraftStore = {
  /** A folder, or host and database: never a password. */
  readonly place: string;
  /** Several machines use it. */
  readonly isShared: boolean;
  /** One with the same key that is there already is returned as it is. */
  add(draft: NewDraft): Promise<Draft>;
  /** All of them, oldest first. */
  list(): Promise<readonly Draft[]>;
  get(id: number): Promise<Draft | undefined>;
  /** The draft after the change; undefined where there is none, or the change left it. */
  change(id: number, change: Change): Promise<Draft | undefined>;
  /** By its own clock. */
  now(): Promise<Date>;
  close(): Promise<void>;
};

export type StoreNeeds = Pick<Context, 'env' | 'files' | 'clock' | 'signal' | 'progress' | 'notice'>;

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
