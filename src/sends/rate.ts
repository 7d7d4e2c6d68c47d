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
  await changed(ctx, before, (others, now) => {
    if (others.length >= most) return undefined;
    counted = now;
    return [...others, now];
  });
  return counted;
}

/** It was not sent after all. */
export const uncountSend = (ctx: Context, counted: string): Promise<void> => changed(ctx, counted, (others) => others);

/** Tells `change` what was counted beside `own`. Undefined: all stays, for a first copy of `own` may have been sent. */
async function changed(
  ctx: Context,
  own: string | undefined,
  change: (others: string[], now: string) => string[] | undefined,
): Promise<void> {
  const folder = join(ctx.files.state, 'sends');
  const path = join(folder, 'last-hour');
  const { clock } = ctx;
  await withLock(join(folder, 'lock'), waitingFor(ctx, 'the count of sends'), async (held) => {
    const since = clock.now().getTime() - hourMs;
    const now = clock.now().toISOString();
    const all = ((await readIfThere(path)) ?? '').split('\n').filter((line) => line !== '');
    const recent = (lines: string[]) =>
      lines
        // What cannot be read may be a send of just now; so may one of a time to come, for the clock was set back since.
        .map((line) => (Date.parse(line) <= Date.parse(now) ? line : now))
        .filter((line) => Date.parse(line) > since);
    const others = own !== undefined && all.includes(own) ? all.toSpliced(all.lastIndexOf(own), 1) : all;
    const left = change(recent(others), now) ?? recent(all);
    held.check();
    await replaceFile(path, left.map((line) => `${line}\n`).join('')).catch((error: unknown) => {
      throw diskFailure(error, `The count of sends in ${path} cannot be written`, orElsewhere());
    });
  });
}
