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
      const now = clock.now().toISOString();
      const lines = ((await readIfThere(path)) ?? '').split('\n').filter((line) => line !== '');
      // What cannot be read may be a send of just now.
      const times = lines.map((line) => (Number.isNaN(Date.parse(line)) ? now : line));
      const recent = times.filter((line) => Date.parse(line) > since);
      const isRoom = recent.length < most;
      held.check();
      await replaceFile(path, (isRoom ? [...recent, now] : recent).map((line) => `${line}\n`).join(''));
      return isRoom;
    },
  );
}
