import { usualSettleMs } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { Sight } from '../../retry/retry.ts';

/** What a look shows: ours, or why nothing is surely ours. */
export type Findings = { readonly found: unknown } | Undecided;

export type Undecided = {
  /** Ids of records that may be ours, or somebody else's. None, and not `isPartial`: surely absent. */
  readonly candidates: readonly number[];
  /**
   * Why none of them is taken: `in part`, not every field agrees; `several`, more agree than were sent; `older`, they
   * may have been there before; `not all`, the list leaves out others; `useless`, a secret that was shown once is lost.
   */
  readonly because?: 'in part' | 'several' | 'older' | 'not all' | 'useless';
  /** Not all could be looked at. */
  readonly isPartial?: boolean;
  /** What to do with the candidates; then looking longer changes nothing. */
  readonly advice?: string;
};

/** Looks once; each read waits out limits and repeats for `maxWaitMs` (default: --max-wait). Throws where it cannot look. */
export type Look = (maxWaitMs?: number) => Promise<Findings>;

export type Looked = {
  readonly findings: Findings;
  readonly ms: number;
  /** Why the last look did not succeed. */
  readonly trouble?: Failure;
};

const pauses = [500, 1000, 2000, 4000, 8000];

/** The last look may repeat its reads too. */
const lastLookMs = 5_000;

/** Where the service refuses to show it, looking again does not help. */
const hopeless: readonly Failure['kind'][] = ['auth', 'forbidden', 'usage'];

/** How far lists may lag behind: they may come from a copy or a cache. */
const lagMs = 5_000;

/**
 * After the service's own 500 nothing is on its way any more, but what is not seen then is sent again. So nobody shortens
 * that look, and who asks for a longer one than is usual gets it.
 */
export function lookMs(after: Sight['after'], settleMs: number): number {
  if (after === 'settled') return settleMs > usualSettleMs ? settleMs : lagMs;
  return after === 'final' ? 0 : settleMs;
}

/**
 * Looks for what a request made whose outcome is not known: at once, then again with growing pauses until `settleMs`
 * have passed, for the request may be late. The last look is at the very end. Ends early when the run is interrupted.
 */
export async function lookUntilSettled(ctx: Context, look: Look, settleMs: number, why: string): Promise<Looked> {
  ctx.progress(settleMs > 0 ? `${why}, for up to ${Math.ceil(settleMs / 1000)} s` : why, 'look');
  try {
    return await lookAgainAndAgain(ctx, look, settleMs);
  } finally {
    ctx.progress(undefined, 'look');
  }
}

async function lookAgainAndAgain({ clock, signal }: Context, look: Look, settleMs: number): Promise<Looked> {
  const began = clock.ticks();
  let looked: Looked = { findings: { candidates: [] }, ms: 0 };
  for (let round = 0; ; round++) {
    const leftMs = Math.max(0, settleMs - (clock.ticks() - began));
    looked = await lookOnce(look, settleMs === 0 ? undefined : Math.max(leftMs, lastLookMs), looked);
    looked = { ...looked, ms: Math.max(0, clock.ticks() - began) };
    const isOver = leftMs === 0 || signal.aborted || (looked.trouble && hopeless.includes(looked.trouble.kind));
    if (isOver || 'found' in looked.findings || looked.findings.advice) return looked;
    const pauseMs = pauses[Math.min(round, pauses.length - 1)] ?? 0;
    await clock.sleep(Math.min(pauseMs, Math.max(0, settleMs - looked.ms)), signal);
  }
}

async function lookOnce(look: Look, maxWaitMs: number | undefined, before: Looked): Promise<Looked> {
  try {
    return { findings: await look(maxWaitMs), ms: before.ms };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { ...before, trouble: failure };
  }
}
