// What people read of the changes that a command made to a sandbox.
import { expect, test } from 'vitest';
import type { RecordChange } from '../../src/sandbox/compare.ts';
import { comparisonLines } from '../../src/sandbox/compared-text.ts';

const ticket = (id: number, after: object): RecordChange => {
  const before = { subject: 'S', status: 'open', updated_at: '1' };
  return { kind: 'tickets', id, change: 'updated', before, after: { ...before, ...after } };
};

test('records of which only the time moved are called touched, and come last', () => {
  const changes = [ticket(1, { updated_at: '2' }), ticket(2, { status: 'closed', updated_at: '2' })];
  const lines = [...comparisonLines({ changes, webhooks: [], requests: 1, minutes: 0 }, 5)];
  expect(lines.slice(0, 2)).toEqual(['~ tickets 2 S: status open → closed', '~ tickets 1 S: touched']);
});

test('the sums have the words that people use for each kind', () => {
  const made = (kind: RecordChange['kind'], id: number): RecordChange => {
    return { kind, id, change: 'created', before: null, after: {} };
  };
  const changes = [
    made('changelog', 1),
    made('list_members', 1),
    made('list_members', 2),
    ticket(1, { status: 'new' }),
  ];
  const lines = [...comparisonLines({ changes, webhooks: [], requests: 1, minutes: 0 }, 0)];
  expect(lines[0]).toBe('1 changelog entry created, 2 list members created, 1 ticket updated.');
});
