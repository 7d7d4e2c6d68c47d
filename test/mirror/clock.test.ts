// @module-tag long
import { expect } from 'vitest';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';
import { faulty, without } from './faulty.ts';
import { copied, request, truth, withoutContacts } from './truth.ts';

const subjects = (world: SandboxWorld) =>
  sql(world, "SELECT subject FROM tickets WHERE subject LIKE 'Set %' ORDER BY 1");

onBothEngines('the clock of the service', ({ test, world: fresh, pulled }) => {
  test('steps back ten minutes: what changed since is found', async () => {
    const world = await pulled();
    world.clock.advance(3_600_000);
    await request(world, 'PATCH', '/tickets/1', { subject: 'Set before' });
    await ok(world, 'mirror pull');
    world.clock.advance(-600_000);
    await request(world, 'PATCH', '/tickets/2', { subject: 'Set at once' });
    world.clock.advance(240_000);
    await request(world, 'PATCH', '/tickets/3', { subject: 'Set later' });
    await request(world, 'POST', '/tickets/4/replies', { body: 'An answer' });
    await ok(world, 'mirror pull');
    expect(await subjects(world)).toEqual(['Set at once', 'Set before', 'Set later'].map((subject) => ({ subject })));
    // From then on it is asked for as little as before.
    world.clock.advance(60_000);
    await request(world, 'PATCH', '/tickets/5', { subject: 'Set after' });
    world.sent.length = 0;
    await ok(world, 'mirror pull --only tickets');
    expect(world.sent.every((line) => !line.startsWith('GET /tickets?') || line.includes('updated_since'))).toBe(true);
    expect(withoutContacts(await copied(world))).toEqual(withoutContacts(await truth(world)));
  });

  test('steps back, and has passed the cursor again before the next pull', async () => {
    const world = await pulled();
    world.clock.advance(3_600_000);
    await request(world, 'PATCH', '/tickets/1', { subject: 'Set before' });
    await ok(world, 'mirror pull');
    world.clock.advance(-3_000_000);
    await request(world, 'PATCH', '/tickets/2', { subject: 'Set in between' });
    world.clock.advance(3_600_000);
    // This machine's clock went on as clocks do.
    const clock = { ...world.clock, now: () => new Date(world.clock.now().getTime() + 3_000_000) };
    await ok({ ...world, clock }, 'mirror pull');
    expect(await subjects(world)).toEqual([{ subject: 'Set before' }, { subject: 'Set in between' }]);
  });

  test('was ahead for a while: what changes after it is right again is found', async () => {
    const world = await pulled();
    world.clock.advance(7_200_000);
    await request(world, 'PATCH', '/tickets/1', { subject: 'Set ahead' });
    await ok(world, 'mirror pull');
    world.clock.advance(-7_000_000);
    await request(world, 'PATCH', '/tickets/1', { subject: 'Set right' });
    await request(world, 'PATCH', '/tickets/2', { subject: 'Set too' });
    await ok(world, 'mirror pull');
    expect(await subjects(world)).toEqual([{ subject: 'Set right' }, { subject: 'Set too' }]);
  });

  test('steps back while a first pull reads: nothing is missed', async () => {
    const world = fresh();
    let requests = 0;
    const exchange: SandboxWorld['exchange'] = async (asked) => {
      if (++requests === 30) {
        world.clock.advance(-600_000);
        await request(world, 'PATCH', '/tickets/44', { subject: 'Set meanwhile' });
      }
      return world.exchange(asked);
    };
    await ok({ ...world, exchange }, 'mirror pull --only tickets');
    await ok(world, 'mirror pull --only tickets');
    expect((await copied(world)).tickets).toEqual((await truth(world)).tickets);
  });

  test('steps back while watch follows an account that was never pulled: what changes then is told', async () => {
    const world = fresh();
    world.clock.advance(86_400_000);
    const end = new AbortController();
    let rounds = 0;
    const exchange: SandboxWorld['exchange'] = async (asked) => {
      if (/\/tickets\?page=1&/u.test(asked.url) && ++rounds === 2) {
        world.clock.advance(-600_000);
        await request(world, 'PATCH', '/tickets/8', { subject: 'Set back' });
      }
      if (rounds > 5) end.abort('SIGINT');
      return world.exchange(asked);
    };
    const ran = await svc({ ...world, exchange }, ['watch', 'tickets', '--json'], { signal: end.signal });
    expect(ran.stdout).toContain('Set back');
  });

  test('a ticket that a full reading does not find, and whose address answers 404, is gone', async () => {
    const world = await pulled();
    world.clock.advance(-600_000);
    const deleted = faulty(world, without('/tickets', 5));
    await ok(deleted, 'mirror pull --full');
    expect(await sql(world, 'SELECT id FROM tickets WHERE gone_at IS NOT NULL')).toEqual([{ id: 5 }]);
    expect(
      await sql(world, 'SELECT count(*) AS n FROM ticket_messages WHERE ticket_id = 5 AND gone_at IS NULL'),
    ).toEqual([{ n: 0 }]);
  });
});
