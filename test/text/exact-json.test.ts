// Whole numbers of JSON that a number would round.
import { expect, test } from 'vitest';
import { exactText, isKept, parseExactly, parseUnrounded, roundedIn } from '../../src/text/exact-json.ts';

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['1700000000000000000', 1700000000000000000],
  // The service would read other digits than stand there.
  ['1152921504606846976', 1152921504606846976n],
  ['1000000000000000000000', 1000000000000000000000n],
  ['12345678901234567890.0', 12345678901234567890n],
  ['-0', -0],
  ['0.1', 0.1],
  ['0.10000000000000001', 0.1],
  ['1.5e300', 1.5e300],
])('%s is %s', (text, value) => {
  expect(parseExactly(text)).toBe(value);
  expect(parseExactly(`{"a":[1,{"b":${text}}]}`)).toEqual({ a: [1, { b: value }] });
});

test('strings and keys are left alone, whatever stands in them', () => {
  const text =
    '{"9007199254740993":"9007199254740993","\\"9007199254740993":"\\\\","x":9007199254740993,"__proto__":1}';
  const value = parseExactly(text);
  expect(roundedIn(value)).toBe(9007199254740993n);
  expect(exactText(value)).toBe(text.replace('"x":9007199254740993', '"x":"9007199254740993"'));
});

test.each(['{"a":09007199254740993}', '{"a":9007199254740993', '{"a":1e400}', '-', '9007199254740993 1'])(
  '%s is no JSON',
  (text) => expect(() => parseExactly(text)).toThrow(SyntaxError),
);

test('each literal that is kept is written as it was read', () => {
  for (const literal of ['1', '-7', '4503599627370496123', '123456789012345680000', '9007199254740994'])
    if (isKept(literal)) expect(JSON.stringify(JSON.parse(literal))).toBe(literal);
});

test.each([
  ['9007199254740993.5', false],
  ['-12345678901234567.25', false],
  ['1.2345678901234567891e19', false],
  ['9007199254740992.0', true],
  ['123456789012345680000e0', true],
  ['1.5e20', true],
  ['1.50E+20', true],
  ['4503599627370496.55', true],
])('%s keeps its digits: %s', (literal, isSame) => {
  const value = parseExactly(`[${literal}]`);
  expect(roundedIn(value) === undefined).toBe(isSame);
  expect(exactText(value)).toBe(isSame ? JSON.stringify([Number(literal)]) : `["${literal}"]`);
});

test.each([
  ['12345678901234567891', '12345678901234567891'],
  ['-9007199254740993', '-9007199254740993'],
  ['9007199254740993.5', '9007199254740993.5'],
  ['1e999', '1e999'],
  ['1.2345678901234567891E19', '1.2345678901234567891E19'],
  ['1700000000000000000', 1700000000000000000],
  ['1e20', 1e20],
  ['0.1234567890123456789', 0.12345678901234568],
  ['"1e999 12345678901234567891"', '1e999 12345678901234567891'],
])('of an answer, %s is %s', (text, value) => {
  expect(parseUnrounded(text)).toBe(value);
  expect(parseUnrounded(`{"12345678901234567891":[1,{"b":${text}}]}`)).toEqual({
    '12345678901234567891': [1, { b: value }],
  });
});

test.each([
  ['a long string', 'x'.repeat(20_000_000)],
  ['one of escapes', '\\n'.repeat(5_000_000)],
  ['one of backslashes and quotes', '\\\\\\"'.repeat(1_000_000)],
])('%s beside such a number is read', { tags: ['long'] }, (_, string) => {
  const text = `{"a":"${string}","b":12345678901234567891}`;
  const { a, b } = parseUnrounded(text) as { a: string; b: string };
  expect([a === JSON.parse(text).a, b, (parseExactly(text) as { b: bigint }).b]).toEqual([
    true,
    '12345678901234567891',
    12345678901234567891n,
  ]);
});
