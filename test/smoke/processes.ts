import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

type Process = { readonly pid?: number };

export async function until(condition: () => boolean): Promise<void> {
  for (const began = performance.now(); !condition(); await sleep(10)) {
    if (performance.now() - began > 25_000) throw new Error('It never happened.');
  }
}

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
  until(() => {
    const [, times] = statusOf(pid).split(') ');
    if (times === undefined) return true;
    const [user = 0, system = 0] = times.split(' ').slice(11, 13).map(Number);
    return user + system >= seconds * 100;
  });

/** What the system says of a process; empty once it has ended and its parent knows. */
function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
