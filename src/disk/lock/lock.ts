import { closeSync, promises as fs, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Patience } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { capital } from '../../text/capital.ts';
import { makeFolders } from '../file/make-folders.ts';
import { nothingThere } from '../file/nothing-there.ts';
import { describe, isOfThisWorld, type LockEntry, lifeOf, newEntryName, parseEntry, thisWorld } from './lock-entry.ts';
import {
  type Held,
  type Holding,
  hold,
  realClock,
  removeLeft,
  removeOwn,
  runAgain,
  sweep,
  traceOf,
} from './lock-hold.ts';
import { defaultSilentMs, type IsGone, type IsStill, isSilent, stampOf, stillness, watcher } from './lock-silence.ts';

export { type Held, isOurs } from './lock-hold.ts';

/**
 * A lock is a folder; to hold it is to have the only living entry in it. An entry's name says who made it, so there is
 * no half-written owner, and since every entry has a name of its own, clearing a dead one can never remove a living
 * one. Each contender first makes its entry and then looks: of two, the later one to look sees the other, so both can
 * never believe that they hold the lock.
 *
 * The kernel tells whether a process of the same PID namespace lives. Of any other (a container, another machine that
 * shares the folder) svc only sees the heartbeat. A stopped process has none, so svc waits long before it believes
 * that such a holder is gone. It may wake up all the same: so whoever holds a lock asks `check` before each step, and
 * whoever takes one from a silent holder leaves it a trace that says who it was, and writes to files of its own.
 */
export type Waiting = Patience & {
  readonly clock: Pick<Clock, 'sleep' | 'ticks'> & Partial<Pick<Clock, 'now'>>;
  /** How long a holder of another world may be silent before the lock is taken from it. */
  readonly silentMs?: number;
  /**
   * A stopped holder of this machine is no reason to wait either: whoever holds the lock looks after each write whether it
   * still does, and what it wrote then goes into a file that nobody reads.
   */
  readonly takesStopped?: boolean;
  /** What is locked, for messages. */
  readonly what?: string;
};

/** How a command waits: people see what for, and Ctrl-C ends it. */
export const waitingFor = (
  { clock, signal, progress, notice }: Pick<Waiting, 'clock' | 'signal' | 'progress' | 'notice'>,
  what: string,
): Waiting => ({ clock, signal, progress, notice, what });

const defaultMaxWaitMs = 120_000;
const tidyingMs = 5000;
/** Most locks are held for less. */
const shownAfterMs = 200;

/** Takes the lock if nobody living holds it; undefined otherwise. */
export function tryLock(folder: string, holding: Holding = {}): Promise<Held | undefined> {
  return take(folder, holding, { isGone: (entry) => isSilent(folder, entry, defaultSilentMs) });
}

/** Waits for the lock, does the work alone, and gives the lock back whatever happens. */
export async function withLock<T>(folder: string, waiting: Waiting, work: (held: Held) => Promise<T>): Promise<T> {
  const held = await waitFor(folder, waiting);
  try {
    return await work(held);
  } finally {
    await held.release();
  }
}

/** Whether somebody has it, for whoever only looks: nothing is written. Without a probe, silence is judged by `nowMs`. */
export async function isHeld(folder: string, nowMs: number): Promise<boolean> {
  const isOld = async ({ name }: LockEntry) =>
    Math.abs(nowMs - ((await stampOf(join(folder, name))) ?? nowMs)) >= defaultSilentMs;
  const found = await look(folder, { isGone: isOld }).catch(nothingThere);
  return found?.isHeld ?? false;
}

/** The process ids of those who hold the lock, for a message. */
export async function holders(folder: string): Promise<number[]> {
  const names = await fs.readdir(folder).catch(() => []);
  return names.flatMap((name) => parseEntry(name)?.pid ?? []);
}

async function waitFor(folder: string, waiting: Waiting): Promise<Held> {
  const { clock, progress } = waiting;
  // A wait that begins after Ctrl-C is for tidying up: Ctrl-C does not end it, but it is short.
  const signal = waiting.signal?.aborted ? undefined : waiting.signal;
  const longest = waiting.maxWaitMs ?? defaultMaxWaitMs;
  const maxWaitMs = waiting.signal?.aborted ? Math.min(longest, tidyingMs) : longest;
  const isGone = watcher(folder, waiting);
  const isStill = waiting.takesStopped ? stillness(clock) : undefined;
  const { now = () => new Date() } = clock;
  const holding = { what: waiting.what, clock: { now, ticks: clock.ticks } };
  let waitedMs = 0;
  let told = false;
  let shown = false;
  try {
    for (;;) {
      const [passed, reallyPassed] = [stopwatch(clock), stopwatch(realClock)];
      if (signal?.aborted) {
        throw interruption(signal, 'Interrupted while waiting.');
      }
      const taken = await take(folder, holding, { isGone, isStill });
      if (taken) return taken;
      const holder = await holderOf(folder);
      if (holder && waitedMs >= maxWaitMs) throw await tooLong(folder, holder, { ...waiting, maxWaitMs });
      const isOursNext = holder !== undefined && isOwn(holder);
      if (holder && !isOursNext && waitedMs >= shownAfterMs) {
        const text = `Waiting for ${waiting.what ?? 'a lock'}: ${await describeState(holder)} has it`;
        // A holder that is at work is soon done. With any other, a person may have to act.
        if (!told && waitedMs >= (holder.life === 'running' ? 5000 : 1000)) {
          waiting.notice?.(`${text}.`);
          told = true;
        }
        progress?.(text);
        shown = true;
      }
      // The holder may be at work in this process, and looking at the lock leaves it no turn; nor does a clock that never waits.
      await new Promise((resolve) => setImmediate(resolve));
      // A part of this run is at work for as long as that takes, whatever the clock that is given says meanwhile.
      const pause = isOursNext ? realClock : clock;
      await pause.sleep(waitedMs < 1000 ? 4 + Math.random() * 16 : 30 + Math.random() * 30, signal);
      waitedMs += isOursNext ? reallyPassed() : passed();
    }
  } finally {
    if (shown) progress?.(undefined);
  }
}

const stopwatch =
  ({ ticks }: Pick<Clock, 'ticks'>, began = ticks()) =>
  () =>
    ticks() - began;

/** Who does not count as a holder, beside the dead. */
type Judge = { readonly isGone: IsGone; readonly isStill?: IsStill };

async function take(folder: string, holding: Holding, judge: Judge): Promise<Held | undefined> {
  await makeFolders(folder);
  const before = await look(folder, judge);
  if (before.isHeld) return undefined;
  const name = newEntryName();
  closeSync(openSync(join(folder, name), 'wx', 0o600));
  const ended = [...before.dead, ...before.silent];
  let held: Held | undefined;
  try {
    if ((await look(folder, judge, [name, ...ended])).isHeld) return undefined;
    // Only now: until somebody has the lock, a holder that wakes up may keep it.
    for (const silent of before.silent)
      await fs.writeFile(traceOf(folder, silent), name, { mode: 0o600 }).catch(() => {});
    for (const gone of ended) await removeLeft(folder, gone);
    const mayWakeUp = await sweep(folder);
    held = hold({ ...holding, folder, name, isTakenOver: mayWakeUp || before.silent.length > 0 });
    return held;
  } finally {
    // Whatever failed: an entry that nobody holds would be waited for as long as this process lives.
    if (!held) removeOwn(folder, name);
  }
}

/** Who is there. The kernel says of the dead that they are; the silent may only stand still. */
type Look = { readonly isHeld: boolean; readonly dead: readonly string[]; readonly silent: readonly string[] };

async function look(folder: string, { isGone, isStill }: Judge, except: readonly string[] = []): Promise<Look> {
  const dead: string[] = [];
  const silent: string[] = [];
  for (const name of readdirSync(folder)) {
    const entry = except.includes(name) ? undefined : parseEntry(name);
    if (!entry) continue;
    if (isOfThisWorld(entry)) {
      const life = await lifeOf(entry);
      if (life === 'gone') dead.push(name);
      else if (isStill?.(entry, life)) silent.push(name);
      else return { isHeld: true, dead, silent };
    } else if (await isGone(entry)) silent.push(name);
    else return { isHeld: true, dead, silent };
  }
  return { isHeld: false, dead, silent };
}

type Holder = { readonly entry: LockEntry; readonly life: 'running' | 'stopped' | 'elsewhere' };

/** Another part of this run, which is soon done: nobody can do anything about that. */
const isOwn = ({ entry, life }: Holder): boolean => life === 'running' && entry.pid === process.pid;

async function holderOf(folder: string): Promise<Holder | undefined> {
  // Whoever deletes what is locked removes the folder too.
  for (const name of (await fs.readdir(folder).catch(nothingThere)) ?? []) {
    const entry = parseEntry(name);
    if (!entry) continue;
    if (!isOfThisWorld(entry)) return { entry, life: 'elsewhere' };
    const life = await lifeOf(entry);
    if (life !== 'gone') return { entry, life };
  }
  return undefined;
}

const describeState = async ({ entry, life }: Holder): Promise<string> =>
  `${describe(entry, thisWorld())}${life === 'stopped' ? ', which is stopped,' : ''}`;

async function tooLong(folder: string, holder: Holder, { what = 'a lock', maxWaitMs }: Waiting): Promise<Failure> {
  const { entry, life } = holder;
  const waited = `${Math.round((maxWaitMs ?? defaultMaxWaitMs) / 1000)} s`;
  if (isOwn(holder)) {
    return new Failure('failed', `Another part of this svc has had ${what} for more than ${waited}.`, {
      hint: runAgain,
    });
  }
  const hints = {
    running: `Wait for it, or end it: kill ${entry.pid}`,
    stopped: `To let it continue: kill -CONT ${entry.pid}`,
    elsewhere: `If that process is gone, remove its file: rm '${join(folder, entry.name)}'`,
  };
  return new Failure('failed', `${capital(await describeState(holder))} has had ${what} for more than ${waited}.`, {
    hint: hints[life],
  });
}
