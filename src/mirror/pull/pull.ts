import { Failure, interruption } from '../../errors.ts';
import { indexUnresolved } from '../store/open-index.ts';
import { isKindWhole, type KindState, readState, saveState } from '../store/state.ts';
import { livingCount } from '../store/status.ts';
import { type KindName, kindNames, kindOf } from '../tables/kinds.ts';
import { readOutdated } from './ask-failing.ts';
import { tellFailing } from './failing.ts';
import { beginFirst } from './first.ts';
import { pullLists } from './lists.ts';
import { isOfOne, notWhole, type Pulling, type Tally, tallyOf } from './pulling.ts';
import { rescan } from './rescan.ts';
import { pullKind } from './sweep.ts';

type KindReport = Readonly<Pick<Tally, 'created' | 'updated' | 'gone'>> & {
  readonly kind: KindName;
  /** How many the account has now, as far as the copy knows. */
  readonly rows: number;
  readonly complete: boolean;
  /** Why the service refused it: a module that is off, a scope that is missing. */
  readonly refused: string | null;
  /** Why this pull could not read it whole; the next one tries again. */
  readonly doubt: string | null;
};

export type PullReport = {
  readonly kinds: readonly KindReport[];
  readonly requests: number;
  readonly duration_ms: number;
  /** `--max-requests` were used up. */
  readonly stopped: boolean;
};

/** Reads what is new into the copy. Whatever ends it early, what was read is kept, and the next pull goes on there. */
export async function pull(pulling: Pulling): Promise<PullReport> {
  const { ctx, store, account, service, wishes } = pulling;
  const start = ctx.clock.ticks();
  const all = async (check: () => void): Promise<boolean> => {
    pulling.turn.check = check;
    try {
      await indexUnresolved(store);
      const guarded = (name: KindName, work: () => Promise<void>) => apart(pulling, name, work);
      // A request at least for each kind, whatever there is.
      for (const name of wishes.only) pulling.left.set(name, 1);
      await beginFirst(pulling, guarded);
      for (const name of await inOrder(pulling)) {
        await guarded(name, () => readKind(pulling, name));
        pulling.left.set(name, 0);
      }
      for (const [name, { refused }] of [...pulling.tally])
        if (refused === undefined) await readOutdated(pulling, name);
      await rescan(pulling, guarded);
      for (const name of kindNames) await tellFailing(pulling, name);
      await countRows(pulling);
      return false;
    } catch (error) {
      if (error === pulling.stop) return true;
      if (ctx.signal.aborted) {
        throw interruption(ctx.signal, 'Interrupted.', 'What was read is kept. To go on: svc mirror pull');
      }
      throw error;
    } finally {
      ctx.progress(undefined, 'work');
      ctx.progress(undefined);
      await pulling.writer.done().catch(() => {});
    }
  };
  const stopped = await store.alone(account, all, service.settings.maxWaitMs);
  return {
    kinds: await reports(pulling),
    requests: pulling.requests(),
    duration_ms: Math.round(ctx.clock.ticks() - start),
    stopped,
  };
}

/** With so many changes a database that counts its rows now and then should count them now. */
const manyRows = 200;

/** Never an error: what the database knows of its rows is no part of the copy. */
async function countRows({ writer, store, tally }: Pulling): Promise<void> {
  await writer.done();
  const changed = [...tally.values()].reduce((sum, one) => sum + one.created + one.updated + one.gone, 0);
  if (changed >= manyRows) await store.analyze().catch(() => {});
}

/** Those that were finished longest ago first, so that a small --max-requests gets through all of them in the end. */
async function inOrder({ store, account, wishes }: Pulling): Promise<KindName[]> {
  if (wishes.maxRequests === undefined) return kindNames.filter((name) => wishes.only.includes(name));
  const finished = await store.read(async (sql) => {
    const times = new Map<KindName, string>();
    for (const name of wishes.only) times.set(name, (await readState(sql, account, name)).finishedAt ?? '');
    return times;
  });
  return [...wishes.only].sort((a, b) => ((finished.get(a) ?? '') < (finished.get(b) ?? '') ? -1 : 1));
}

const readKind = (pulling: Pulling, name: KindName): Promise<void> => {
  const { members } = kindOf(name);
  return members ? pullLists(pulling, name, members) : pullKind(pulling, name);
};

/**
 * A refused list, one at which the service fails, and an answer that cannot be trusted are of that kind alone: it is named, and
 * the rest is pulled. A service that fails at the first two lists is in trouble.
 */
async function apart(pulling: Pulling, name: KindName, work: () => Promise<void>): Promise<void> {
  const tally = tallyOf(pulling, name);
  const asked = pulling.requests();
  if (tally.refused !== undefined || tally.doubt !== undefined) return;
  try {
    await work();
    if (pulling.requests() > asked) pulling.answered.add(name);
  } catch (error) {
    if (!(error instanceof Failure) || error === pulling.stop) throw error;
    if (error.kind === 'partial' || isOfList(pulling, error)) {
      if (error.kind !== 'partial') {
        pulling.broken.add(name);
        pulling.answered.delete(name);
      }
      notWhole(pulling, name, error.message);
      return note(pulling, name, { isDoubted: true });
    }
    if (error.kind !== 'forbidden') throw error;
    tally.refused = error.message;
    pulling.ctx.notice(`Not pulled: ${name}. ${error.message}`);
    await note(pulling, name, { isRefused: true });
  }
}

const note = ({ writer, account }: Pulling, name: KindName, noted: Partial<KindState>): Promise<void> =>
  writer.write(async (sql) => {
    const state = await readState(sql, account, name);
    // What was never read whole is not whole anyhow, and no copy begins with a failure.
    if (state.complete || noted.isRefused) await saveState(sql, account, name, { ...state, ...noted });
  });

/** Whether the service fails at one list, and not at the first two. Whoever pulls often waits until it answers again. */
function isOfList(pulling: Pulling, error: Failure): boolean {
  const { wishes, broken, answered } = pulling;
  if (error.kind === 'forbidden' || wishes.isOften || wishes.only.length === 1) return false;
  const isOnly = (error.kind === 'not-found' && !error.isStranger) || isOfOne(pulling, error);
  return isOnly && (broken.size === 0 || answered.size > 0);
}

const reports = ({ store, account, wishes, tally }: Pulling): Promise<KindReport[]> =>
  store.read(async (sql) => {
    const all: KindReport[] = [];
    for (const kind of wishes.only) {
      const { created = 0, updated = 0, gone = 0, refused = null, doubt = null } = tally.get(kind) ?? {};
      const complete = refused === null && isKindWhole(await readState(sql, account, kind));
      const rows = await livingCount(sql, account, kind);
      all.push({ kind, rows, created, updated, gone, complete, refused, doubt });
    }
    return all;
  });
