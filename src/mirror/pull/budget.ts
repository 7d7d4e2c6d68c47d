import type { Context } from '../../context.ts';
import { countdown, limitReached } from '../../http/exchange/gate.ts';
import { requestsPerMinute } from '../../http/exchange/limiter.ts';

/** A pull may take hours: so many requests of each minute it leaves to the other commands of the same login. */
const leftToOthers = 6;

/** What a long pull sends in a minute. */
export const pulledPerMinute = requestsPerMinute - leftToOthers;

/** Records of a list in one request. */
export const perPage = 100;

const minute = 60_000;

/**
 * The service does not tell when its minute began: it is over a minute after the first answer of it at the latest. A header
 * that says the same after the wait is not believed again until it says more.
 */
export function leaveRoom(ctx: Context, maxWaitMs: number | undefined) {
  let remaining = Number.POSITIVE_INFINITY;
  let began = ctx.clock.ticks();
  let isBelieved = true;
  let waiting: Promise<void> | undefined;
  const over = async (ms: number) => {
    await countdown(ctx, ms, limitReached);
    remaining = Number.POSITIVE_INFINITY;
    began = ctx.clock.ticks();
    isBelieved = false;
    waiting = undefined;
  };
  return {
    /** What an answer says is left of the minute; NaN where it does not. */
    see(said: number): void {
      if (Number.isNaN(said)) return;
      if (said > leftToOthers) isBelieved = true;
      // Answers may come out of their order: only what is much more is a new minute.
      if (said > remaining + leftToOthers) began = ctx.clock.ticks();
      remaining = said;
    },
    /**
     * A wait until the minute is over, where too little of it is left beside the requests that have no answer yet, and
     * `needed` are more than that; undefined where the next request may go.
     */
    wait(needed: number, inFlight: number): Promise<void> | undefined {
      if (waiting) return waiting;
      if (!isBelieved || remaining - inFlight > leftToOthers || needed <= remaining) return undefined;
      const ms = began + minute - ctx.clock.ticks();
      if (ms <= 0 || ms > (maxWaitMs ?? minute)) return undefined;
      waiting = over(ms);
      return waiting;
    },
  };
}
