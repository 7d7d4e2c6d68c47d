// Journals that lie on disks keep their words, whatever the code calls them.
import { expect, test } from 'vitest';
import { parseLine } from '../../src/bulk/journal/check.ts';

test('a line about renamed rows has the status of each under the key fate', () => {
  const rows = [{ was: 'row-of-0.1.0', row: 'abc', fate: { status: 'done', line: 2, id: 7 } }];
  expect(parseLine(JSON.stringify({ renamed: { rows } }))).toEqual({ renamed: { rows } });
  const others = [{ was: 'row-of-0.1.0', row: 'abc', rowStatus: { status: 'done', line: 2, id: 7 } }];
  expect(parseLine(JSON.stringify({ renamed: { rows: others } }))).toBeUndefined();
});
