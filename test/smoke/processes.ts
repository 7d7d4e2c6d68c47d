import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type Process = { readonly pid?: number };

export async function until(condition: () => boolean): Promise<void> {
  for (const began = performance.now(); !condition(); await sleep(10)) {
    if (performance.now() - began > 60_000) throw new Error('It never happened.');
  }
}

/**
 * For the environment of a process: a run that a thread or a socket keeps alive is ended after three seconds by
 * process.exit, with the code and the words of a good end. Then `forcedEnd` stands on standard error, too.
 */
export function tellingExit(folder: string): { readonly NODE_OPTIONS: string } {
  const path = join(folder, 'telling-exit.cjs');
  const telling = `process.stderr.write(${JSON.stringify(forcedEnd)})`;
  // Once nothing was left to be done it has ended by itself.
  writeFileSync(
    path,
    `const { exit } = process; let isOver = false; process.on('beforeExit', () => { isOver = true; });
    process.exit = (...code) => { if (!isOver) ${telling}; exit(...code); };`,
  );
  return { NODE_OPTIONS: `-r ${path}` };
}

export const forcedEnd = 'It did not end by itself.';

/** Until the process has such a file open, beside its three streams. */
export const hasOpened = ({ pid }: Process, path: RegExp): Promise<void> =>
  until(() =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return Number(fd) > 2 && path.test(readlinkSync(`/proc/${pid}/fd/${fd}`));
      } catch {
        return false;
      }
    }),
  );

/** Until the process has used so many seconds of a processor, or has ended: its start takes a third of one. */
export const hasWorked = ({ pid }: Process, seconds = 0.7): Promise<void> =>
  until(() => secondsOf(`/proc/${pid}/stat`) >= seconds);

/**
 * Until one thread beside the first has worked for so long that it runs what never ends, or the process has ended. On a machine that
 * has much to do the start of the process alone takes longer than any number of seconds that a test could name.
 */
export const threadHasWorked = ({ pid }: Process, seconds = 0.4): Promise<void> =>
  until(() => {
    const threads = threadsOf(pid);
    const others = threads.filter((thread) => thread !== String(pid));
    return threads.length === 0 || others.some((thread) => secondsOf(`/proc/${pid}/task/${thread}/stat`) >= seconds);
  });

function threadsOf(pid: number | undefined): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** What a process or thread has used of a processor; endless once it has ended and its parent knows. */
function secondsOf(path: string): number {
  try {
    const [, times = ''] = readFileSync(path, 'utf8').split(') ');
    const [user = 0, system = 0] = times.split(' ').slice(11, 13).map(Number);
    return (user + system) / 100;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
