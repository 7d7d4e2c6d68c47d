import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { readIfThere, replaceFile } from '../disk/atomic-file.ts';
import { withLock } from '../disk/lock.ts';

/**
 * One process that is told to wait tells the others on the same token. A small file in the state folder holds the
 * moment; its name is a hash, so no secret is written. Losing the file costs one more 429, so every error here is
 * ignored: a full disk must not stop a request.
 */
export type SharedHold = {
  read(): Promise<number>;
  extend(until: number): Promise<void>;
};

const longestHoldMs = 3_600_000;

export function sharedHold(ctx: Pick<Context, 'files' | 'clock'>, baseUrl: string, token: string): SharedHold {
  const name = createHash('sha256')
    .update(`${new URL(baseUrl).origin}\n${token}`)
    .digest('hex')
    .slice(0, 20);
  const path = join(ctx.files.state, 'limits', `${name}.json`);
  const read = async (): Promise<number> => {
    try {
      const { until } = JSON.parse((await readIfThere(path)) ?? '{}') as { until?: unknown };
      // A moment far ahead comes from a clock that was set back, not from a rate limit.
      return typeof until === 'number' && until < ctx.clock.now().getTime() + longestHoldMs ? until : 0;
    } catch {
      return 0;
    }
  };
  return {
    read,
    async extend(until) {
      try {
        await withLock(`${path}.lock`, ctx, async () => {
          if ((await read()) < until) await replaceFile(path, JSON.stringify({ until }));
        });
      } catch {
        // See above.
      }
    },
  };
}
