import { expect, test } from 'vitest';
import { judge, whereIs, without } from './real-component.ts';

test('a test whose programs are installed runs, in CI and elsewhere', () => {
  expect(whereIs('node')).toMatch(/node$/u);
  const run = { verdict: 'run', reason: '' };
  expect([judge(['node'], true), judge(['node'], false)]).toEqual([run, run]);
});

test('a missing program skips a test with its name as the reason, and fails it in CI', () => {
  const reason = 'not installed here: no-such-program-of-svc';
  expect(judge(['node', 'no-such-program-of-svc'], false)).toEqual({ verdict: 'skip', reason });
  expect(judge(['node', 'no-such-program-of-svc'], true)).toEqual({ verdict: 'fail', reason });
});

// Without this one form of them is an error where nothing is installed, and nobody who has it all would see that.
const missing = without('skip', 'to see that each form of a test can be skipped');
missing('by itself', () => expect.unreachable());
missing('with options', { timeout: 1 }, () => expect.unreachable());
missing.each([1, 2])('for each %s', () => expect.unreachable());
missing.for([1, 2])('for %s', () => expect.unreachable());
missing.runIf(true)('on a condition', () => expect.unreachable());
missing.skipIf(false)('without a condition', () => expect.unreachable());
