import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ageOf, anyOffset, narrow, untilTellingMs } from '../../src/http/server-time.ts';

/** The answer of a service whose clock is `ahead` of ours, after `rtt`. */
const sampleAt = (sentMs: number, rtt: number, ahead: number) => ({
  sentMs,
  receivedMs: sentMs + rtt,
  dateMs: Math.floor((sentMs + rtt / 2 + ahead) / 1000) * 1000,
});

const clockPair = fc.record({
  ahead: fc.integer({ min: -400_000_000, max: 400_000_000 }),
  rtt: fc.integer({ min: 0, max: 400 }),
  sent: fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
});

test('however wrong our clock is, the true offset is within the bounds', () => {
  fc.assert(
    fc.property(clockPair, ({ ahead, rtt, sent }) => {
      let offset = anyOffset;
      let now = sent;
      for (let i = 0; i < 5; i++) {
        offset = narrow(offset, sampleAt(now, rtt, ahead));
        expect(offset.low).toBeLessThanOrEqual(ahead);
        expect(offset.high).toBeGreaterThanOrEqual(ahead);
        now += rtt + untilTellingMs(now + rtt, offset);
      }
    }),
  );
});

test('five answers tell the service’s time to within 150 ms on a quick network', () => {
  fc.assert(
    fc.property(clockPair, ({ ahead, sent }) => {
      let offset = anyOffset;
      let now = sent;
      for (let i = 0; i < 5; i++) {
        offset = narrow(offset, sampleAt(now, 4, ahead));
        now += 4 + untilTellingMs(now + 4, offset);
      }
      expect(offset.high - offset.low).toBeLessThanOrEqual(150);
    }),
  );
});

test('a record is older, newer, or too close to tell', () => {
  const offset = { low: 500, high: 700 };
  const started = Date.parse('2026-01-01T12:00:00.000Z');
  expect(ageOf('2026-01-01T12:00:00.400Z', started, offset)).toBe('older');
  expect(ageOf('2026-01-01T12:00:00.600Z', started, offset)).toBe('unclear');
  expect(ageOf('2026-01-01T12:00:00.700Z', started, offset)).toBe('newer');
});

test('a time in whole seconds stands for the whole second', () => {
  const offset = { low: 500, high: 700 };
  const started = Date.parse('2026-01-01T12:00:00.000Z');
  expect(ageOf('2026-01-01T11:59:59Z', started, offset)).toBe('older');
  expect(ageOf('2026-01-01T12:00:00Z', started, offset)).toBe('unclear');
  expect(ageOf('2026-01-01T12:00:01Z', started, offset)).toBe('newer');
});
