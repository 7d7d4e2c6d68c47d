import { execFileSync } from 'node:child_process';
import { test } from 'vitest';

/**
 * A `test` that needs what only root, or a machine that allows it, can do. Where `probe` fails the test is skipped and
 * says why.
 */
export function allowed(what: string, ...[program, ...args]: readonly [string, ...string[]]): typeof test {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return test;
  } catch (error) {
    const reason = `${what} is not possible here: ${(error as Error).message}`;
    return ((title: string) => test(title, (context) => context.skip(reason))) as unknown as typeof test;
  }
}
