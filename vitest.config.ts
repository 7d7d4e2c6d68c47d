import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isThorough, tags } from './test/thorough.ts';

/** Small files that take long. Begun last, as small ones are, each would be waited for alone. */
const longest = [
  'mirror/export-killed',
  'webhooks/deliver/lanes',
  'audit/processes',
  'e2e/stopped-holder',
  'http/model',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longest.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** `npm test` is for while one works. Whoever names a file or a folder gets all of its tests. */
const names = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'));
const isNpmTest = process.env.npm_lifecycle_event === 'test';
const isQuick = isNpmTest && !isThorough && names.length === 0;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    reporters: ['default', './test/slowest.ts', './test/long-ones.ts'],
    globalSetup: ['test/build-once.ts'],
    // CommonJS as Node itself imports it; otherwise jq-web, which exports a promise, is taken for a thenable module.
    deps: { interopDefault: false },
    tags,
    ...(isQuick && { tagsFilter: ['!long'], setupFiles: ['test/at-rest.ts'] }),
    // A twelfth of what short tests compute was V8 optimizing what then runs a few times more. It waits fifteen times as long
    // here. Threads, in which mutation tests run, refuse such an argument.
    ...(isNpmTest && { execArgv: ['--interrupt-budget=1000000'] }),
    // Files that have not changed are not transformed again.
    experimental: { fsModuleCache: true },
    // One more than there are cores: much of the work waits for real processes, browsers and databases. With those left out
    // little waits, and each worker loads and compiles all modules once more.
    maxWorkers: Math.min(availableParallelism(), 8) + (isQuick ? 0 : 1),
    sequence: { sequencer: LongestFirst },
    // No test keeps state in a module, and loading all of them again for each file takes a third of the time.
    isolate: false,
    // On a machine that does ten other things as well a test takes twenty times as long; one that hangs is found all the same.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // What is waited for is waited for on such a machine as well; a second, as Vitest has it, is no bound of anything.
    expect: { poll: { timeout: 60_000 } },
    env: {
      TZ: 'UTC',
      NO_COLOR: '1',
      FORCE_COLOR: undefined as unknown as string,
      // Runs of the built tool keep no compiled code in this user's cache; bin/chunks.js has tests of its own.
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
  },
});
