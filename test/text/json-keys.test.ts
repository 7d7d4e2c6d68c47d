import { expect, test } from 'vitest';
import { keyTwice } from '../../src/text/json-keys.ts';

test.each([
  ['{"a":1,"b":2,"a":3}', 'a'],
  ['{"a":{"x":[{"deep":1 , "deep" : 2}]}}', 'deep'],
  // As it is read, not as it is written.
  ['{"status":"draft","st\\u0061tus":"published"}', 'status'],
  ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
  ['{"":1,"":2}', ''],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":{"b":1},"c":[],"a":{}}', 'a'],
])('%s has a key twice', (text, key) => {
  JSON.parse(text);
  expect(keyTwice(text)).toBe(key);
});

test.each([
  '{"a":{"a":[{"a":"a"},{"a":"a"}]},"b":"a","A":1}',
  '["a","a","a:","{\\"a\\":1,\\"a\\":2}"]',
  '{"a":"\\\\","b":"\\\\\\"a\\":"}',
  '"a"',
  'null',
  `${'['.repeat(9000)}${']'.repeat(9000)}`,
])('%s has none', (text) => {
  JSON.parse(text);
  expect(keyTwice(text)).toBeUndefined();
});
