import type { Context } from '../../context.ts';
import type { Copy } from '../store/open-copy.ts';
import { readState } from '../store/state.ts';
import type { KindName } from '../tables/kinds.ts';
import { owned, ownerOf } from '../tables/store.ts';
import { clocks, problems, tellSleep } from './problems.ts';
import { pull } from './pull.ts';
import { type Dated, often, preparePull } from './pulling.ts';

export type Keeping = Copy & {
  readonly ctx: Context;
  readonly dated: Dated;
  readonly kinds: readonly KindName[];
  readonly intervalMs: number;
  /** Resolves early where somebody wants to know now. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Before and after each round. `isNew`: the copy holds something that it did not hold before. */
  readonly told: (round: { readonly isOver: boolean; readonly isNew: boolean; readonly began: number }) => void;
};

/**
 * Keeps the copy up to date until the run is told to end, by the rules of `svc watch`; kinds that were never read whole are
 * read first, the unresolved before all others.
 */
export async function keepFresh(keeping: Keeping): Promise<void> {
  const { ctx, intervalMs, told } = keeping;
  const problem = problems(ctx, { once: false });
  let slept = clocks(ctx);
  let version = await versionOf(keeping).catch(() => '');
  while (!ctx.signal.aborted) {
    const began = ctx.clock.now().getTime();
    told({ isOver: false, isNew: false, began });
    const isFine = await problem.outlive(() => round(keeping));
    if (isFine) problem.over();
    // Another process may have pulled meanwhile.
    const now = await versionOf(keeping).catch(() => version);
    told({ isOver: isFine, isNew: now !== version, began });
    version = now;
    await keeping.sleep(problem.isMet() ? problem.pauseMs(intervalMs) : intervalMs);
    slept = tellSleep(ctx, slept);
  }
}

async function round({ dated, store, account, kinds }: Keeping): Promise<void> {
  const isWhole = await store.read(async (sql) => {
    for (const kind of kinds) {
      const { complete, isRefused } = await readState(sql, account, kind);
      if (!complete && !isRefused) return false;
    }
    return true;
  });
  const wishes = { ...often, only: kinds, follow: false, ...(!isWhole && { rescan: 0 }) };
  await pull(preparePull(dated, { store, account, wishes }));
}

/** Other whenever a pull has changed something that a queue shows. */
const versionOf = ({ store, account, kinds }: Keeping): Promise<string> =>
  store.read(async (sql) => {
    const [change] = await sql.all(`SELECT max(seq) AS seq FROM changes WHERE ${owned}`, ownerOf(account));
    const counts: unknown[] = [];
    for (const kind of kinds) {
      const { complete, sweep } = await readState(sql, account, kind);
      counts.push(complete, sweep?.page);
    }
    return JSON.stringify([change?.seq, ...counts]);
  });
