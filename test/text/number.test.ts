// Numbers as people read them.
import { expect, test } from 'vitest';
import { number } from '../../src/text/number.ts';

test.each([
  [0, '0'],
  [-0, '0'],
  [999, '999'],
  [-999, '-999'],
  [1_000, '1,000'],
  [-12_345, '-12,345'],
  [123_456, '123,456'],
  [1_234_567, '1,234,567'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
  [0.5, '0.5'],
  [1_234.5, '1,234.5'],
  [1e21, '1,000,000,000,000,000,000,000'],
])('%d is %s', (value, text) => expect(number(value)).toBe(text));
