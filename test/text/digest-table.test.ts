// Compact tables of names, numbers and texts: each against a plain Map or Set, whatever is put into it.

import { describe, expect, test } from 'vitest';
import { column, numberColumn } from '../../src/text/column.ts';
import { digestOf, hexDigestOf } from '../../src/text/digest.ts';
import { digestNumbers, numbersWithin } from '../../src/text/digest-numbers.ts';
import { digestColumn, digestTable } from '../../src/text/digest-table.ts';
import { numberTable } from '../../src/text/number-table.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';

const digest = (of: number) => digestOf(String(of)).toString('base64url').slice(0, 22);

/** Few digests, so that they meet again, and each beside one that differs in its last bit alone. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const beside = (text: string) => text.slice(0, 21) + alphabet[alphabet.indexOf(text.charAt(21)) ^ 1];
const someDigest = fc
  .integer({ min: 0, max: 40 })
  .map(digest)
  .chain((one) => fc.constantFrom(one, beside(one)));
const someName = fc.oneof(
  { weight: 4, arbitrary: someDigest },
  { weight: 3, arbitrary: fc.tuple(someDigest, fc.nat({ max: 3 })).map(([one, time]) => `${one}~${time}`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(someDigest, fc.constantFrom('~01', '~999999999', '~9999999999', '~', ' ', '=', 'A'))
      .map(([one, end]) => one + end),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 24 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '!'.repeat(22),
      `${'A'.repeat(21)}é`,
      'A'.repeat(22),
      `${'A'.repeat(21)}B`,
      '_'.repeat(22),
      hexDigestOf(''),
    ),
  },
);

describe('a table of names', () => {
  test('finds what a Map finds, and keeps every name as it was', () => {
    fc.assert(
      fc.property(fc.array(someName, { maxLength: 800 }), fc.array(someName, { maxLength: 50 }), (added, asked) => {
        const table = digestTable();
        const plain = new Map<string, number>();
        for (const name of added) {
          if (!plain.has(name)) plain.set(name, plain.size);
          expect(table.add(name)).toBe(plain.get(name));
        }
        expect(table.size()).toBe(plain.size);
        for (const [name, place] of plain) expect([table.find(name), table.nameAt(place)]).toEqual([place, name]);
        for (const name of asked) expect(table.find(name)).toBe(plain.get(name) ?? -1);
      }),
      { numRuns: draws(20, 60) },
    );
  });

  test('holds 40,000 rows, half of them equal to one another', { tags: ['long'] }, () => {
    const table = digestTable();
    const names = Array.from({ length: 20_000 }, (_, at) => digest(at)).concat(
      Array.from({ length: 20_000 }, (_, at) => (at === 0 ? digest(1e6) : `${digest(1e6)}~${at + 1}`)),
    );
    for (const [at, name] of names.entries()) if (table.add(name) !== at) throw new Error(`${name} is not new`);
    for (const [at, name] of names.entries())
      if (table.find(name) !== at || table.nameAt(at) !== name) throw new Error(`${name} is not found`);
    expect(table.find(digest(1e6 + 1))).toBe(-1);
    expect(table.find(`${digest(1e6)}~20001`)).toBe(-1);
  });
});

test('a column of names holds what was set last at each place', () => {
  const place = fc.constantFrom(0, 1, 4095, 4096, 20_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(place, fc.option(someName, { nil: undefined })), { maxLength: 60 }), (steps) => {
      const [texts, plain] = [digestColumn(), new Map<number, string | undefined>()];
      for (const [at, text] of steps) {
        texts.set(at, text);
        plain.set(at, text);
      }
      for (const at of [0, 1, 2, 4095, 4096, 20_000, 30_000]) expect(texts.get(at)).toBe(plain.get(at));
    }),
  );
});

const someNumber = fc.oneof(
  fc.nat({ max: 300 }),
  fc.constantFrom(2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 33 - 1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
);

test('a column of numbers holds what was set last at each place', () => {
  const place = fc.constantFrom(0, 5, 16_383, 16_384, 100_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(place, fc.option(someNumber, { nil: undefined })), { maxLength: 60 }), (steps) => {
      const [numbers, plain] = [numberColumn(), new Map<number, number | undefined>()];
      for (const [at, value] of steps) {
        numbers.set(at, value);
        plain.set(at, value);
      }
      for (const at of [0, 5, 6, 16_383, 16_384, 100_000]) expect(numbers.get(at)).toBe(plain.get(at));
    }),
  );
  const small = column(8);
  small.set(70_000, 255);
  expect([small.get(70_000), small.get(69_999), small.get(0)]).toEqual([255, 0, 0]);
});

test('a table of numbers finds what a Map finds', () => {
  const step = fc.tuple(someNumber, fc.option(fc.nat({ max: 2 ** 31 - 1 }), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.array(someNumber), (steps, asked) => {
      const [table, plain] = [numberTable(), new Map<number, number>()];
      for (const [key, value] of steps) {
        if (value === undefined) table.add(key);
        else table.set(key, value);
        plain.set(key, value ?? plain.get(key) ?? 0);
      }
      for (const key of [...plain.keys(), ...asked]) expect(table.get(key)).toBe(plain.get(key));
      expect(table.size()).toBe(plain.size);
      expect([...table].sort((a, b) => a - b)).toEqual([...plain.keys()].sort((a, b) => a - b));
    }),
  );
});

test('numbers by texts of any length, and parts of them, are what Maps hold', () => {
  const part = fc.constantFrom('a', 'a 1', 'b');
  const key = fc.oneof(fc.nat({ max: 20 }), fc.constant(Number.MAX_SAFE_INTEGER));
  const step = fc.tuple(part, key, fc.option(fc.nat({ max: 2 ** 32 - 1 }), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(fc.tuple(part, key)), (steps, asked) => {
      const [all, plain] = [digestNumbers(), new Map<string, number>()];
      all.set('a text of its own', 7);
      for (const [name, one, value] of steps) {
        const numbers = numbersWithin(all, name);
        const text = JSON.stringify([name, one]);
        if (value === undefined) numbers.add(one);
        else numbers.set(one, value);
        plain.set(text, value ?? plain.get(text) ?? 0);
      }
      for (const [name, one] of [...asked, ...steps]) {
        const [numbers, text] = [numbersWithin(all, name), JSON.stringify([name, one])];
        expect(numbers.get(one)).toBe(plain.get(text));
      }
      expect([all.get('a text of its own'), all.get('')]).toEqual([7, undefined]);
    }),
  );
});
