import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf, orElse } from '../../errors.ts';

/**
 * The name of an entry in a lock says who made it: `host.pid.start.random.world`. A process id means something only
 * among the processes that share a PID namespace of one running kernel: that is the world. Version 0.1.0 wrote no
 * world; its host stands for it.
 */
export type LockEntry = {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
  readonly world: string | undefined;
};

export type Life = 'running' | 'stopped' | 'gone';

/** Undefined for files that are no entries: probes, what a file server leaves (`.nfs…`), and whatever else somebody put there. */
export function parseEntry(name: string): LockEntry | undefined {
  if (name.startsWith('.')) return undefined;
  const [host = '', pid = '', start = '', , world] = name.split('.');
  if (!/^[1-9]\d*$/u.test(pid)) return undefined;
  return { name, host, pid: Number(pid), start, world };
}

/** Synchronous, for a lock that is held for a moment: of this process it is all known after the first time. */
export function newEntryName(): string {
  ownStart ??= statusIn(ownStatus())?.start ?? '0';
  const random = Math.random().toString(36).slice(2);
  return [thisHost(), process.pid, ownStart, random, thisWorld()].join('.');
}

let ownStart: string | undefined;

const ownStatus = (): string | undefined => (process.platform === 'linux' ? statusLineOf('self') : undefined);

const statusLineOf = (which: number | 'self'): string | undefined =>
  orElse(() => readFileSync(`/proc/${which}/stat`, 'utf8'), undefined);

/** Whether the entry's process id can be looked up from here. */
export const isOfThisWorld = (entry: LockEntry): boolean => isOf(thisWorld(), entry);

const isOf = (here: string, { world, host }: LockEntry): boolean =>
  world === undefined ? host === thisHost() : world === here;

/** Entries of this process that its disk would not remove. It holds nothing by them any more, and would wait for itself. */
const leftBehind = new Set<string>();

export const leaveBehind = (name: string): unknown => leftBehind.add(name);

/** What became of a process of this world. In doubt it lives. */
export async function lifeOf({ name, pid, start }: LockEntry): Promise<Life> {
  if (leftBehind.has(name)) return 'gone';
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    if (codeOf(error) !== 'EPERM') return 'gone';
  }
  const status = statusOf(pid);
  if (!status) return 'running';
  // A process id may have been given to another process since. A zombie has ended; nobody has asked for its exit code.
  if (status.start !== start || status.state === 'Z' || status.state === 'X') return 'gone';
  return status.state.toUpperCase() === 'T' ? 'stopped' : 'running';
}

/** Whether its process surely ended: also one of an earlier start of this machine. */
export async function isGone(entry: LockEntry): Promise<boolean> {
  if (isOfThisWorld(entry)) return (await lifeOf(entry)) === 'gone';
  const boot = thisBoot();
  return boot !== undefined && entry.host === thisHost() && !entry.world?.startsWith(boot);
}

/** For messages: `process 123`, and where it runs as seen from `here`, a world. */
export function describe(entry: LockEntry, here: string): string {
  const who = `process ${entry.pid}`;
  if (isOf(here, entry)) return `${who} on ${entry.host}`;
  const [boot, ownBoot] = [entry.world, here].map((world) => world?.split('-')[0]);
  return boot === ownBoot ? `${who} in another container (host ${entry.host})` : `${who} on host ${entry.host}`;
}

const thisHost = (): string => hostname().replaceAll(/[^\w-]/gu, '-') || 'localhost';

let world: string | undefined;

export function thisWorld(): string {
  world ??= readWorld();
  return world;
}

function readWorld(): string {
  const elsewhere = `${process.platform}-${thisHost()}`;
  if (process.platform !== 'linux') return elsewhere;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll(/[^\da-f]/gu, '');
    const namespace = /\d+/u.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    return `${boot}-${namespace}`;
  } catch {
    return elsewhere;
  }
}

/** Which start of the machine this is; undefined where the platform does not tell. */
export const thisBoot = (): string | undefined =>
  process.platform === 'linux' ? /^[\da-f]{32}(?=-)/u.exec(thisWorld())?.[0] : undefined;

type Status = { readonly state: string; readonly start: string };

/** State and start (in the kernel's own ticks). Undefined where the platform does not tell. */
const statusOf = (pid: number): Status | undefined =>
  process.platform === 'linux' && hasOwnProc() ? statusIn(statusLineOf(pid)) : undefined;

function statusIn(line: string | undefined): Status | undefined {
  if (line === undefined) return undefined;
  // The second field is the command's name in parentheses and may itself hold spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

/** A container may see the /proc of its host, where its own process ids belong to others. */
function hasOwnProc(): boolean {
  ownProc ??= statusLineOf('self')?.startsWith(`${process.pid} `) ?? false;
  return ownProc;
}

let ownProc: boolean | undefined;
