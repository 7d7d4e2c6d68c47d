import { Failure, interruption } from '../errors.ts';
import { type KindName, kindNames, kindOf } from './kinds.ts';
import { pullLists } from './lists.ts';
import { owned, ownerOf } from './owner.ts';
import { type Pulling, tallyOf } from './pulling.ts';
import { rescan } from './rescan.ts';
import { readState } from './state.ts';
import type { Sql } from './store.ts';
import { pullKind } from './sweep.ts';

type KindReport = {
  readonly kind: KindName;
  /** How many the account has now, as far as the copy knows. */
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly gone: number;
  readonly complete: boolean;
  /** Why the service refused it: a module that is off, a scope that is missing. */
  readonly refused: string | null;
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
  const { ctx, store, account, service } = pulling;
  const start = ctx.clock.ticks();
  const all = async (check: () => void): Promise<boolean> => {
    pulling.turn.check = check;
    try {
      for (const name of await inOrder(pulling)) await withoutRefusal(pulling, name);
      await rescan(pulling);
      return false;
    } catch (error) {
      if (error === pulling.stop) return true;
      if (ctx.signal.aborted) {
        throw interruption(ctx.signal, 'Interrupted.', 'What was read is kept. To go on: svc mirror pull');
      }
      throw error;
    } finally {
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

/** A 403 is of that kind alone: it is named, and the rest is pulled. */
async function withoutRefusal(pulling: Pulling, name: KindName): Promise<void> {
  try {
    const { members } = kindOf(name);
    await (members ? pullLists(pulling, name, members) : pullKind(pulling, name));
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'forbidden') throw error;
    tallyOf(pulling, name).refused = error.message;
    pulling.ctx.notice(`Not pulled: ${name}. ${error.message}`);
  }
}

const reports = ({ store, account, wishes, tally }: Pulling): Promise<KindReport[]> =>
  store.read(async (sql) => {
    const all: KindReport[] = [];
    for (const kind of wishes.only) {
      const { created = 0, updated = 0, gone = 0, refused = null } = tally.get(kind) ?? {};
      const { complete } = await readState(sql, account, kind);
      all.push({ kind, rows: await countOf(sql, kind), created, updated, gone, complete, refused });
    }
    return all;

    async function countOf(from: Sql, kind: KindName): Promise<number> {
      const [row] = await from.all(
        `SELECT count(*) AS n FROM ${kind} WHERE ${owned} AND gone_at IS NULL`,
        ownerOf(account),
      );
      return Number(row?.n);
    }
  });
