import { afterEach } from 'vitest';

/**
 * What is to be ended after each test of the file that calls this, the last first. A call and no hook of a module's own:
 * the files of one worker share their modules, so that one would hold for the first of them alone.
 */
export function endAfterEach(endings: (() => unknown)[] = []): (() => unknown)[] {
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });
  return endings;
}
