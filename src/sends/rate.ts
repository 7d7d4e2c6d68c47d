import { join } from 'node:path';
import type { Context } from '../context.ts';
import { readIfThere, replaceFile } from '../disk/atomic-file.ts';
import { withLock } from '../disk/lock.ts';

const hourMs = 60 * 60 * 1000;

/** Whether less than so many were sent within the hour, by all processes that share the state folder. Counts this one. */
export async function hasRoom(ctx: Context, most: number): Promise<boolean> {
  const folder = join(ctx.files.state, 'sends');
  const path = join(folder, 'last-hour');
  const { clock, signal, progress, notice } = ctx;
  return withLock(
    join(folder, 'lock'),
    { clock, signal, progress, notice, what: 'the count of sends' },
    async (held) => {
      const since = clock.now().getTime() - hourMs;
      const times = ((await readIfThere(path)) ?? '')
        .split('\n')
        .filter((line) => line !== '' && Date.parse(line) > since);
      if (times.length >= most) return false;
      held.check();
      await replaceFile(path, [...times, clock.now().toISOString()].map((line) => `${line}\n`).join(''));
      return true;
    },
  );
}
