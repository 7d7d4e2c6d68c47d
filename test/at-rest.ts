import { afterAll } from 'vitest';

/** More turns of the event loop than anything takes that ends by itself. */
const turns = 1_000;

// On a clock that moves whenever somebody sleeps (svc.ts), what a test leaves behind and waits for more never rests: it would
// take the processor from all files that this worker runs next.
afterAll(async () => {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
  throw new Error('A test of this file leaves something that never rests. End it before the test is over.');
});
