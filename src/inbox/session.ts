import type { Settings } from '../config/settings.ts';
import { type Context, withContext } from '../context.ts';
import { Failure, type FailureKind, wordsOf } from '../errors.ts';
import { connect, type Service } from '../http/call.ts';
import { keepFresh } from '../mirror/pull/keep-fresh.ts';
import { datedContext } from '../mirror/pull/pulling.ts';
import { type Copy, openCopyPulled, openCopyToPull } from '../mirror/store/open-copy.ts';
import { isNoCopy } from '../mirror/store/place.ts';
import { readState } from '../mirror/store/state.ts';
import type { Account, Store } from '../mirror/tables/store.ts';
import { newToken } from '../sends/approve.ts';
import { ownDrafts } from '../sends/own.ts';
import { holdNow } from '../sends/set-now.ts';
import { settleLapsed } from '../sends/settle.ts';
import { type DraftStore, openDrafts } from '../sends/store.ts';
import { whoIs } from '../sends/who.ts';
import type { Event } from './event.ts';
import { onceDone, openStores } from './open-once.ts';
import { momentText } from './snoozing.ts';
import type { Reading } from './source.ts';
import { countDrafts } from './texts.ts';
import type { Writing } from './writes.ts';

export type Given = { readonly ctx: Context; readonly settings: Settings; readonly db: string | undefined };

/** What the inbox has open: the copy, the login and the drafts, each from when it is first needed. */
export type Session = {
  readonly reading: () => Promise<Reading>;
  readonly writing: Writing;
  /** Asks for what is new now. */
  readonly poke: () => void;
  /** Keeps the copy up to date until `end`; tells what happens. */
  readonly follow: () => Promise<void>;
  readonly end: () => Promise<void>;
};

const intervalMs = 15_000;
const kinds = ['tickets', 'conversations', 'feedback'] as const;

export function openSession({ ctx, settings, db }: Given, tell: (event: Event) => void): Session {
  const own = new AbortController();
  const quiet = quietContext(ctx, tell);
  const following = withContext(quiet, {
    signal: AbortSignal.any([ctx.signal, own.signal]),
    progress: progressTo(tell),
  });
  const { noted, close, closeAll } = openStores();
  const service = onceDone(() => connect(quiet, settings));
  const drafts = onceDone(async () => ownDrafts(await openDrafts(quiet, settings.drafts), service));
  const opened = async (): Promise<Copy> => {
    try {
      return await openCopyPulled(quiet, settings, db);
    } catch (error) {
      if (!isNoCopy(error)) throw error;
      tell({ is: 'copy', copy: { isWhole: false, told: 'Reading the account for the first time' }, isNew: false });
      return openCopyToPull(following, settings, { db, service: await service() });
    }
  };
  let before: Store | undefined;
  const copy = onceDone(async () => {
    const next = noted(await opened());
    // Whoever read the one of before has had its answer. Another may be opened while it closes.
    const old = before;
    before = next.store;
    if (old) await close(old);
    return next;
  });
  const nap = interruptible(ctx);
  let account: number | null = null;
  const reading = async (): Promise<Reading> => {
    const { store, account: whose } = await copy();
    account = /^\d+$/u.test(whose.id) ? Number(whose.id) : null;
    const all = async () => (await drafts()).list();
    return { ctx: following, settings, db, store, account: whose, drafts: all, shown: momentText };
  };
  const writing: Writing = {
    service,
    drafts,
    get account() {
      return account;
    },
    holdMs: () => holdNow(ctx, settings),
  };
  return {
    reading,
    writing,
    poke: nap.wake,
    follow: () =>
      follow({
        following,
        settings,
        db,
        tell,
        sleep: nap.sleep,
        noted,
        close,
        reading,
        reopen: copy.again,
        service,
        drafts,
      }),
    async end() {
      own.abort('SIGTERM');
      nap.wake();
      await closeAll();
      const kept = drafts.known();
      await (await kept?.catch(() => undefined))?.close().catch(() => {});
    },
  };
}

type Following = {
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
async function follow({
  following,
  settings,
  db,
  tell,
  sleep,
  noted,
  close,
  reading,
  reopen,
  service,
  drafts,
}: Following): Promise<void> {
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
        ...{ ctx: following, dated: { service: pulling, ...dated }, store, account, kinds, intervalMs, sleep },
        told: ({ isOver, isNew, began }) => {
          void toldOf({ store, account, isOver, isNew, began, tell, following });
          // Others write drafts too.
          if (isOver) void count().catch(() => {});
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

type Round = {
  readonly store: Store;
  readonly account: Account;
  readonly isOver: boolean;
  readonly isNew: boolean;
  readonly began: number;
  readonly tell: (event: Event) => void;
  readonly following: Context;
};

async function toldOf({ store, account, isOver, isNew, began, tell, following }: Round): Promise<void> {
  if (!isOver) return tell({ is: 'copy', copy: { isPulling: true }, isNew, began });
  const { isWhole } = await stateOf(store, account).catch(() => ({ isWhole: true }));
  const at = following.clock.now().toISOString();
  tell({ is: 'copy', copy: { at, isWhole, isPulling: false, told: undefined }, isNew, began });
}

async function stateOf(
  store: Store,
  account: Account,
): Promise<{ readonly at: string | undefined; readonly isWhole: boolean }> {
  return store.read(async (sql) => {
    const times: string[] = [];
    let isWhole = true;
    for (const kind of ['tickets', 'conversations'] as const) {
      const { complete, isRefused, finishedAt } = await readState(sql, account, kind);
      if (!complete && !isRefused) isWhole = false;
      if (finishedAt !== null) times.push(finishedAt);
    }
    return { at: times.sort()[0], isWhole };
  });
}

/** Nothing in the background may write on the terminal or ask there. */
function quietContext(ctx: Context, tell: (event: Event) => void): Context {
  const exchange: Context['exchange'] = async (request) => {
    const answer = await ctx.exchange(request);
    const left = 'status' in answer ? Number.parseInt(answer.headers['x-ratelimit-remaining'] ?? '', 10) : Number.NaN;
    if (!Number.isNaN(left)) tell({ is: 'left', left });
    return answer;
  };
  const ask: Context['ask'] = Object.create(ctx.ask, { canAsk: { value: false } });
  return withContext(ctx, {
    exchange,
    ask,
    progress: () => {},
    notice: (text) => tell({ is: 'copy', copy: { told: text }, isNew: false }),
  });
}

/** How far a reading is, at most once a second. */
function progressTo(tell: (event: Event) => void): Context['progress'] {
  let said = '';
  let at = 0;
  return (text, doing) => {
    const now = performance.now();
    if (text === undefined || doing === 'request' || text === said || now - at < 1000) return;
    [said, at] = [text, now];
    tell({ is: 'copy', copy: { told: text }, isNew: true });
  };
}

/** A sleep that somebody may end. */
function interruptible({ clock, signal }: Context) {
  let end: (() => void) | undefined;
  return {
    wake: () => end?.(),
    async sleep(ms: number): Promise<void> {
      const woken = new AbortController();
      end = () => woken.abort();
      await clock.sleep(ms, AbortSignal.any([signal, woken.signal]));
      end = undefined;
    },
  };
}
