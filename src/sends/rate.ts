import { join } from 'node:path';
import type { Context } from '../context.ts';
import { readIfThere, replaceFile } from '../disk/file/atomic-file.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { waitingFor, withLock } from '../disk/lock/lock.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';

const hourMs = 60 * 60 * 1000;

/**
 * Whether less than so many were counted within the hour, by all processes that share the state folder; then when this one is.
 * `before`: when it was, where it had to wait since: its hour begins as it is sent.
 */
export async function countSend(ctx: Context, most: number, before?: string): Promise<string | undefined> {
  let counted: string | undefined;
  await changed(ctx, (recent, now) => {
    const others = without(recent, before);
    if (others.length >= most) return others;
    counted = now;
    return [...others, now];
  });
  return counted;
}

/** It was not sent after all. */
export const uncountSend = (ctx: Context, counted: string): Promise<void> =>
  changed(ctx, (recent) => without(recent, counted));

const without = (recent: string[], counted: string | undefined): string[] =>
  counted === undefined ? recent : recent.toSpliced(recent.lastIndexOf(counted), recent.includes(counted) ? 1 : 0);

async function changed(ctx: Context, change: (recent: string[], now: string) => string[]): Promise<void> {
  const folder = join(ctx.files.state, 'sends');
  const path = join(folder, 'last-hour');
  const { clock } = ctx;
  await withLock(join(folder, 'lock'), waitingFor(ctx, 'the count of sends'), async (held) => {
    const since = clock.now().getTime() - hourMs;
    const now = clock.now().toISOString();
    const lines = ((await readIfThere(path)) ?? '').split('\n').filter((line) => line !== '');
    // What cannot be read may be a send of just now; so may one of a time to come, for the clock was set back since.
    const times = lines.map((line) => (Date.parse(line) <= Date.parse(now) ? line : now));
    const left = change(
      times.filter((line) => Date.parse(line) > since),
      now,
    );
    held.check();
    await replaceFile(path, left.map((line) => `${line}\n`).join('')).catch((error: unknown) => {
      throw diskFailure(error, `The count of sends in ${path} cannot be written`, orElsewhere());
    });
  });
}
