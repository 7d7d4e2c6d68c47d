/** The inbox in a pipe: the rows of each view, from the copy alone, and the views of one's own. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { json, ok, onBothEngines } from '../mirror/engines.ts';
import { createWorld, svc } from '../svc.ts';
import { linear, patient } from './desk.ts';

type Row = { kind: string; id: number; why: string | null; waiting_since: string | null; status: string };

onBothEngines('the rows of a view', ({ test, pulled }) => {
  test('waiting holds what svc tickets waiting lists, in the same order and shape', async () => {
    const world = await pulled();
    const rows: Row[] = await json(world, 'inbox');
    expect(rows.length).toBeGreaterThan(3);
    expect(rows).toEqual(await json(world, 'tickets waiting'));
    expect(Object.keys(rows[0] ?? {})).toEqual([
      ...['kind', 'id', 'number', 'subject', 'contact', 'waiting_since', 'priority', 'channel', 'status', 'why'],
    ]);
  });

  test('open holds all that is unresolved, those that wait first', async () => {
    const rows: Row[] = await json(await pulled(), 'inbox open');
    expect(rows.some(({ waiting_since: since }) => since === null)).toBe(true);
    expect(new Set(rows.map(({ status }) => status))).not.toContain('resolved');
    const waits = rows.map(({ waiting_since: since }) => since !== null);
    expect(waits).toEqual([...waits].sort((a, b) => Number(b) - Number(a)));
  });

  test('a view of one own shows its records in its order, with why', async () => {
    const world = await pulled();
    const query = "SELECT 'ticket' AS kind, id, subject AS why FROM tickets WHERE priority >= 3 ORDER BY id DESC";
    await ok(world, ['views', 'edit', 'urgent', '--text', query]);
    const rows: Row[] = await json(world, 'inbox urgent');
    const wanted = await json(world, [
      'mirror',
      'sql',
      'SELECT id, subject FROM tickets WHERE priority >= 3 ORDER BY id DESC',
    ]);
    expect(rows.map(({ id, why: subject }) => ({ id, subject }))).toEqual(wanted);
  });

  test('what is put away is so for whoever uses the copy, and is forgotten with it', { tags: ['long'] }, async () => {
    const pulledWorld = await pulled();
    const world = { ...pulledWorld, clock: patient(pulledWorld.clock) };
    const before: Row[] = await json(world, 'inbox');
    const ran = await linear(world, ['1', 'z', '1', 'q']);
    expect(ran.stdout).toContain('Put away until');
    expect(await json(world, 'inbox snoozed')).toMatchObject([
      { id: before[0]?.id, why: expect.stringMatching(/^until /u) },
    ]);
    expect(((await json(world, 'inbox')) as Row[]).map(({ id }) => id)).toEqual(before.slice(1).map(({ id }) => id));
    await ok(world, 'mirror forget --yes');
    expect((await svc(world, ['inbox'])).exitCode).toBe(1);
  });

  test('a view of one own cannot change the copy', { tags: ['long'] }, async () => {
    const world = await pulled();
    const views = join(world.folder, 'config', 'views');
    mkdirSync(views, { recursive: true });
    writeFileSync(join(views, 'bad.sql'), 'DELETE FROM tickets');
    expect((await svc(world, ['inbox', 'bad'])).exitCode).toBe(2);
    for (const text of [
      'DELETE FROM tickets',
      'SELEC 1',
      'SELECT id FROM tickets',
      "SELECT 'ticket' AS kind, id FROM missing",
    ]) {
      expect(await svc(world, ['views', 'edit', 'worse', '--text', text]), text).toMatchObject({ exitCode: 2 });
      expect(existsSync(join(views, 'worse.sql'))).toBe(false);
    }
    expect(((await json(world, 'inbox')) as Row[]).length).toBeGreaterThan(3);
  });

  test('feedback, new, drafts, snoozed and unknown are rows of the same shape', async () => {
    const world = await pulled();
    const posts: Row[] = await json(world, 'inbox feedback');
    expect(posts[0]).toMatchObject({ kind: 'feedback', waiting_since: null, why: expect.stringMatching(/vote/u) });
    await ok(world, ['tickets', 'reply', '8', '--body', 'Thanks', '--draft']);
    expect(await json(world, 'inbox drafts')).toMatchObject([{ kind: 'draft', subject: 'Thanks', status: 'waiting' }]);
    for (const view of ['new', 'snoozed', 'unknown'])
      expect(Array.isArray(await json(world, `inbox ${view}`)), view).toBe(true);
  });
});

test('without a copy the rows are exit 1 with the way to one; a view that is not there is named', async () => {
  const world = createWorld(async () => ({ status: 500, headers: {}, body: '' }));
  const ran = await svc(world, ['inbox']);
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('svc mirror pull')]);
  const other = await svc(world, ['inbox', 'wating']);
  expect([other.exitCode, other.stderr]).toEqual([3, expect.stringContaining('Did you mean waiting?')]);
});
