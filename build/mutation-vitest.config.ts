import { defineConfig } from 'vitest/config';
import { tags } from '../test/thorough.ts';

/** The tests that one part of `npm run mutation` is held against. They run in this process: nothing has to be built. */
export default defineConfig({
  test: {
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    setupFiles: ['build/mutation-setup.ts'],
    environment: 'node',
    deps: { interopDefault: false },
    tags,
    // A change that keeps a test waiting for ever is noticed sooner here than by Stryker, which starts over for it.
    testTimeout: 9_000,
    // What prepares tests runs before any change counts, and a busy machine may take long for it.
    hookTimeout: 60_000,
    env: { TZ: 'UTC', NO_COLOR: '1' },
  },
});
