/** For `npm run mutation` (build/mutation.js), which says what is changed and by which tests it must be noticed. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'build/mutation-vitest.config.ts', related: false },
  mutate: process.env.MUTATION_FILES?.split(' ') ?? [],
  coverageAnalysis: 'perTest',
  // What is read once, as tables are, is changed too, and held against all tests of the part.
  ignoreStatic: false,
  concurrency: Number(process.env.MUTATION_RUNNERS ?? 2),
  timeoutMS: 10_000,
  tempDirName: '.stryker-tmp',
  cleanTempDir: 'always',
  // There is none of that name: Stryker rewrites it by a part of TypeScript's API that version 7 does not have.
  tsconfigFile: 'tsconfig.mutation.json',
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 90, low: 85, break: 85 },
};
