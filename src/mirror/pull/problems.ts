import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';

/** What may pass while somebody watches: each is told once, and waited for. */
export type Problems = {
  /** False where `work` met something that passes; the next round tries again. */
  outlive(work: () => Promise<void>): Promise<boolean>;
  isMet(): boolean;
  over(): void;
  pauseMs(intervalMs: number): number;
};

/** What passes: a network that is away, a limit, a service or a database that fails for a while. */
const passing: readonly Failure['kind'][] = ['network', 'rate-limited', 'failed'];
const longestPauseMs = 300_000;

export function problems({ notice, signal }: Context): Problems {
  let times = 0;
  let what = '';
  return {
    async outlive(work) {
      try {
        await work();
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof Failure) || !passing.includes(error.kind) || error.copy?.is === 'damaged') throw error;
        what = error.copy ? 'The database' : 'The service';
        if (times++ === 0) notice(`${error.message} Trying again; nothing that happens meanwhile is lost.`);
        return false;
      }
    },
    isMet: () => times > 0,
    over() {
      if (times > 0) notice(`${what} answers again.`);
      times = 0;
    },
    pauseMs: (intervalMs) => Math.min(intervalMs * 2 ** Math.min(times, 10), Math.max(intervalMs, longestPauseMs)),
  };
}

/** The same for a run that is not to wait: whoever started it learns of the failure. */
export const noPatience: Problems = {
  async outlive(work) {
    await work();
    return true;
  },
  isMet: () => false,
  over: () => {},
  pauseMs: (intervalMs) => intervalMs,
};

type Clocks = { readonly wall: number; readonly ticks: number };

export const clocks = ({ clock }: Context): Clocks => ({ wall: clock.now().getTime(), ticks: clock.ticks() });

/** The wall clock runs on while the machine sleeps, the other does not. */
export function tellSleep(ctx: Context, before: Clocks): Clocks {
  const now = clocks(ctx);
  const sleptMs = now.wall - before.wall - (now.ticks - before.ticks);
  if (sleptMs > 60_000)
    ctx.notice(`The machine slept for ${Math.round(sleptMs / 60_000)} min; looking for what happened.`);
  return now;
}
