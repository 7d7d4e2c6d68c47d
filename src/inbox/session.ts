import type { Settings } from '../config/settings.ts';
import { type Context, type Lost, withContext } from '../context.ts';
import { type Copy, openCopyPulled, openCopyToPull } from '../mirror/store/open-copy.ts';
import { isNoCopy } from '../mirror/store/place.ts';
import type { Store } from '../mirror/tables/store.ts';
import { onceDone } from '../promise/once.ts';
import type { Event } from './event.ts';
import { momentText } from './moment.ts';
import { idOf } from './row.ts';
import type { Reading } from './source.ts';
import type { World } from './world-ports.ts';
import type { Writing } from './writes.ts';

type Given = { readonly ctx: Context; readonly settings: Settings; readonly db: string | undefined };

/** What the inbox has open: the copy, the login and the drafts, each from when it is first needed. */
export function openSession({ ctx, settings, db }: Given, tell: (event: Event) => void) {
  const own = new AbortController();
  const quiet = quietContext(ctx, tell);
  const following = withContext(quiet, {
    signal: AbortSignal.any([ctx.signal, own.signal]),
    progress: progressTo(tell),
  });
  const { noted, close, closeAll } = openStores();
  const service = onceDone(async () => (await import('../http/call/call.ts')).connect(quiet, settings));
  const drafts = onceDone(async () => {
    const [{ ownDrafts }, { openDrafts }] = await Promise.all([import('../sends/own.ts'), import('../sends/store.ts')]);
    return ownDrafts(await openDrafts(quiet, settings.drafts), service, async () => idOf((await copy()).account));
  });
  const opened = async (): Promise<Copy> => {
    try {
      return await openCopyPulled(quiet, settings, { db });
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
  const unfinished = new Set<Promise<void>>();
  const outlast = (work: Promise<void>) => {
    unfinished.add(work);
    void work.finally(() => unfinished.delete(work));
  };
  let account: number | null = null;
  const reading = async (): Promise<Reading> => {
    const { store, account: whose } = await copy();
    account = idOf(whose) ?? null;
    const all = async () => (await drafts()).list();
    return { ctx: following, settings, db, store, account: whose, drafts: all, shown: momentText };
  };
  const writing: Writing = {
    service,
    drafts,
    get account() {
      return account;
    },
    holdMs: async () => (await import('../sends/set-now.ts')).holdNow(ctx, settings),
  };
  const world: Omit<World, 'editing' | 'copyText' | 'suspend' | 'end'> = {
    ...{ reading, writing, tell, pull: nap.wake, outlast },
    mode: async () => (await ctx.sends?.mode()) ?? 'allow',
  };
  return {
    world,
    /** Keeps the copy up to date until `end`; tells what happens. */
    follow: async () =>
      (await import('./follow.ts')).follow({
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
    async end(): Promise<void> {
      own.abort('SIGTERM');
      nap.wake();
      await Promise.all(unfinished);
      await closeAll();
      const kept = drafts.known();
      await (await kept?.catch(() => undefined))?.close().catch(() => {});
    },
  };
}

/** How an exchange is lost that says nothing about whether the service is there. */
const saysNothing: ReadonlySet<Lost['reason']> = new Set(['aborted', 'too-large', 'unreadable']);

/** Nothing in the background may write on the terminal or ask there. */
function quietContext(ctx: Context, tell: (event: Event) => void): Context {
  let wasSilent = false;
  const exchange: Context['exchange'] = async (request) => {
    const answer = await ctx.exchange(request);
    const left = 'status' in answer ? Number.parseInt(answer.headers['x-ratelimit-remaining'] ?? '', 10) : Number.NaN;
    const isSilent = 'lost' in answer && !saysNothing.has(answer.reason);
    if (!Number.isNaN(left)) tell({ is: 'left', left });
    else if (isSilent) tell({ is: 'left', left: 'no answer' });
    else if ('status' in answer && wasSilent) tell({ is: 'left', left: undefined });
    wasSilent = isSilent;
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

/** What is open of the copy: each is closed once, however long an error lasts. */
function openStores() {
  const stores = new Set<Store>();
  let isOver = false;
  const close = async (store: Store): Promise<void> => {
    if (stores.delete(store)) await store.close().catch(() => {});
  };
  return {
    close,
    noted(copy: Copy): Copy {
      stores.add(copy.store);
      // It was being opened while everything was closed.
      if (isOver) void close(copy.store);
      return copy;
    },
    closeAll: async () => {
      isOver = true;
      await Promise.all([...stores].map(close));
    },
  };
}
