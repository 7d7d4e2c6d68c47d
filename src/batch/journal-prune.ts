import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Journals of runs that are over help nobody after that time. */
const keptForMs = 90 * 24 * 60 * 60 * 1000;

/** When a run was over. `sure`: by a clock that agreed with the service's. */
export type Finished = { readonly at: string; readonly sure?: boolean };

type Pruning = {
  readonly folder: string;
  /** A file that was written just now: the file server stamps it by its own clock. */
  readonly written: string;
  /** By a clock that agrees with the service's; undefined where that is not so, and then nothing is removed. */
  readonly now: Date | undefined;
  /** Undefined for a run that is not over, or of which that cannot be told. */
  readonly finished: (path: string) => Promise<Finished | undefined>;
  /** Writes down that a run is over since now, where nobody can tell since when. */
  readonly date: (path: string, now: Date) => Promise<void>;
};

/**
 * Removes the journals of runs that have been over for long enough, and what goes with them. A run that is not over
 * stays. A clock that jumped removes nothing: the end of the run and the present must both be known by a clock that
 * agreed with the service's, and the stamps of the files must say the same.
 */
export async function prune({ folder, written, now, finished, date }: Pruning): Promise<void> {
  const present = now && (await stat(written).catch(() => undefined));
  if (!now || !present) return;
  const names = await readdir(folder);
  for (const name of names) {
    const path = join(folder, name);
    const found = path === written ? undefined : await stat(path).catch(() => undefined);
    if (!found || present.mtimeMs - found.mtimeMs <= keptForMs) continue;
    // A lock that is held is no empty folder, and stays.
    if (found.isDirectory()) await rmdir(path).catch(() => {});
    else if (!name.endsWith('.jsonl')) {
      if (!names.includes(name.replace(/\.(?:rows|over)$/u, '.jsonl'))) await rm(path, { force: true });
    } else {
      const over = await finished(path);
      if (over && !over.sure) await date(path, now);
      else if (over && now.getTime() - Date.parse(over.at) > keptForMs) {
        await rm(path, { force: true });
        await rm(path.replace(/\.jsonl$/u, '.rows'), { force: true });
      }
    }
  }
}
