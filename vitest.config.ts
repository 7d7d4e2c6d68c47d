import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/build-once.ts'],
    // CommonJS as Node itself imports it; otherwise jq-web, which exports a promise, is taken for a thenable module.
    deps: { interopDefault: false },
    // Real processes and browsers are started by some tests; two cores share the work.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Runs of the built tool keep no compiled code in this user's cache; bin/chunks.js has tests of its own.
    env: { TZ: 'UTC', NO_COLOR: '1', NODE_DISABLE_COMPILE_CACHE: '1', FORCE_COLOR: undefined as unknown as string },
  },
});
