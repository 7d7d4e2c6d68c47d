// What svc has made last in a run stands in the list that it looks at: what is behind it was there before the next row.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { falling, type IdOrder, withIds } from '../other-ids.ts';
import { demo, few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';
import { runOrKill } from './killing.ts';

const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const serverError: HttpResponse = {
  status: 500,
  headers: { 'content-type': 'application/json', 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '50' },
  body: '{"error":"Server Error"}',
};

const asTheyCome: IdOrder = (id) => id;

/** Tickets as the account has them before, and how ids go on. */
const accounts: readonly [name: string, tickets: number, order: IdOrder][] = [
  ['12 tickets, growing ids', 12, asTheyCome],
  ['11 tickets, growing ids', 11, asTheyCome],
  ['no tickets', 0, asTheyCome],
  ['12 tickets, falling ids', 12, falling],
];

function accountOf(tickets: number, order: IdOrder): SandboxWorld {
  const seed = { ...few, tickets: (few.tickets ?? []).slice(0, tickets) };
  return withIds(sandboxWorld({ rateLimit: 'off', seed }), order);
}

/** The line that creates a ticket for each of them, one after the other. */
function creating({ folder }: World, of: readonly number[]): readonly string[] {
  const file = join(folder, `rows-${of.length}.csv`);
  writeFileSync(file, ['subject,description', ...of.map((at) => `Row ${at},Text ${at}`), ''].join('\n'));
  return ['tickets', 'create', '--from', file, '--yes', '--json', '--concurrency', '1', '--settle', '1'];
}

/** Before the second row is carried out somebody else makes a ticket that is like the third, and then so much time passes. */
function withForeign(
  world: SandboxWorld,
  gapMs: number,
  third: 'as it is' | 'cut',
): World & { readonly rows: string[] } {
  const rows: string[] = [];
  const exchange: World['exchange'] = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    rows.push(String(request.body));
    if (rows.length === 2) {
      const body = JSON.stringify({ subject: 'Row 3', description: 'Text 3' });
      await world.exchange({ ...request, body });
      world.clock.advance(gapMs);
    }
    return rows.length === 3 && third === 'cut' ? cut : world.exchange(request);
  };
  return { ...world, exchange, rows };
}

describe.each(accounts)(
  "somebody else's equal ticket is not taken for a row that never arrived: %s",
  (_, tickets, order) => {
    test.each([10_000, 50_000])('in the same run, %d ms before the row left', async (gapMs) => {
      const world = withForeign(accountOf(tickets, order), gapMs, 'cut');
      const ran = await svc(world, creating(world, [1, 2, 3, 4]));
      expect(ran.exitCode).toBe(9);
      expect(world.rows.filter((row) => row.includes('Row 3'))).toHaveLength(1);
    });

    test.each([0, 30_000])('in the run after one that was killed, %d ms before the second row', async (gapMs) => {
      const counted = accountOf(tickets, order);
      await svc(counted, creating(counted, [1, 2, 3, 4]));
      const third = counted.sent.flatMap((line, at) => (line.startsWith('POST') ? [at] : []))[2] ?? Number.NaN;
      const world = withForeign(accountOf(tickets, order), gapMs, 'as it is');
      const argv = creating(world, [1, 2, 3, 4]);
      const killed = await runOrKill(world, argv, { at: third, heard: false });
      expect(killed.ran).toBeUndefined();
      expect((await svc(killed.next, argv)).exitCode).toBe(9);
    });
  },
);

test('ids that have grown so far need not go on to: a row that was stored with a smaller one is found, and goes once', async () => {
  const given = new Map<number, number>();
  const order: IdOrder = (id) => given.get(id) ?? id;
  const world = withIds(sandboxWorld({ rateLimit: 'off', seed: demo }), order);
  const rows: string[] = [];
  const exchange: World['exchange'] = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    rows.push(String(request.body));
    const answer = await world.exchange(request);
    const at = rows.length - 1;
    if ('lost' in answer || at > 1) return answer;
    const { id } = JSON.parse(answer.body).ticket;
    const other = [600_001, 499_999][at] ?? id;
    given.set(id, other).set(other, id);
    return at === 0 ? { ...answer, body: answer.body.replace(`"id":${id}`, `"id":${other}`) } : serverError;
  };
  const ran = await svc({ ...world, exchange }, creating(world, [1, 2, 3]));
  expect(ran.exitCode).toBe(0);
  expect(rows.map((row) => JSON.parse(row).subject)).toEqual(['Row 1', 'Row 2', 'Row 3']);
});
