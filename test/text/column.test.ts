import { describe, expect, test } from 'vitest';
import { column, numberColumn } from '../../src/text/column.ts';
import { hexDigestOf } from '../../src/text/digest.ts';
import { digestColumn } from '../../src/text/digest-table.ts';

/** Around the ends of what is taken at once, in the order in which a list grows and against it. */
const places = [0, 63, 64, 127, 128, 4095, 4096, 16_383, 16_384, 40_000];
const orders: [string, readonly number[]][] = [
  ['upwards', places],
  ['downwards', places.toReversed()],
];

describe.each(orders)('what was set stays while more is set %s', (_, order) => {
  test.each([8, 32] as const)('in a column of %i bits', (width) => {
    const numbers = column(width);
    for (const place of order) numbers.set(place, (place % 200) + 1);
    expect(order.map(numbers.get)).toEqual(order.map((place) => (place % 200) + 1));
    expect([1, 62, 65, 5000, 50_000].map(numbers.get)).toEqual([0, 0, 0, 0, 0]);
    numbers.set(64, 0);
    expect(numbers.get(64)).toBe(0);
  });

  test('in a column of large numbers', () => {
    const numbers = numberColumn();
    for (const place of order) numbers.set(place, place * 2 ** 30);
    expect(order.map(numbers.get)).toEqual(order.map((place) => place * 2 ** 30));
    expect(numbers.get(65)).toBeUndefined();
  });

  test('in a column of names', () => {
    const nameAt = (place: number) =>
      Buffer.from(hexDigestOf(`${place}`), 'hex')
        .toString('base64url')
        .slice(0, 22);
    const names = digestColumn();
    for (const place of order) names.set(place, nameAt(place));
    expect(order.map(names.get)).toEqual(order.map(nameAt));
    expect(names.get(65)).toBeUndefined();
  });
});
