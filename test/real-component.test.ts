import { expect, test } from 'vitest';
import { judge, whereIs } from './real-component.ts';

test('a test whose programs are installed runs, in CI and elsewhere', () => {
  expect(whereIs('node')).toMatch(/node$/u);
  expect([judge(['node'], true), judge(['node'], false)]).toEqual([{ verdict: 'run' }, { verdict: 'run' }]);
});

test('a missing program skips a test with its name as the reason, and fails it in CI', () => {
  const reason = 'not installed here: no-such-program-of-svc';
  expect(judge(['node', 'no-such-program-of-svc'], false)).toEqual({ verdict: 'skip', reason });
  expect(judge(['node', 'no-such-program-of-svc'], true)).toEqual({ verdict: 'fail', reason });
});
