// Rows that svc has shown itself, of another kind of record: their ids are those of unrelated records too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

async function from(rows: readonly object[], argv: readonly string[], flags: readonly string[] = []) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const file = join(world.folder, 'rows.jsonl');
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const ran = await svc(world, [...argv, '--from', file, '--yes', '--json', ...flags]);
  const said = `${ran.stdout}\n${ran.stderr}`.replaceAll('\\"', '"').replaceAll(/\s+/gu, ' ');
  return { exitCode: ran.exitCode, said, writes: world.sent.filter((line) => !line.startsWith('GET')) };
}

test('what tickets waiting shows closes the tickets in it, and no ticket with the id of a conversation', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  await svc(world, ['mirror', 'pull', '--quiet']);
  const shown = await svc(world, ['tickets', 'waiting', '--json']);
  const rows = JSON.parse(shown.stdout) as { kind: string; id: number }[];
  const tickets = rows.filter(({ kind }) => kind === 'ticket');
  expect([tickets.length > 0, tickets.length < rows.length]).toEqual([true, true]);
  const { exitCode, said, writes } = await from(rows, ['tickets', 'close']);
  expect(exitCode).toBe(8);
  expect(said).toContain('is of the kind "conversation", and its id is not that of a ticket');
  expect(writes.toSorted()).toEqual(tickets.map(({ id }) => `PATCH /tickets/${id}`).toSorted());
});

test.each([
  [['tickets', 'reply', '--body', 'Sorry'], { kind: 'conversation', id: 17 }, 'is of the kind "conversation"'],
  [['tickets', 'close'], { kind: 'messages', id: 7 }, 'is of the kind "messages"'],
  [['conversations', 'resolve'], { kind: 'ticket', id: 5 }, 'is of the kind "ticket"'],
  [['contacts', 'update'], { kind: 'lists', id: 5, company: 'X' }, 'is of the kind "lists"'],
  [
    ['tickets', 'close'],
    { id: 7, state: 'waiting', operation: 'replyToTicket', record: { kind: 'tickets', id: 42 }, digest: 'd' },
    "is a draft of svc, and its id is the draft's, not that of a ticket",
  ],
])('%j sends nothing for %j', async (argv, row, problem) => {
  const { exitCode, said, writes } = await from([row], argv);
  expect([8, 2]).toContain(exitCode);
  expect(said).toContain(problem);
  expect(writes).toEqual([]);
});

test.each([
  [{ kind: 'tickets', id: 7 }, []],
  [{ kind: 'Ticket', id: 7 }, []],
  [{ kind: 'bug', id: 7 }, []],
  [{ id: 7 }, []],
  [{ kind: 'call', id: 7 }, ['--map', 'kind=ignore']],
])('%j is a row of tickets', async (row, flags) => {
  const { exitCode, said, writes } = await from([row], ['tickets', 'close'], flags);
  expect(exitCode, said).toBe(0);
  expect(writes).toEqual(['PATCH /tickets/7']);
});
