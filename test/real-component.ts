import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';

type Programs = readonly [string, ...string[]];

/**
 * A `test` that needs real programs: `real('chromium')('the page …', async () => …)`. Where one is missing the test
 * is skipped and says why; in CI, which installs them all, it fails, so that a missing program never looks like success.
 */
export function real(...programs: Programs): typeof test {
  const { verdict, reason } = judge(programs, Boolean(process.env.CI));
  return verdict === 'run' ? test : without(verdict, reason);
}

/** A `test` that is not run, and says why; one of `each` stands for all of its table, and conditions add nothing. */
export function without(verdict: 'skip' | 'fail', reason: string): typeof test {
  const declined = (title: string) =>
    test(title, (context) => {
      if (verdict === 'skip') context.skip(reason);
      throw new Error(reason);
    });
  const same = () => declined;
  return Object.assign(declined, { each: same, for: same, runIf: same, skipIf: same }) as unknown as typeof test;
}

export function judge(programs: Programs, inCi: boolean): { verdict: 'run' | 'skip' | 'fail'; reason: string } {
  const missing = programs.filter((program) => whereIs(program) === undefined);
  if (missing.length === 0) return { verdict: 'run', reason: '' };
  return { verdict: inCi ? 'fail' : 'skip', reason: `not installed here: ${missing.join(', ')}` };
}

/** Where a program is, by the search path; undefined where it is not installed. */
export function whereIs(program: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
