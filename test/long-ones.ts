import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Says of the tests that `npm test` leaves out that it does, and how they are run. */
export default class LongOnes implements Reporter {
  #isQuick = false;

  onInit({ config }: Vitest): void {
    this.#isQuick = config.tagsFilter !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const left = tests.filter(({ options: { tags } }) => this.#isQuick && tags?.includes('long'));
    if (left.length === 0) return;
    process.stdout.write(
      `${left.length} long tests were left out. All, as CI runs them: SVC_TEST_THOROUGH=1 npm test\n\n`,
    );
  }
}
