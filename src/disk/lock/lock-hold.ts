import {
  closeSync,
  promises as fs,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../context.ts';
import { codeOf, Failure, messageOf, orElse } from '../../errors.ts';
import { capital } from '../../text/capital.ts';
import { shellWord } from '../../text/shell-word.ts';
import { sleep, ticks } from '../../ticks.ts';
import { describe, type LockEntry, leaveBehind, parseEntry } from './lock-entry.ts';

/** A lock that this process has taken, and may have lost since. */
export type Held = ReturnType<typeof hold>;

/** The same as `check`, for whoever has nothing to throw. */
export const isOurs = (held: Pick<Held, 'check'>): boolean => orElse(() => held.check(), 'lost') !== 'lost';

export type Holding = {
  /** What is locked, for messages. */
  readonly what?: string;
  /** What to do where it is lost. */
  readonly hint?: string;
  readonly clock?: BothClocks;
};

export const heartbeatMs = 10_000;
/** For so long a stopped holder must have stood still, where the lock may be taken from it at all. */
export const stoppedMs = 1000;
/** A beat that follows another so soon tells nobody anything new. */
const betweenBeatsMs = 1000;
/** For so long after its last beat nobody takes a lock, so a disk that does not answer is not yet a lock that is lost. */
const surelyOursMs = 30_000;

type BothClocks = Pick<Clock, 'now' | 'ticks'>;

export const realClock: Clock = { now: () => new Date(), ticks, sleep };

/** What both clocks show. */
type ClockReading = { readonly wall: number; readonly ticks: number };

export const momentBy = (clock: BothClocks): ClockReading => ({ wall: clock.now().getTime(), ticks: clock.ticks() });

/** The monotonic clock stands still while the machine sleeps, and the other one may be set: the larger one counts. */
export const elapsedMs = (before: ClockReading, now: ClockReading): number =>
  Math.max(Math.abs(now.wall - before.wall), now.ticks - before.ticks);

type Taken = Holding & { readonly folder: string; readonly name: string; readonly isTakenOver: boolean };

/** Keeps the entry alive, and knows whether it is still there. */
export function hold(taken: Taken) {
  const { folder, name, isTakenOver, clock = realClock } = taken;
  const path = join(folder, name);
  const lost = new AbortController();
  let beaten = momentBy(clock);
  const giveUp = (failure: Failure): never => {
    lost.abort(failure);
    throw failure;
  };
  const check = (): void => {
    if (lost.signal.aborted) throw lost.signal.reason;
    const now = momentBy(clock);
    const silentMs = elapsedMs(beaten, now);
    const isDue = silentMs >= betweenBeatsMs;
    try {
      ask(path, isDue);
      if (isDue) beaten = now;
    } catch (error) {
      if (isGone(error)) giveUp(takenOver(taken));
      if (silentMs >= surelyOursMs) giveUp(untold(taken, error));
    }
  };
  // What it throws is told by `lost`, and by the next check.
  const heartbeat = setInterval(() => orElse(check, undefined), heartbeatMs);
  heartbeat.unref();
  return {
    /**
     * Throws where the lock is not this process's any more: another took it while this one stood still, or somebody
     * removed its entry. To be asked right before each request and each line. It takes some ten microseconds, and nothing
     * else happens between it and a write that follows in the same turn.
     */
    check,
    /** The file that is there for as long as the lock is held, for whoever has to look from another thread. */
    entry: path,
    /** Fires once it is known that the lock is lost; `reason` is what `check` throws. */
    lost: lost.signal,
    /** It was taken, now or earlier, from a process that only fell silent: it may wake up in the middle of a write. */
    isTakenOver,
    async release() {
      clearInterval(heartbeat);
      removeOwn(folder, name);
    },
  };
}

/** Throws where the disk fails; then nobody of this process waits for the entry. */
export function removeOwn(folder: string, name: string): void {
  try {
    unlinkSync(join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    leaveBehind(name);
    throw error;
  }
}

/**
 * Throws where the entry cannot be reached, and never makes it. Opened, since a file server is asked again for a file
 * that is opened, and not for one that was looked at a moment ago. A beat is a write, so that the server stamps it by
 * its own clock.
 */
function ask(path: string, isDue: boolean): void {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if (isGone(error)) throw error;
    // Too many files are open, for example.
    utimesSync(path, new Date(), new Date());
    return;
  }
  try {
    if (isDue) beat(file);
  } finally {
    closeSync(file);
  }
}

function beat(file: number): void {
  try {
    writeSync(file, '.', 0);
  } catch {
    // The disk is full.
    futimesSync(file, new Date(), new Date());
  }
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(codeOf(error) ?? '');

/** Where whoever takes the lock from a silent process tells it who it was. */
export const traceOf = (folder: string, name: string): string => join(folder, `.taken.${name}`);

/** Said where nothing else says how the command goes on. */
export const runAgain = 'Run the command again: it goes on from what is there.';
const goOn = `Nothing more was sent. ${runAgain}`;

function takenOver({ folder, name, what = 'the lock', hint = goOn }: Taken): Failure {
  const own = parseEntry(name);
  const who = (entry: LockEntry) => capital(describe(entry, own?.world ?? ''));
  const by = successor(folder, name);
  const [other] = orElse(() => readdirSync(folder), []).flatMap((one) => (one === name ? [] : (parseEntry(one) ?? [])));
  const fact = `This svc has lost ${what}: its entry in ${folder} is gone.`;
  const told = other ? `${fact} ${who(other)} has it now.` : fact;
  return new Failure('failed', by ? `${who(by)} took over ${what} while this svc stood still.` : told, { hint });
}

/** Whoever took it over; undefined where that is not known: somebody removed the entry, or its whole folder. */
function successor(folder: string, name: string): LockEntry | undefined {
  const trace = traceOf(folder, name);
  try {
    const by = parseEntry(readFileSync(trace, 'utf8'));
    rmSync(trace, { force: true });
    return by;
  } catch {
    return undefined;
  }
}

const untold = ({ what = 'the lock', hint = goOn }: Taken, cause: unknown): Failure =>
  new Failure('failed', `svc cannot tell whether it still has ${what}: ${messageOf(cause)}`, { hint, cause });

/** What a process has left that ended. svc makes files alone, and removes no folder that somebody else has put there. */
export async function removeLeft(folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  try {
    await fs.rm(path, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ERR_FS_EISDIR') throw error;
    throw new Failure(
      'failed',
      `The lock in ${folder} cannot be taken: ${name} in it is a folder, and svc did not make it.`,
      {
        hint: `Look at what is in it, then remove it: rm -r ${shellWord(path)}`,
        cause: error,
      },
    );
  }
}

/** How long a trace is kept for a process that may never wake up. */
const traceKeptMs = 7 * 24 * 3600_000;

/** Removes what dead processes left beside the entries; whether a holder that lost the lock may still wake up. */
export async function sweep(folder: string): Promise<boolean> {
  let mayWakeUp = false;
  for (const name of readdirSync(folder)) {
    if (!/^\.(?:taken|now)\./u.test(name)) continue;
    const path = join(folder, name);
    const found = await fs.stat(path).catch(() => undefined);
    if (found && Math.abs(Date.now() - found.mtimeMs) > traceKeptMs) await removeLeft(folder, name);
    else if (found && name.startsWith('.taken.')) mayWakeUp = true;
  }
  return mayWakeUp;
}
