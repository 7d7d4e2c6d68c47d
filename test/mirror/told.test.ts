/** What `mirror changes` and `watch` say of a change. */
import { expect, test } from 'vitest';
import { whatChanged } from '../../src/mirror/pull/told.ts';

test.each([
  [{ name: 'Ada', last_name: null, email: 'ada@lovelace.test' }, 'new: Ada <ada@lovelace.test>'],
  [{ name: null, email: null, phone: '+15550100', company: 'Acme' }, 'new: +15550100'],
  [{ name: null, email: null, phone: null, company: 'Acme' }, 'new: Acme'],
  [{ name: null, email: null, phone: null, company: null }, 'new'],
])('a contact is called by what is known of it: %j', (after, said) => {
  expect(whatChanged({ kind: 'contacts', change: 'created', before: null, after })).toBe(said);
});

test('what has no name at all is told without one', () => {
  const [before, after] = [
    { id: 7, company: null },
    { id: 7, company: null, priority: 1 },
  ];
  expect(whatChanged({ kind: 'contacts', change: 'gone', before, after: null })).toBe('gone');
  expect(whatChanged({ kind: 'contacts', change: 'updated', before, after })).toBe('priority (empty) → 1');
});
