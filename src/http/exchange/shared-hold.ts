import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { isThere, readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { once } from '../../promise/once.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { fieldsIn } from '../../text/record.ts';

/**
 * One process that is told to wait tells the others on the same token. A small file in the state folder holds the
 * moment by the wall clock, the only clock that processes share. Its name is a hash, so no secret is written. Losing
 * the file costs one more 429, so every error here is ignored: a full disk must not stop a request.
 */
export type SharedHold = ReturnType<typeof sharedHold>;

/** A request does not wait long for its turn to tell the others. */
const longestLockMs = 1_000;

/** Without limits thousands of requests go out in a second, and to look takes a tenth of a request. */
const betweenLooksMs = 50;

/** A moment further ahead keeps nobody. In a file that does not say when it was told, it comes from a clock that was set back. */
const longestHoldMs = 3_600_000;

export function sharedHold(ctx: Pick<Context, 'files' | 'clock'>, baseUrl: string, token: string) {
  const folder = join(ctx.files.state, 'limits');
  const pathOf = once(() => join(folder, `${hexDigestOf(`${new URL(baseUrl).origin}\n${token}`).slice(0, 20)}.json`));

  const read = async (): Promise<number> => {
    try {
      // Where no process was ever told to wait, not even the hash is made: it would load node:crypto at every start.
      if (!(await isThere(folder))) return 0;
      const { until, from } = fieldsIn(JSON.parse((await readIfThere(pathOf())) ?? '{}'));
      const now = ctx.clock.now().getTime();
      // Told later than now: the clock was set back since, and the wait would be longer by as much.
      if (typeof from === 'number' && from > now) return 0;
      return typeof until === 'number' && until > now && until < now + longestHoldMs ? until - now : 0;
    } catch {
      return 0;
    }
  };

  let free = Number.NEGATIVE_INFINITY;
  const leftMs = async (): Promise<number> => {
    const now = ctx.clock.ticks();
    if (now - free < betweenLooksMs) return 0;
    const left = await read();
    if (left === 0) free = now;
    return left;
  };

  return {
    /** For how many milliseconds everybody has to wait from now on; 0 where nobody has to. */
    leftMs,
    async extend(ms: number) {
      free = Number.NEGATIVE_INFINITY;
      try {
        const file = pathOf();
        const { withLock } = await import('../../disk/lock/lock.ts');
        await withLock(`${file}.lock`, { clock: ctx.clock, maxWaitMs: longestLockMs }, async (held) => {
          if ((await read()) >= ms) return;
          held.check();
          const from = ctx.clock.now().getTime();
          await replaceFile(file, JSON.stringify({ from, until: from + ms }));
        });
      } catch {
        // See above.
      }
    },
  };
}
