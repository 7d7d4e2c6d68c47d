/**
 * A program in a process group of its own (`detached`) outlives svc where svc ends at once, by a second Ctrl-C for
 * example. This ends it then, with whatever it started. Returns what to call when the program has ended.
 */
export function endWithSvc(pid: number | undefined): () => void {
  const end = () => endGroup(pid, 'SIGKILL');
  process.once('exit', end);
  return () => void process.off('exit', end);
}

/** Signals a program that leads a group, and all that it started; fine where they are gone. */
export function endGroup(pid: number | undefined, how: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') process.kill(pid, how);
    else process.kill(-pid, how);
  } catch {
    // It is gone already.
  }
}
