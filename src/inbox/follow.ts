import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { leftInEditors } from '../disk/draft/unsent.ts';
import { Failure, type FailureKind, wordsOf } from '../errors.ts';
import { connect, type Service } from '../http/call/call.ts';
import { keepFresh } from '../mirror/pull/keep-fresh.ts';
import { datedContext } from '../mirror/pull/pulling.ts';
import { type Copy, openCopyToPull } from '../mirror/store/open-copy.ts';
import { asOfState, isKindWhole, readState } from '../mirror/store/state.ts';
import type { Account, Store } from '../mirror/tables/store.ts';
import { newToken } from '../sends/approve.ts';
import { settleLapsed } from '../sends/settle.ts';
import type { DraftStore } from '../sends/store.ts';
import { whoIs } from '../sends/who.ts';
import type { Event } from './event.ts';
import type { CopyState } from './model.ts';
import { type Reading, shownKinds } from './source.ts';
import { countDrafts } from './texts.ts';

const intervalMs = 15_000;

/** What the copy is kept up to date with, beside what is shown. */
export type Following = {
  readonly following: Context;
  readonly settings: Settings;
  readonly db: string | undefined;
  readonly tell: (event: Event) => void;
  readonly sleep: (ms: number) => Promise<void>;
  readonly noted: (copy: Copy) => Copy;
  readonly close: (store: Store) => Promise<void>;
  readonly reading: () => Promise<Reading>;
  /** The next reading opens the copy once more. */
  readonly reopen: () => void;
  readonly service: () => Promise<Service>;
  readonly drafts: () => Promise<DraftStore>;
};

/** What says nothing about the copy. */
const ofTheService: ReadonlySet<FailureKind> = new Set(['network', 'auth', 'forbidden', 'rate-limited']);

/** Once the queue is shown: what a dead machine left is settled, and the copy is kept up to date beside it. */
export async function follow(opened: Following): Promise<void> {
  const { following, settings, db, tell, sleep, noted, close, reading, reopen, service, drafts } = opened;
  const left = await leftInEditors(following.files).catch((error: unknown) => [wordsOf(error)]);
  for (const told of left) tell({ is: 'told', told, state: 'refused' });
  while (!following.signal.aborted) {
    let own: Store | undefined;
    try {
      const { store: shown, account } = await reading();
      tell({ is: 'copy', copy: await stateOf(shown, account), isNew: false });
      const told = await settleLapsed(await drafts(), { service, by: whoIs(), token: newToken(following) });
      for (const text of told) tell({ is: 'told', told: text, state: 'drafted' });
      const count = () => countDrafts({ writing: { drafts }, tell });
      await count();
      const dated = datedContext(following);
      const pulling = await connect(dated.ctx, settings);
      // Of its own: what is read for the screen never waits behind what a pull writes.
      const { store } = noted(await openCopyToPull(dated.ctx, settings, { db, service: pulling }));
      own = store;
      await keepFresh({
        ...{ ctx: following, dated: { service: pulling, ...dated }, store, account },
        ...{ kinds: shownKinds, intervalMs, sleep },
        told: async ({ isOver, isNew, began }) => {
          if (!isOver) return tell({ is: 'copy', copy: { isPulling: true }, isNew, began });
          const state = stateOf(store, account).catch(() => ({ isWhole: true }));
          // Others write drafts too.
          void count().catch(() => {});
          const { isWhole } = await state;
          const at = following.clock.now().toISOString();
          tell({ is: 'copy', copy: { at, isWhole, isPulling: false, told: undefined }, isNew, began });
        },
      });
    } catch (error) {
      if (following.signal.aborted) return;
      if (own) await close(own);
      // Another svc may have deleted the copy, or put another in its place.
      if (!(error instanceof Failure) || !ofTheService.has(error.kind)) reopen();
      tell({ is: 'copy', copy: { isPulling: false, told: wordsOf(error) }, isNew: false });
      await sleep(intervalMs);
      tell({ is: 'copy', copy: {}, isNew: true });
    }
  }
}

async function stateOf(store: Store, account: Account): Promise<Pick<CopyState, 'at' | 'isWhole'>> {
  return store.read(async (sql) => {
    const times: string[] = [];
    let isWhole = true;
    for (const kind of ['tickets', 'conversations'] as const) {
      const state = await readState(sql, account, kind);
      if (!isKindWhole(state) && !state.isRefused) isWhole = false;
      const asOf = asOfState(state);
      if (asOf !== null) times.push(asOf);
    }
    return { at: times.sort()[0], isWhole };
  });
}
