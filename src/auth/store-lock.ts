import { join } from 'node:path';
import type { Clock, Patience } from '../context.ts';
import { type Held, withLock } from '../disk/lock.ts';
import { withoutUndefined } from '../text/record.ts';

/**
 * How long a holder in another container, or on another machine, may be silent before its lock is taken: it may only be
 * stopped, and would spend the same refresh token when it wakes up.
 */
const silentMs = 3600_000;

export type LockOptions = {
  /** The config folder. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'sleep' | 'ticks'>;
  /** How waits for other processes go where an update does not say. */
  readonly patience?: Patience;
};

export type StoreLock = <T>(name: string, work: (held: Held) => Promise<T>, own?: Patience) => Promise<T>;

/** The locks of a store: one for each secret, and `store` for the file that holds them all. */
export function storeLock({ folder, clock, patience }: LockOptions): StoreLock {
  return (name, work, own) => {
    const what = name === 'store' ? 'the saved logins' : name.replace(/^profile\//u, 'the login ');
    const waiting = { clock, silentMs, ...patience, ...withoutUndefined(own ?? {}), what };
    return withLock(join(folder, 'locks', encodeURIComponent(name)), waiting, work);
  };
}
