import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';

export type Problems = ReturnType<typeof problems>;

/** What passes: a network that is away, a limit, a service or a database that fails for a while. */
const passing: readonly Failure['kind'][] = ['network', 'rate-limited', 'failed'];
const longestPauseMs = 300_000;

/** What may pass while somebody watches: each is told once, and waited for. With `once` whoever started it learns of it. */
export function problems({ notice, signal }: Context, { once }: { readonly once: boolean }) {
  let times = 0;
  let what = '';
  return {
    /** False where `work` met something that passes; the next round tries again. */
    async outlive(work: () => Promise<void>): Promise<boolean> {
      try {
        await work();
        return true;
      } catch (error) {
        if (once) throw error;
        if (signal.aborted) return false;
        if (!(error instanceof Failure) || !passing.includes(error.kind) || error.copy?.is === 'damaged') throw error;
        what = error.copy ? 'The database' : 'The service';
        if (times++ === 0) notice(`${error.message} Trying again; nothing that happens meanwhile is lost.`);
        return false;
      }
    },
    isMet: (): boolean => times > 0,
    over(): void {
      if (times > 0) notice(`${what} answers again.`);
      times = 0;
    },
    pauseMs: (intervalMs: number): number =>
      Math.min(intervalMs * 2 ** Math.min(times, 10), Math.max(intervalMs, longestPauseMs)),
  };
}

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
