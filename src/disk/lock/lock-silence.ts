import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../context.ts';
import type { Life, LockEntry } from './lock-entry.ts';
import { heartbeatMs, stoppedMs } from './lock-hold.ts';

// Who has a lock and does not count as its holder any more, beside the dead.

/** How long a holder of another world may be silent before the lock is taken from it. */
export const defaultSilentMs = 90_000;

/** A clock that was set makes a holder look silent; so a waiter also watches for itself that no beat comes. */
const watchedMs = 2.5 * heartbeatMs;

/** Whether a holder of another world has been silent for so long that the lock may be taken from it. */
export type IsGone = (entry: LockEntry) => Promise<boolean>;

/** Whether a holder of this world has stood still for so long that the lock may be taken from it. */
export type IsStill = (entry: LockEntry, life: Life) => boolean;

export const stampOf = async (path: string): Promise<number | undefined> =>
  (await fs.stat(path).catch(() => undefined))?.mtimeMs;

/** Compares the last beat with a file written now, so that both come from the clock of the file server. */
export async function isSilent(folder: string, { name }: LockEntry, silentMs: number): Promise<boolean> {
  const probe = join(folder, `.now.${process.pid}.${Math.random().toString(36).slice(2)}`);
  try {
    await fs.writeFile(probe, '', { mode: 0o600 });
    const [now, beat] = [await stampOf(probe), await stampOf(join(folder, name))];
    // An entry that has just been removed is looked at again in a moment.
    return now !== undefined && beat !== undefined && Math.abs(now - beat) >= silentMs;
  } finally {
    await fs.rm(probe, { force: true });
  }
}

/** Judges entries of other worlds over the length of one wait. */
export function watcher(
  folder: string,
  { clock, silentMs = defaultSilentMs }: { readonly clock: Pick<Clock, 'ticks'>; readonly silentMs?: number },
): IsGone {
  const seen = new Map<string, { readonly beat: number | undefined; readonly since: number; asked: number }>();
  return async (entry) => {
    const beat = await stampOf(join(folder, entry.name));
    const before = seen.get(entry.name);
    const now = clock.ticks();
    if (!before || before.beat !== beat) {
      seen.set(entry.name, { beat, since: now, asked: now });
      return false;
    }
    if (now - before.since < watchedMs || now - before.asked < 1000) return false;
    before.asked = now;
    return isSilent(folder, entry, silentMs);
  };
}

/** Judges stopped entries of this world over the length of one wait. */
export function stillness(clock: Pick<Clock, 'ticks'>): IsStill {
  const since = new Map<string, number>();
  return ({ name }, life) => {
    if (life !== 'stopped') since.delete(name);
    else if (!since.has(name)) since.set(name, clock.ticks());
    return clock.ticks() - (since.get(name) ?? clock.ticks()) >= stoppedMs;
  };
}
