import { readFileSync } from 'node:fs';

let known: number | undefined;

/** The limit of the system on open files (`ulimit -n`); none where it has no such limit. */
export function openFilesAtMost(): number {
  known ??= readLimit() ?? Number.POSITIVE_INFINITY;
  return known;
}

function readLimit(): number | undefined {
  if (process.platform === 'linux') {
    try {
      const [, soft] = /^Max open files +(\d+)/mu.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
      return soft === undefined ? undefined : Number(soft);
    } catch {
      // Without /proc it is asked for as elsewhere, which takes longer.
    }
  }
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? undefined : soft;
}
