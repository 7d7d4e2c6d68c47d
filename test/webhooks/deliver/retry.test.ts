// When an event that a sink refuses is a dead letter: after its attempts, or once it has waited too long.
import { expect, test } from 'vitest';
import { isLast, type Retry } from '../../../src/webhooks/deliver/retry.ts';

const hour = 3_600_000;
const came = Date.parse('2027-03-01T12:00:00Z');
const retry: Retry = { attempts: 3, maxAgeMs: 24 * hour, pauseMs: 1000 };

/** By a clock that shows so much more, or less, than when the event came. */
const isDead = (tries: number, afterMs: number): boolean =>
  isLast(retry, { tries, since: new Date(came).toISOString() }, { now: () => new Date(came + afterMs) });

test('a clock that is set ahead makes an event dead at its next failure; set back, its attempts end it', () => {
  expect([0, 23 * hour, 24 * hour].map((ms) => isDead(0, ms))).toEqual([false, false, true]);
  expect([0, 1, 2].map((tries) => isDead(tries, -48 * hour))).toEqual([false, false, true]);
});
