import { codeOf, orElse } from '../../errors.ts';
import { lockNow, type Moment } from '../lock/lock-now.ts';
import { openPart, type Part, type PartFile, type Tail } from './shared-log-part.ts';
import { isWanted } from './wanted.ts';

/** The lock in the hands of this process, with the file that is open under it. */
export type Lease = {
  readonly moment: Moment;
  /** Looks no more whether it is to be given back. */
  readonly end: () => void;
  readonly since: number;
  readonly name: string;
  readonly part: Part;
};

/** When a process takes the lock of a shared log, how long it keeps it, and when it gives it back. */
export type Leasing = {
  readonly options: Omit<PartFile, 'part'> & { readonly part: () => string };
  /** The folder of the lock. */
  readonly locks: string;
  lease: Lease | undefined;
  /** What the last look at the file has shown, so that a file that is as it was is not read again. */
  known: Tail | undefined;
  lastAt: number;
  lookedAt: number;
};

/** Who writes again within this time keeps the lock meanwhile: to take it costs ten times as much as a line. */
const busyMs = 100;
/** How often it looks whether somebody waits: then it gives it back. */
const betweenLooksMs = 5;
/** And after this in any case, before it could be taken for one that stands still. */
const leaseMs = 400;

export const newLeasing = (options: Leasing['options'], locks: string): Leasing => ({
  options,
  locks,
  lease: undefined,
  known: undefined,
  lastAt: Number.NEGATIVE_INFINITY,
  lookedAt: Number.NEGATIVE_INFINITY,
});

/** Undefined where somebody else has the lock, or the folder is not there yet. */
export function leaseNow(state: Leasing): Lease | undefined {
  try {
    if (state.lease && state.lease.name !== state.options.part()) release(state);
    state.lease ??= takeLease(state);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return state.lease;
}

/** After a write: gives the lock back, unless it is likely to be needed again at once and nobody else waits. */
export function giveBackUnlessBusy(state: Leasing, { since }: Lease): void {
  const now = performance.now();
  const isBusy = now - state.lastAt < busyMs && now - since < leaseMs && !isWantedNow(state, now);
  state.lastAt = now;
  if (!isBusy) release(state);
}

/** Writes nothing any more, or somebody else waits. */
function giveBackInTime(state: Leasing, { moment, since }: Pick<Lease, 'moment' | 'since'>): void {
  const now = performance.now();
  const isIdle = now - state.lastAt >= busyMs || now - since >= leaseMs;
  if (isIdle || isWantedNow(state, now)) release(state, moment);
}

function isWantedNow(state: Leasing, now: number): boolean {
  if (now - state.lookedAt < betweenLooksMs) return false;
  state.lookedAt = now;
  return isWanted(state.locks);
}

/** Who has the lock in this process, by its folder: nobody of the same process waits for that. */
const holders = new Map<string, Leasing>();

function takeLease(state: Leasing): Lease | undefined {
  const holder = holders.get(state.locks);
  if (holder) release(holder);
  const moment = lockNow(state.locks);
  if (!moment) return undefined;
  try {
    const name = state.options.part();
    const part = openPart({ ...state.options, part: name }, state.known);
    if (part === undefined) {
      moment.release();
      return undefined;
    }
    const since = performance.now();
    const looking = setInterval(() => giveBackInTime(state, { moment, since }), betweenLooksMs).unref();
    const ended = () => release(state, moment);
    process.once('exit', ended);
    const end = () => {
      clearInterval(looking);
      process.off('exit', ended);
    };
    holders.set(state.locks, state);
    return { moment, end, since, name, part };
  } catch (error) {
    moment.release();
    throw error;
  }
}

export function release(state: Leasing, only?: Moment): void {
  const { lease } = state;
  if (!lease || (only && lease.moment !== only)) return;
  state.lease = undefined;
  holders.delete(state.locks);
  lease.end();
  // Lines that a failing disk has lost are told by the next sync.
  orElse(lease.part.close, undefined);
  lease.moment.release();
}
