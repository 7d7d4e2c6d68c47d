import { afterAll } from 'vitest';

/** Longer than anything takes on a busy machine that ends by itself. */
const longestMs = 120_000;

// On a clock that moves whenever somebody sleeps (svc.ts), what a test leaves behind and waits for more never rests: it would
// take the processor from all files that this worker runs next.
afterAll(async () => {
  const began = performance.now();
  while (performance.now() - began < longestMs) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
  throw new Error('A test of this file leaves something that never rests. End it before the test is over.');
});
