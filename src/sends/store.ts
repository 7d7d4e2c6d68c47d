import { Failure } from '../errors.ts';
import type { Step } from './draft.ts';
import type { DraftStore, StoreNeeds } from './draft-store.ts';

export type { DraftStore } from './draft-store.ts';

/** `place`: a postgres:// URL or a folder; undefined: below the state folder. */
export const openDrafts = async (ctx: StoreNeeds, place: string | undefined): Promise<DraftStore> =>
  bounded(await openAnySize(ctx, place));

/** Each step of a draft writes it again, and each look at the drafts reads them all. */
const mostBytes = 1024 * 1024;

/** Whoever makes a draft or changes its text, on any face, is told of one that is too long. One that is there goes its way. */
function bounded(store: DraftStore): DraftStore {
  return {
    ...store,
    add: async (draft) => {
      refuseLong(draft.steps, []);
      return store.add(draft);
    },
    change: (id, change) =>
      store.change(id, (draft, now) => {
        const next = change(draft, now);
        if (next) refuseLong(next.steps, draft.steps);
        return next;
      }),
  };
}

function refuseLong(steps: readonly Step[], before: readonly Step[]): void {
  const isNew = ({ body }: Step, at: number) => body !== before[at]?.body;
  const size = Math.max(0, ...steps.filter(isNew).map(({ body }) => Buffer.byteLength(JSON.stringify(body ?? null))));
  if (size <= mostBytes) return;
  const long = (size / mostBytes).toFixed(1);
  throw new Failure('usage', `The text is ${long} MB long, and a draft holds at most 1 MB.`);
}

async function openAnySize(ctx: StoreNeeds, place: string | undefined): Promise<DraftStore> {
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
