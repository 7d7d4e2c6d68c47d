import { expect, test } from 'vitest';
import { isCountryCodeOf } from '../../src/text/country.ts';

test.each([
  ['US', 'United States'],
  ['us', 'United States of America'],
  ['NL', 'The Netherlands'],
  ['DE', 'Deutschland'],
  ['CZ', 'Czech Republic'],
  ['KR', 'Republic of Korea'],
  ['VN', 'Viet Nam'],
  ['UK', 'United Kingdom'],
  ['CI', "Cote d'Ivoire"],
  ['JP', '日本国 Japan'],
  ['USA', 'United States'],
])('%s may be kept as %s', (code, name) => {
  expect(isCountryCodeOf(code, name)).toBe(true);
});

test.each([
  ['NL', 'France'],
  ['NL', 'Not a country'],
  ['DE', 'France'],
  ['KR', 'North Korea'],
  ['KP', 'South Korea'],
  ['GB', 'United States'],
  ['FR', 'NL'],
  ['France', 'Netherlands'],
  ['XX', 'Nowhere'],
])('%s is not %s', (code, name) => {
  expect(isCountryCodeOf(code, name)).toBe(false);
});
