import { expect, test } from 'vitest';
import { mayBeCountry } from '../../src/text/country.ts';
import { cpuTimer } from '../cpu.ts';

test.each([
  ['US', 'United States'],
  ['us', 'United States of America'],
  ['NL', 'The Netherlands'],
  ['DE', 'Deutschland'],
  ['CZ', 'Czech Republic'],
  ['KR', 'Republic of Korea'],
  ['VN', 'Viet Nam'],
  ['UK', 'United Kingdom'],
  ['UK', 'GB'],
  ['CI', "Cote d'Ivoire"],
  ['CI', 'Ivory Coast'],
  ['LA', "Lao People's Democratic Republic"],
  ['VA', 'Holy See'],
  ['JP', '日本国 Japan'],
  ['USA', 'United States'],
  ['Germany', 'Deutschland'],
  ['FRA', 'Frankreich'],
  ['GB', 'England'],
  ['SZ', 'Swaziland'],
])('%s may be kept as %s, and the other way round', (one, other) => {
  expect([mayBeCountry(one, other), mayBeCountry(other, one)]).toEqual([true, true]);
});

test.each([
  ['NL', 'France'],
  ['DE', 'France'],
  ['KR', 'North Korea'],
  ['KP', 'South Korea'],
  ['GB', 'United States'],
  ['US', 'U.S. Outlying Islands'],
  ['GN', 'Guinea-Bissau'],
  ['FR', 'NL'],
  ['France', 'Netherlands'],
  ['Francia', 'Frnace'],
  ['XX', 'Nowhere'],
  ['USA', 'France'],
  ['US', 'N/A'],
  ['US', 'Unknown'],
  ['DE', 'Not set'],
  ['DE', 'deleted'],
  ['England', 'FR'],
  ['XY', 'FR'],
  ['US', ''],
])('%s is not %s', (one, other) => {
  expect([mayBeCountry(one, other), mayBeCountry(other, one)]).toEqual([false, false]);
});

test('a thousand comparisons take no time worth naming', () => {
  const computed = cpuTimer();
  for (let at = 0; at < 1000; at++) mayBeCountry('NL', `Country ${at}`);
  expect(computed()).toBeLessThan(2000);
});
