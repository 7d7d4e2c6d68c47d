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

test('a hundred thousand names that are much alike are looked through at once', () => {
  const words = Array.from(
    { length: 100_000 },
    (_, at) => `contact-export-of-march-2026-${String(at).padStart(6, '0')}.csv`,
  );
  const began = process.cpuUsage();
  expect(nearest('contact-export-of-march-2026-9999.csv', words)).toBe('contact-export-of-march-2026-009999.csv');
  // Letter by letter it took half a minute, in which no Ctrl-C was heard. What else the machine does meanwhile does not count.
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
});
