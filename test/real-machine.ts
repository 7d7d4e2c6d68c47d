import { execFileSync } from 'node:child_process';
import { test } from 'vitest';
import { without } from './real-component.ts';

/**
 * A `test` that needs what only root, or a machine that allows it, can do. Where `probe` fails the test is skipped and
 * says why.
 */
export function allowed(what: string, ...[program, ...args]: readonly [string, ...string[]]): typeof test {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return test;
  } catch (error) {
    return without('skip', `${what} is not possible here: ${(error as Error).message}`);
  }
}
