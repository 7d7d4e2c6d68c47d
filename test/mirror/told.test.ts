/** What `mirror changes` and `watch` say of a change. */
import { expect, test } from 'vitest';
import { changeSeen, whatChanged } from '../../src/mirror/pull/told.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';

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

const ticket = { id: 5, ticket_number: 'T-1005', subject: 'Import refuses our CSV', status: 'open', priority: 0 };

test.each([
  ['updated', { status: 'resolved', priority: 3 }, 'open → resolved, priority 0 → 3 · T-1005 Import refuses our CSV'],
  ['updated', { updated_at: 'later' }, 'T-1005 Import refuses our CSV'],
  ['created', {}, 'T-1005 Import refuses our CSV'],
  ['gone', {}, 'T-1005 Import refuses our CSV'],
] as const)('beside the word %s, a table says of %j: %s', (change, changed, said) => {
  expect(changeSeen({ kind: 'tickets', change, before: ticket, after: { ...ticket, ...changed } })).toBe(said);
});

test.each([60, 80])('at %i columns a table shows what changed, and leaves out or cuts the rest', async (columns) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  await ok(world, 'mirror pull --only tickets,contacts');
  await ok(world, 'tickets resolve 5');
  await ok(world, 'tickets update 5 --priority 3');
  await ok(world, ['tickets', 'update', '7', '--subject', 'The import refuses our CSV with a very long header line']);
  await ok(world, ['contacts', 'update', '7', '--company', 'A much longer name of a company']);
  await ok(world, 'mirror pull');
  const { stdout } = await svc(world, ['mirror', 'changes', '--no-color'], { columns });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/Kind +ID +Change +What$/u);
  expect(lines.find((line) => / 5 +updated/u.test(line))).toContain('open → resolved, priority 0 → 3');
  expect(lines.find((line) => /tickets +7 +updated/u.test(line))).toMatch(/subject .+ → The/u);
  expect(lines.find((line) => /contacts +7 +updated/u.test(line))).toMatch(/company .+ → A m/u);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
});
