import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import * as limiter from './limiter.ts';
import type { SharedHold } from './shared-hold.ts';

/** Where requests of one token wait for their turn, in this process and, by the shared hold, across processes. */
export type Gate = ReturnType<typeof createGate>;

/** Each pass is given back in exactly one of three ways. */
export type Pass = {
  /** Whether any request of the token was taken since the last refusal. */
  progressed(): boolean;
  answered(remaining: number | undefined): void;
  refused(afterMs: number): Promise<void>;
  lost(): void;
};

/** Why a wait for the service's limit is told. */
export const limitReached = 'Rate limit reached';

type Ports = Pick<Context, 'clock' | 'progress' | 'notice' | 'signal' | 'limitWait'>;

export function createGate(ctx: Ports, shared: SharedHold) {
  const state = limiter.newLimiter();
  let queue: (() => void)[] = [];
  const now = () => ctx.clock.ticks();
  const wake = () => {
    const waiting = queue;
    queue = [];
    for (const resume of waiting) resume();
  };

  /** Resolves when the request may start. Throws rate-limited where that would outlast `deadline`, in the clock's ticks. */
  async function enter({ ownLimit, deadline }: { ownLimit?: number; deadline: number }): Promise<Pass> {
    const heldMs = await shared.leftMs();
    if (heldMs > 0) limiter.hold(state, now() + heldMs);
    for (;;) {
      if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted while waiting; this request was not sent.');
      const may = limiter.mayStart(state, now(), ownLimit);
      if (may === 'go') break;
      if (may === 'turn') await new Promise<void>((resume) => queue.push(resume));
      else if (now() + may > deadline) throw outlasted(may);
      else await countdown(ctx, may, limitReached);
    }
    return passFor(limiter.started(state, now(), ownLimit));
  }

  const passFor = (ticket: limiter.Ticket): Pass => ({
    progressed: () => state.successes > 0,
    answered(remaining) {
      limiter.answered(state, ticket, remaining);
      wake();
    },
    async refused(afterMs) {
      limiter.refused(state, now(), afterMs);
      wake();
      await shared.extend(state.holdUntil - now());
    },
    lost() {
      limiter.lost(state);
      wake();
    },
  });

  return { enter };
}

/** `ms`: a wait that is longer by itself; undefined where it is the sum of several. */
export const outlasted = (ms: number | undefined): Failure =>
  new Failure(
    'rate-limited',
    ms === undefined
      ? 'The rate limit did not end within --max-wait.'
      : `The rate limit asks for a wait of ${seconds(ms)}, longer than --max-wait allows.`,
    { status: 429, hint: 'Wait, or give --max-wait SECONDS.' },
  );

/** Sleeps, counting down on a terminal. Ends early when the run is interrupted. */
export async function countdown(ctx: Ports, ms: number, why: string): Promise<void> {
  const end = ctx.clock.ticks() + ms;
  if (ms < 1000) return ctx.clock.sleep(ms, ctx.signal);
  for (;;) {
    const left = end - ctx.clock.ticks();
    if (left <= 0 || ctx.signal.aborted) break;
    ctx.progress((why === limitReached && ctx.limitWait?.(left)) || `${why}; continuing in ${seconds(left)}`);
    await ctx.clock.sleep(Math.min(left, 1000), ctx.signal);
  }
  ctx.progress(undefined);
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
