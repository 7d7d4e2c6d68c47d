import { expect, test } from 'vitest';
import { retryAfterMs } from '../../src/retry/retry-after.ts';

const date = 'Sun, 01 Mar 2026 12:00:00 GMT';

test.each<[string, string | undefined, number]>([
  ['7', undefined, 7000],
  ['1.5', undefined, 1500],
  [' 2 ', undefined, 2000],
  ['120', undefined, 120_000],
  ['0', undefined, 250],
  ['0.001', undefined, 250],
  ['-5', undefined, 1000],
  ['-5', date, 1000],
  ['1e3', date, 1000],
  ['soon', date, 1000],
  ['', date, 1000],
  ['Infinity', date, 1000],
  ['Sun, 01 Mar 2026 12:00:09 GMT', date, 9000],
  ['Sunday, 01-Mar-26 12:00:09 GMT', date, 9000],
  ['Sun Mar  1 12:00:09 2026', date, 9000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', date, 250],
  ['Sun, 01 Mar 2026 12:00:09 GMT', undefined, 1000],
  ['Sun, 01 Mar 2026 12:00:09 GMT', 'today', 1000],
  ['Sun, 01 Mar 2026 12:00:09 GMT', ` ${date} `, 9000],
  ['on Sun, 01 Mar 2026 12:00:09 GMT', date, 1000],
])('Retry-After %j with the Date %j is %i ms', (value, date, ms) => {
  expect(retryAfterMs({ 'retry-after': value, ...(date && { date }) })).toBe(ms);
});

test('without the header nothing was asked for', () => {
  expect(retryAfterMs({ date })).toBeUndefined();
});
