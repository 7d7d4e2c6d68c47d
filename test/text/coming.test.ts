// Times as they are typed for what is to come: `tomorrow 9:00`, `in 2h`.
import { describe, expect, test } from 'vitest';
import { isMoving, parseComing } from '../../src/text/time.ts';

/** A Sunday, in this machine's zone. */
const now = new Date(2026, 2, 1, 12, 30, 15);
const at = (day: number, hour = 0, minute = 0) =>
  new Date(2026, 2, day, hour, minute).toISOString().replace('.000Z', 'Z');
const later = (ms: number) => new Date(now.getTime() + ms).toISOString().replace('.000Z', 'Z');

describe('a time to come', () => {
  test.each([
    ['today', at(1)],
    ['today 17:00', at(1, 17)],
    ['tomorrow', at(2)],
    ['Tomorrow 9:00', at(2, 9)],
    ['tomorrow at  09:30', at(2, 9, 30)],
    ['monday 9:00', at(2, 9)],
    ['sunday', at(8)],
    ['sunday 12:30', at(8, 12, 30)],
    ['sunday 12:31', at(1, 12, 31)],
    ['saturday 23:59', at(7, 23, 59)],
    ['in 2h', later(7_200_000)],
    ['2h', later(7_200_000)],
    ['in 30 m', later(1_800_000)],
    ['3d', later(259_200_000)],
    ['now', later(0)],
    ['2030-01-31T09:00:00Z', '2030-01-31T09:00:00Z'],
  ])('%s', (typed, time) => {
    expect(parseComing(typed, '--at', now)).toBe(time);
  });

  test.each(['tomorrow 25:00', 'tomorrow 9', 'yesterday', 'in 2', 'soon', 'tomorrow 9:0', '2026-02-30'])(
    '%s is refused with what can be typed',
    (typed) => {
      expect(() => parseComing(typed, '--at', now)).toThrow(/^--at must /u);
    },
  );

  test('only what the clock moves is moving', () => {
    expect(['now', 'tomorrow 9:00', 'in 2h'].map(isMoving)).toEqual([true, true, true]);
    expect(['2030-01-31', 'soon'].map(isMoving)).toEqual([false, false]);
  });
});
