// What tells a copy that has every table and column of this svc from an older one, written down so that no question computes it.
import { expect, test } from 'vitest';
import { markOf, steps } from '../../src/mirror/store/migrations.ts';
import { marks, version } from '../../src/mirror/store/schema-mark.ts';

test('the marks are those of the tables as they are', () => {
  expect(marks).toEqual({ sqlite: markOf('sqlite'), postgres: markOf('postgres') });
});

test('the version is the number of the steps', () => {
  expect(version).toBe(steps.length);
});
