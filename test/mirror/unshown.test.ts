// Records that the list names, and whose own address answers 404.
import { describe, expect } from 'vitest';
import { few, type SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { faulty, without } from './faulty.ts';
import { copied, request, truth } from './truth.ts';

const isTicket = (url: URL): boolean => /^\/tickets\/\d+$/u.test(url.pathname);
const troubled = (world: SandboxWorld, isMeant: (url: URL) => boolean) =>
  faulty(world, (url) => (isMeant(url) ? () => 404 : undefined));
const pull = (world: SandboxWorld, flags: readonly string[] = []) => svc(world, ['mirror', 'pull', ...flags]);
const goneTickets = (world: SandboxWorld) => sql(world, 'SELECT id FROM tickets WHERE gone_at IS NOT NULL');

async function isComplete(world: SandboxWorld): Promise<boolean | undefined> {
  const { kinds } = (await json(world, 'mirror status')) as { kinds: { kind: string; complete: boolean }[] };
  return kinds.find(({ kind }) => kind === 'tickets')?.complete;
}

onBothEngines('mirror pull of records that are listed and not shown', ({ test, world: fresh, pulled }) => {
  describe('a service in trouble', () => {
    test('a first pull is not whole, and the next one holds them', async () => {
      const world = await fresh({ seed: few });
      const ran = await pull(troubled(world, isTicket));
      expect(ran.exitCode).toBe(8);
      expect(ran.stderr).toMatch(/The service lists \d+ tickets whose own address answers 404/u);
      expect(await isComplete(world)).toBe(false);
      await ok(world, 'mirror pull');
      expect(await isComplete(world)).toBe(true);
      expect(await copied(world)).toEqual(await truth(world));
    });

    test('nothing is gone by one pull, and nothing stays old or gone', async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
      expect((await pull(troubled(world, isTicket))).exitCode).toBe(8);
      expect(await goneTickets(world)).toEqual([]);
      // What two pulls met is gone until the service shows it again.
      await pull(troubled(world, isTicket), ['--full']);
      expect(await goneTickets(world)).toEqual([{ id: 8 }]);
      await ok(world, 'mirror pull');
      expect(await goneTickets(world)).toEqual([]);
      expect(await copied(world)).toEqual(await truth(world));
    });
  });

  test('a record that was deleted behind the list is gone in the same pull', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
    const deleted = without('/tickets', 8);
    let isListed = false;
    const between = faulty(world, (url) => {
      if (url.pathname !== '/tickets' || isListed) return deleted(url);
      isListed = true;
      return undefined;
    });
    await ok(between, 'mirror pull');
    await ok(faulty(world, deleted), 'mirror pull --full');
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
  });

  test('two pulls that meet the same ones believe it', async () => {
    const world = await fresh({ seed: few });
    const odd = troubled(world, (url) => url.pathname === '/tickets/8');
    expect((await pull(odd)).exitCode).toBe(8);
    await ok(odd, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
    await ok(odd, 'mirror pull');
  });
});

onBothEngines('mirror pull of a record that cannot be read', ({ test, world: fresh, pulled }) => {
  const failsAt = (world: SandboxWorld, ids: readonly number[]): SandboxWorld => ({
    ...world,
    async exchange(asked) {
      const { pathname } = new URL(asked.url);
      if (!ids.some((id) => pathname === `/tickets/${id}`)) return world.exchange(asked);
      return { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server Error"}' };
    },
  });
  const noMessages = (world: SandboxWorld) =>
    faulty(world, ({ pathname }) =>
      pathname === '/conversations/8'
        ? (body) => ({ ...body, conversation: { ...(body.conversation as object), messages: null } })
        : undefined,
    );
  const without8 = (kind: string) => `SELECT count(*) AS n FROM ${kind} WHERE id <> 8`;

  test('the service fails at one ticket: the others, and all other kinds, are there', async () => {
    const world = await fresh({ seed: few });
    const ran = await pull(failsAt(world, [8]), ['--max-wait', '2']);
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain('Not whole: tickets. 1 of its records could not be read, such as 8: ');
    const { tickets = [], ticket_messages: messages = [], ...all } = await truth(world);
    const others = {
      tickets: tickets.filter(({ id }) => id !== 8),
      ticket_messages: messages.filter(({ ticket_id: id }) => id !== 8),
    };
    expect(await copied(world)).toEqual({ ...all, ...others });
    expect(await isComplete(world)).toBe(false);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('a thread without its list of messages: the other threads are there', async () => {
    const world = await fresh({ seed: few });
    const ran = await pull(noMessages(world));
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain('such as 8: The answer for conversations 8 holds no list of messages.');
    const { conversations } = await truth(world);
    expect(await sql(world, without8('conversations'))).toEqual([{ n: (conversations?.length ?? 0) - 1 }]);
  });

  test('a change that cannot be read comes with a later pull, and nothing is gone meanwhile', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
    await request(world, 'PATCH', '/tickets/9', { subject: 'Another' });
    expect((await pull(failsAt(world, [8]), ['--max-wait', '2'])).exitCode).toBe(8);
    expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 9')).toEqual([{ subject: 'Another' }]);
    expect(await goneTickets(world)).toEqual([]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('two of two that changed do not keep the other kinds back, and five in a row end the pull', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    for (const id of [8, 9]) await request(world, 'PATCH', `/tickets/${id}`, { subject: 'New subject' });
    await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
    expect((await pull(failsAt(world, [8, 9]), ['--max-wait', '2'])).exitCode).toBe(8);
    expect(await sql(world, 'SELECT title FROM changelog WHERE id = 2')).toEqual([{ title: 'New title' }]);
    for (const id of [5, 6, 7]) await request(world, 'PATCH', `/tickets/${id}`, { subject: 'New subject' });
    expect((await pull(failsAt(world, [5, 6, 7, 8, 9]), ['--max-wait', '2'])).exitCode).toBe(1);
  });
});
