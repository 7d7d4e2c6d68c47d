import { orElse } from '../../errors.ts';

/**
 * A program in a process group of its own (`detached`) outlives svc where svc ends at once, by a second Ctrl-C for
 * example. This ends it then, with whatever it started. Returns what to call when the program has ended.
 */
export function endWithSvc(pid: number | undefined): () => void {
  if (pid === undefined) return () => {};
  // One listener for all of them: Node warns of many.
  if (running.size === 0) process.on('exit', endAll);
  running.add(pid);
  return () => {
    if (running.delete(pid) && running.size === 0) process.off('exit', endAll);
  };
}

const running = new Set<number>();

function endAll(): void {
  for (const pid of running) endGroup(pid, 'SIGKILL');
}

/** Signals a program that leads a group, and all that it started; fine where they are gone. */
export function endGroup(pid: number | undefined, how: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  orElse(() => process.kill(process.platform === 'win32' ? pid : -pid, how), 'gone already');
}
