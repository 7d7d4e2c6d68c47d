// The flag that a message offers for a cell that cannot be read: it can be typed as it stands.
import { expect, test } from 'vitest';
import { remedy } from '../../src/bulk/rows/remedy.ts';

test.each([
  ['on_hold', ' (to read it: --map-value "status:on_hold=pending")'],
  ['In Bearbeitung', ' (to read it: --map-value "status:In Bearbeitung=open")'],
  ['$(touch x)', " (to read it: --map-value 'status:$(touch x)=STATUS')"],
  ["`id`'; id", " (to read it: --map-value 'status:`id`'\\''; id=STATUS')"],
])('a cell %j is a word to a shell, and never its code', (cell, said) => {
  expect(remedy('status', 'status', cell)).toBe(said);
});
