import { promises as fs } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../context.ts';
import { isCode } from './atomic-file.ts';

/**
 * A lock is a folder; to hold it is to have the only living entry in it. An entry's name says who made it (host,
 * process id, start of that process), so there is no half-written owner, and since every entry has a name of its own,
 * clearing a dead one can never remove a living one. Each contender first makes its entry and then looks: of two, the
 * later one to look sees the other, so both can never believe that they hold the lock.
 */
export type Release = () => Promise<void>;

/** How long an entry of another machine (a shared folder, a container) counts as living after its last heartbeat. */
const foreignLifeMs = 90_000;
const heartbeatMs = 30_000;

/** Takes the lock if nobody living holds it; undefined otherwise. */
export async function tryLock(folder: string): Promise<Release | undefined> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  if (await isHeld(folder)) return undefined;
  const mine = `${await thisProcess()}.${Math.random().toString(36).slice(2)}`;
  const path = join(folder, mine);
  await (await fs.open(path, 'wx', 0o600)).close();
  if (await isHeld(folder, mine)) {
    await fs.rm(path, { force: true });
    return undefined;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    fs.utimes(path, now, now).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();
  return async () => {
    clearInterval(heartbeat);
    await fs.rm(path, { force: true });
  };
}

/** Waits for the lock, does the work alone, and gives the lock back whatever happens. */
export async function withLock<T>(
  folder: string,
  { clock, signal }: { readonly clock: Pick<Clock, 'sleep'>; readonly signal?: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const release = await tryLock(folder);
    if (release) {
      try {
        return await work();
      } finally {
        await release();
      }
    }
    await clock.sleep(4 + Math.random() * 16, signal);
  }
}

/** The process ids of those who hold the lock, for a message. */
export async function holders(folder: string): Promise<number[]> {
  const entries = await fs.readdir(folder).catch(() => []);
  return entries.map((entry) => Number(entry.split('.')[1])).filter((pid) => pid > 0);
}

async function isHeld(folder: string, except?: string): Promise<boolean> {
  for (const entry of await fs.readdir(folder)) {
    if (entry === except) continue;
    if (await isAlive(folder, entry)) return true;
    await fs.rm(join(folder, entry), { force: true });
  }
  return false;
}

async function isAlive(folder: string, entry: string): Promise<boolean> {
  const [host, pid, start] = entry.split('.');
  if (host !== thisHost()) {
    const file = await fs.stat(join(folder, entry)).catch(() => undefined);
    return file !== undefined && Date.now() - file.mtimeMs < foreignLifeMs;
  }
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (!isCode(error, 'EPERM')) return false;
  }
  // A process id may have been given to another process since.
  return (await startOf(Number(pid))) === start;
}

const thisHost = (): string => hostname().replaceAll(/[^\w-]/gu, '-') || 'localhost';

async function thisProcess(): Promise<string> {
  return `${thisHost()}.${process.pid}.${await startOf(process.pid)}`;
}

/** When the process started, in the kernel's own ticks; 0 where the platform does not tell. */
async function startOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return '0';
  const line = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the command's name in parentheses and may itself hold spaces and parentheses.
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
}
