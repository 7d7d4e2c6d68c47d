/** For `npm run mutation` (build/mutation.js), which says what is changed and by which tests it must be noticed. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'build/mutation-vitest.config.ts', related: false },
  mutate: process.env.MUTATION_FILES?.split(' ') ?? [],
  coverageAnalysis: 'perTest',
  // A constant of a module is read once; changing it costs a restart for each test file.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 10_000,
  tempDirName: '.stryker-tmp',
  // There is none of that name: Stryker rewrites it by a part of TypeScript's API that version 7 does not have.
  tsconfigFile: 'tsconfig.mutation.json',
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 90, low: 85, break: 85 },
};
