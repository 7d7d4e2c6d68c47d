import { expect, test } from 'vitest';
import { tallying } from '../../../src/webhooks/serve/sinks.ts';
import type { Settled } from '../../../src/webhooks/store/inbox-store.ts';

const outcome = (state: Settled['outcome']['state']): Settled => ({
  id: 'evt_1',
  outcome: { to: 'app', at: '2026-01-02T03:04:05.000Z', ms: 1, tries: 1, state },
});

test.each([
  [['dead', 'failed'], 0, 1],
  [['dead', 'failed', 'dead'], 1, 0],
  [['dead', 'delivered'], 0, 0],
  [['failed', 'dead'], 1, 0],
] as const)('after %j an event counts once: dead %i, for another attempt %i', (states, dead, retrying) => {
  const counted = tallying({ settled: () => {} });
  for (const state of states) counted.onSettled('app', outcome(state));
  expect(counted.dead.get('app')?.size ?? 0).toBe(dead);
  expect(counted.retrying.get('app')?.size ?? 0).toBe(retrying);
});
