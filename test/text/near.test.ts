import { expect, test } from 'vitest';
import { nearest } from '../../src/text/near.ts';

test.each<[typed: string, words: readonly string[], meant: string | undefined]>([
  ['opne', ['open', 'pending'], 'open'],
  ['opened', ['open', 'pending'], 'open'],
  ['resolvd', ['resolved'], 'resolved'],
  ['Work', ['work', 'home'], 'work'],
  ['nope', ['open', 'pending'], undefined],
  ['d', ['k', 'dev'], undefined],
  ['qa', ['eu', 'us'], undefined],
  ['uninstall', ['install'], undefined],
])('what is near %s among %j is %s', (typed, words, meant) => {
  expect(nearest(typed, words)).toBe(meant);
});
