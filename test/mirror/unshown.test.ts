// Records that the list names, and whose own address answers 404.
import { describe, expect } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { type KindState, readState, saveState } from '../../src/mirror/store/state.ts';
import { few, type SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { type Fault, faulty, without } from './faulty.ts';
import { copied, inCopy, request, truth } from './truth.ts';

type Fields = Readonly<Record<string, unknown>>;

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
      expect(ran.stderr).toMatch(/Not whole: tickets\. \d+ of its records answer 404, such as \d+, and may be gone/u);
      expect(await isComplete(world)).toBe(false);
      await ok(world, 'mirror pull');
      expect(await isComplete(world)).toBe(true);
      expect(await copied(world)).toEqual(await truth(world));
    });

    test('nothing is gone by one pull, and nothing stays old or gone', { tags: ['long'] }, async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
      expect((await pull(troubled(world, isTicket))).exitCode).toBe(8);
      expect(await goneTickets(world)).toEqual([]);
      expect((await pull(troubled(world, isTicket), ['--full'])).exitCode).toBe(8);
      expect(await goneTickets(world)).toEqual([]);
      // A service that shows no ticket at all is in trouble, however long.
      world.clock.advance(600_000);
      expect((await pull(troubled(world, isTicket), ['--full'])).exitCode).toBe(8);
      expect(await goneTickets(world)).toEqual([]);
      // What two pulls met, ten minutes apart, is gone until the service shows it again.
      const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
      await ok(hidden, 'mirror pull');
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

  test('nothing is gone by a list of which a record has no id', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
    await request(world, 'PATCH', '/tickets/9', { subject: 'New subject' });
    const deleted = without('/tickets', 8);
    let lists = 0;
    const between = faulty(world, (url) => {
      if (url.pathname !== '/tickets') return deleted(url);
      const isLater = ++lists > 2;
      return (body, asked) => {
        const tickets = (body.tickets as Fields[]).map((one) => (one.id === 9 ? { ...one, id: null } : one));
        return isLater ? deleted(url)?.({ ...body, tickets }, asked) : { ...body, tickets };
      };
    });
    expect((await pull(between)).exitCode).toBe(8);
    expect(await goneTickets(world)).toEqual([]);
  });

  test('the list is looked at once more, and what answers 404 for ten minutes is believed then', {
    tags: ['long'],
  }, async () => {
    const world = await fresh({ seed: few });
    const lists: URL[] = [];
    const odd = faulty(world, (url) => {
      if (url.pathname === '/tickets' && /per_page=100$/u.test(url.search)) lists.push(url);
      return url.pathname === '/tickets/8' ? () => 404 : undefined;
    });
    expect((await pull(odd)).exitCode).toBe(8);
    expect(lists).toHaveLength(2);
    world.clock.advance(599_000);
    expect((await pull(odd)).exitCode).toBe(8);
    world.clock.advance(1_000);
    await ok(odd, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
    await ok(odd, 'mirror pull');
  });

  test('others than before are not believed, also where their sum is the same', { tags: ['long'] }, async () => {
    const world = await pulled();
    const change = async () => {
      world.clock.advance(600_000);
      for (const id of [1, 2, 3, 4]) await request(world, 'PATCH', `/tickets/${id}`, { subject: 'New subject' });
    };
    const at = (...ids: readonly number[]) =>
      troubled(world, ({ pathname }) => ids.some((id) => pathname === `/tickets/${id}`));
    await change();
    expect((await pull(at(1, 4))).exitCode).toBe(8);
    await change();
    expect((await pull(at(2, 3))).exitCode).toBe(8);
    expect(await goneTickets(world)).toEqual([]);
  });

  test('pulls of a few requests each come to that end too', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
    const odd = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    const codes: number[] = [];
    while (codes.length < 10 && codes.at(-1) !== 0) {
      codes.push((await pull(odd, ['--only', 'tickets', '--max-requests', '3'])).exitCode);
      world.clock.advance(600_000);
    }
    expect(codes.at(-1)).toBe(0);
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
  });

  test('where the only one that an account has of a kind answers 404, and the copy never had it, a day tells; of several it does not', {
    tags: ['long'],
  }, async () => {
    const world = await fresh({ seed: few });
    const first = (total: number) =>
      faulty(world, ({ pathname }) => {
        if (pathname !== '/changelog') return /^\/changelog\/\d+$/u.test(pathname) ? () => 404 : undefined;
        const meta = { current_page: 1, last_page: 1, total };
        return ({ entries, ...body }) => ({ ...body, entries: (entries as Fields[]).slice(0, total), meta });
      });
    const asked = ['--only', 'changelog'];
    const ran = await pull(first(1), asked);
    expect(ran.stderr).toMatch(
      / 1 of its records \(\d+\) answers 404, and may be gone, which takes ten minutes or more/u,
    );
    world.clock.advance(23 * 3_600_000);
    expect((await pull(first(1), asked)).exitCode).toBe(8);
    world.clock.advance(3_600_000);
    await ok(first(1), ['mirror', 'pull', ...asked]);
    await pull(first(3), asked);
    world.clock.advance(48 * 3_600_000);
    expect((await pull(first(3), asked)).exitCode).toBe(8);
    await ok(world, ['mirror', 'pull', ...asked]);
    expect((await copied(world)).changelog).toEqual((await truth(world)).changelog);
  });

  describe('two entries that answer 404', () => {
    const asked = ['--only', 'changelog'];
    /** A service that has the first so many entries alone, and shows none that is hidden. */
    const shortened = async () => {
      const world = await fresh({ seed: few });
      const hidden = new Set<number>();
      const has = { total: 2 };
      const service = faulty(world, ({ pathname }) => {
        const id = Number(/^\/changelog\/(\d+)$/u.exec(pathname)?.[1]);
        if (pathname !== '/changelog') return hidden.has(id) ? () => 404 : undefined;
        const meta = { current_page: 1, last_page: 1, total: has.total };
        return ({ entries, ...body }) => ({ ...body, entries: (entries as Fields[]).slice(0, has.total), meta });
      });
      const { entries } = (await request(world, 'GET', '/changelog')) as { entries: Fields[] };
      const [first, second] = entries.map(({ id }) => Number(id)) as [number, number];
      const gone = async () => {
        const rows = (await sql(
          world,
          'SELECT id FROM changelog WHERE gone_at IS NOT NULL ORDER BY id DESC',
        )) as Fields[];
        return rows.map(({ id }) => id);
      };
      return { world, service, hidden, has, first, second, gone };
    };

    test('are gone one after the other: the last one of the kind after a day', { tags: ['long'] }, async () => {
      const { world, service, hidden, first, second, gone } = await shortened();
      await ok(service, ['mirror', 'pull', ...asked]);
      hidden.add(first);
      expect((await pull(service, [...asked, '--full'])).exitCode).toBe(8);
      world.clock.advance(600_000);
      await ok(service, ['mirror', 'pull', ...asked]);
      expect(await gone()).toEqual([first]);
      hidden.add(second);
      expect((await pull(service, [...asked, '--full'])).exitCode).toBe(8);
      world.clock.advance(23 * 3_600_000);
      expect((await pull(service, asked)).exitCode).toBe(8);
      expect(await gone()).toEqual([first]);
      world.clock.advance(3_600_000);
      await ok(service, ['mirror', 'pull', ...asked]);
      expect(await gone()).toEqual([first, second]);
    });

    test('that are all of their kind are gone once the service shows another one, however late', {
      tags: ['long'],
    }, async () => {
      const { world, service, hidden, has, first, second } = await shortened();
      hidden.add(first).add(second);
      expect((await pull(service, asked)).stderr).toContain('2 of its records answer 404');
      world.clock.advance(30 * 86_400_000);
      const says = 'and the service shows no other one: until it does, svc cannot tell whether they are gone.';
      expect(await pull(service, asked)).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(says) });
      has.total = 3;
      await ok(service, ['mirror', 'pull', ...asked]);
      expect(await sql(world, 'SELECT count(*) AS n FROM changelog WHERE gone_at IS NULL')).toEqual([{ n: 1 }]);
    });
  });

  test('a watch believes nothing within ten minutes, and does not read the whole list in each round', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'New subject' });
    const odd = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    const lists: string[] = [];
    const seen: SandboxWorld = {
      ...odd,
      exchange(asked) {
        const { pathname, searchParams } = new URL(asked.url);
        if (pathname === '/tickets' && !searchParams.has('updated_since')) lists.push(asked.url);
        return odd.exchange(asked);
      },
    };
    for (let at = 0; at < 5; at++) {
      await svc(seen, ['watch', 'tickets', '--once', '--name', 'one']);
      world.clock.advance(15_000);
    }
    expect(await goneTickets(world)).toEqual([]);
    expect(lists).toEqual([]);
    world.clock.advance(600_000);
    await svc(seen, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(lists).toEqual([]);
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
    expect(await isComplete(world)).toBe(true);
    await ok(odd, 'mirror pull');
  });
});

onBothEngines('mirror pull of a record that cannot be read', ({ test, world: fresh, pulled }) => {
  const fails = { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server Error"}' };
  const answersAt = (
    world: SandboxWorld,
    isIt: (path: string) => boolean,
    answer: HttpResponse | Lost = fails,
    asked: string[] = [],
  ): SandboxWorld => ({
    ...world,
    async exchange(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      return isIt(pathname) ? answer : world.exchange(request);
    },
  });
  const failsAt = (world: SandboxWorld, ids: readonly number[]): SandboxWorld =>
    answersAt(world, (path) => ids.some((id) => path === `/tickets/${id}`));
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
    expect(ran.stderr).toContain('Not whole: tickets. 1 of its records (8) could not be read: ');
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
    expect(ran.stderr).toContain('(8) could not be read: The answer for conversations 8 holds no list of messages.');
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

  const changeOf = async (world: SandboxWorld, ids: readonly number[]) => {
    for (const id of ids) await request(world, 'PATCH', `/tickets/${id}`, { subject: 'New subject' });
  };
  const changelog = 'SELECT title FROM changelog WHERE id = 2';

  test('many that changed, and all fail, keep nothing else back, neither then nor later', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const broken = [4, 5, 6, 7, 8, 9];
    await changeOf(world, broken);
    expect((await pull(failsAt(world, broken), ['--max-wait', '2'])).exitCode).toBe(8);
    world.clock.advance(600_000);
    await changeOf(world, [10]);
    await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
    const ran = await pull(failsAt(world, broken), ['--max-wait', '2']);
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('6 of its records could not be read') });
    expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
    expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 10')).toEqual([{ subject: 'New subject' }]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('more of them later do not make the ones before the measure of the service', { tags: ['long'] }, async () => {
    const world = await pulled();
    const early = [1, 2, 3, 4, 5, 6];
    const later = [7, 8, 9, 10, 11];
    const step = async (ids: readonly number[]) => {
      world.clock.advance(600_000);
      await changeOf(world, ids);
      world.clock.advance(10_000);
    };
    await step(early);
    await ok(world, 'mirror pull');
    await step(early);
    expect((await pull(failsAt(world, early), ['--max-wait', '2'])).exitCode).toBe(8);
    await step(later);
    const ran = await pull(failsAt(world, [...early, ...later]), ['--max-wait', '2']);
    expect(ran.stderr).toContain('11 of its records could not be read');
    // Of another kind nobody asked for nothing is said.
    await ok(failsAt(world, early), 'mirror pull --only contacts');
  });

  test('spread over a first pull they do not end the next ones', { tags: ['long'] }, async () => {
    const world = await fresh({ seed: few });
    const broken = failsAt(world, [1, 3, 5, 7, 9]);
    for (const _ of [1, 2]) expect((await pull(broken, ['--max-wait', '2'])).exitCode).toBe(8);
    await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
    expect((await pull(broken, ['--max-wait', '2'])).exitCode).toBe(8);
    expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
    expect(await isComplete(world)).toBe(false);
    await ok(world, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('a service that shows no ticket ends that kind for this pull, and the others are read', async () => {
    const world = await fresh({ seed: few });
    const ran = await pull(
      failsAt(
        world,
        Array.from({ length: 20 }, (_, at) => at),
      ),
      ['--max-wait', '2'],
    );
    expect(ran).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('The service fails at each of these tickets'),
    });
    expect(await sql(world, changelog)).toHaveLength(1);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('a ticket that shows a chat, and fails, keeps nothing else back', async () => {
    const world = await pulled();
    const [chat] = (await sql(
      world,
      'SELECT id, conversation_id AS chat FROM tickets WHERE conversation_id IS NOT NULL',
    )) as { id: number; chat: number }[];
    world.clock.advance(600_000);
    await request(world, 'POST', `/conversations/${chat?.chat}/messages`, { body: 'Hello' });
    await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
    const ran = await pull(failsAt(world, [Number(chat?.id)]), ['--max-wait', '2']);
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(`(${chat?.id}) could not be read: `) });
    expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('while one fails, a pull asks for what is new alone, and for that one', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await changeOf(world, [7, 8, 9]);
    world.clock.advance(10_000);
    const broken = failsAt(world, [8]);
    expect((await pull(broken, ['--max-wait', '2'])).exitCode).toBe(8);
    world.clock.advance(600_000);
    const asked: string[] = [];
    const seen: SandboxWorld = {
      ...broken,
      exchange(request) {
        asked.push(new URL(request.url).pathname);
        return broken.exchange(request);
      },
    };
    expect((await pull(seen, ['--only', 'tickets', '--max-wait', '2'])).exitCode).toBe(8);
    expect(new Set(asked)).toEqual(new Set(['/tickets', '/tickets/8']));
    expect(asked.filter((path) => path === '/tickets')).toHaveLength(1);
  });

  test('--full that meets one is done by the next pull', { tags: ['long'] }, async () => {
    const world = await pulled();
    expect((await pull(failsAt(world, [8]), ['--full', '--max-wait', '2'])).exitCode).toBe(8);
    expect(await isComplete(world)).toBe(false);
    const asked: string[] = [];
    await ok(
      faulty(world, ({ pathname }) => void asked.push(pathname)),
      'mirror pull',
    );
    expect(asked).toContain('/tickets/8');
    expect(await isComplete(world)).toBe(true);
  });

  test('one that failed, and was deleted then, is gone', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    expect((await pull(failsAt(world, [8]), ['--max-wait', '2'])).exitCode).toBe(8);
    const deleted = faulty(world, without('/tickets', 8));
    expect((await pull(deleted)).exitCode).toBe(8);
    world.clock.advance(600_000);
    await ok(deleted, 'mirror pull');
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
    await ok(deleted, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
  });

  test('one that answers 404 later is not whole until it is shown again, in a watch too', async () => {
    const world = await pulled();
    world.clock.advance(300_000);
    await changeOf(world, [8]);
    expect((await pull(failsAt(world, [8]), ['--max-wait', '2'])).exitCode).toBe(8);
    const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    world.clock.advance(310_000);
    await svc(hidden, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await isComplete(world)).toBe(false);
    world.clock.advance(15_000);
    await svc(hidden, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await isComplete(world)).toBe(false);
    world.clock.advance(300_000);
    await svc(world, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await isComplete(world)).toBe(true);
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('one that answers 404, then fails for ten minutes, then answers 404 once is not gone by that', async () => {
    const world = await pulled();
    const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    const asked = ['--only', 'tickets', '--max-wait', '2'];
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    await pull(hidden, asked);
    for (const _ of [1, 2]) {
      world.clock.advance(300_000);
      await pull(failsAt(world, [8]), asked);
    }
    world.clock.advance(10_000);
    expect((await pull(hidden, asked)).exitCode).toBe(8);
    expect(await goneTickets(world)).toEqual([]);
    world.clock.advance(600_000);
    expect((await pull(hidden, asked)).exitCode).toBe(0);
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
  });

  test('one that answers 404 later is told by that pull', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    expect((await pull(failsAt(world, [8]), ['--max-wait', '2'])).exitCode).toBe(8);
    const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    world.clock.advance(600_000);
    expect(await pull(hidden)).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('1 of its records (8) answers 404, and may be gone'),
    });
  });

  test('the newest of a first pull, all broken, do not keep the others from the second', {
    tags: ['long'],
  }, async () => {
    const world = await fresh({ seed: few });
    const { tickets = [] } = await truth(world);
    const unresolved = tickets.flatMap(({ id, status }) =>
      ['open', 'pending'].includes(String(status)) ? [Number(id)] : [],
    );
    expect(unresolved.length).toBeGreaterThan(5);
    const broken = failsAt(world, unresolved);
    for (const _ of [1, 2]) expect((await pull(broken, ['--max-wait', '2'])).exitCode).toBe(8);
    const there = await sql(world, 'SELECT id FROM tickets WHERE gone_at IS NULL');
    expect(there).toHaveLength(tickets.length - unresolved.length);
  });

  test('many that stand together are passed, and come back in one pull', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const ids = Array.from({ length: 18 }, (_, at) => at + 1);
    await changeOf(world, ids);
    world.clock.advance(10_000);
    await request(world, 'PATCH', '/tickets/30', { subject: 'New subject' });
    world.clock.advance(10_000);
    expect((await pull(failsAt(world, ids), ['--max-wait', '2'])).exitCode).toBe(8);
    expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 30')).toEqual([{ subject: 'New subject' }]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('one that its list leaves out, and at which the service fails, ends neither the pull nor is it gone', async () => {
    const world = await pulled();
    const broken = failsAt(world, []);
    const odd: SandboxWorld = {
      ...broken,
      async exchange(asked) {
        if (new URL(asked.url).pathname !== '/changelog/2')
          return faulty(world, without('/changelog', 2)).exchange(asked);
        return { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server Error"}' };
      },
    };
    world.clock.advance(600_000);
    const ran = await pull(odd, ['--max-wait', '2']);
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('(2) could not be read: ') });
    expect(await sql(world, 'SELECT id FROM changelog WHERE gone_at IS NOT NULL')).toEqual([]);
  });

  const status = (code: number): HttpResponse => ({ ...fails, status: code, body: '{"message":"Not for you."}' });
  const lost = (reason: Lost['reason']): Lost => ({ lost: 'after-sending', reason, detail: 'No use.' });
  const ways: Readonly<Record<string, HttpResponse | Lost>> = {
    400: status(400),
    403: status(403),
    410: status(410),
    422: status(422),
    'too large': lost('too-large'),
    'in no time': lost('timeout'),
  };

  test.each(inTurn(Object.keys(ways), 0, 3))(
    'whatever it answers, one record keeps no other back and is told: %s',
    async (way) => {
      const world = await pulled();
      world.clock.advance(600_000);
      await changeOf(world, [8, 9]);
      await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
      world.clock.advance(10_000);
      const ran = await pull(
        answersAt(world, (path) => path === '/tickets/8', ways[way]),
        ['--max-wait', '2'],
      );
      expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('(8) could not be read: ') });
      expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 9')).toEqual([{ subject: 'New subject' }]);
      expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
      expect(await isComplete(world)).toBe(false);
      await ok(world, 'mirror pull');
      expect(await copied(world)).toEqual(await truth(world));
    },
  );

  test('a service that refuses each ticket refuses the kind', { tags: ['long'] }, async () => {
    const world = await fresh({ seed: few });
    const ran = await pull(answersAt(world, (path) => /^\/tickets\/\d/u.test(path), status(403)));
    expect(ran.stderr).toContain('Not pulled: tickets.');
    expect(await isComplete(world)).toBe(false);
    expect(await sql(world, changelog)).toHaveLength(1);
  });

  test('of a kind that is refused since nothing more is said', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    await pull(failsAt(world, [8]), ['--max-wait', '2']);
    const ran = await pull(answersAt(world, (path) => path.startsWith('/tickets'), status(403)));
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Not pulled: tickets.') });
    expect(ran.stderr).not.toContain('Not whole');
  });

  test('one that --full misses, and at which the service fails, is gone once its address says so', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const unlisted = faulty(world, without('/tickets', 5));
    expect(
      (
        await pull(
          answersAt(unlisted, (path) => path === '/tickets/5'),
          ['--full', '--max-wait', '2'],
        )
      ).exitCode,
    ).toBe(8);
    expect(await isComplete(world)).toBe(false);
    for (const _ of [1, 2]) {
      world.clock.advance(600_000);
      await pull(unlisted);
    }
    expect(await goneTickets(world)).toEqual([{ id: 5 }]);
    expect(await isComplete(world)).toBe(true);
  });

  test('five that --full misses, and at which the service fails, keep no other one in the copy', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const missing = [1, 2, 3, 4, 5, 6, 7];
    const lists: string[] = [];
    const odd = faulty(world, ({ pathname, searchParams }) => {
      if (['/tickets/6', '/tickets/7'].includes(pathname)) return () => 404;
      if (pathname !== '/tickets' || searchParams.has('updated_since')) return undefined;
      lists.push(pathname);
      return (body) => {
        const tickets = (body.tickets as { id: number }[]).filter(({ id }) => !missing.includes(id));
        return { ...body, tickets, meta: { ...(body.meta as object), total: tickets.length } };
      };
    });
    const broken = failsAt(odd, [1, 2, 3, 4, 5]);
    const asked = ['--only', 'tickets', '--max-wait', '2'];
    await pull(broken, ['--full', ...asked]);
    await pull(broken, asked);
    expect(await goneTickets(world)).toEqual([{ id: 6 }, { id: 7 }]);
    lists.length = 0;
    await pull(broken, asked);
    expect(lists).toEqual([]);
  });

  test('a list that is empty, of a service that fails at each record, is asked little', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const empty = faulty(world, ({ pathname }) =>
      pathname === '/contacts'
        ? (body) => ({ ...body, contacts: [], meta: { current_page: 1, last_page: 1, total: 0 } })
        : undefined,
    );
    const asked: string[] = [];
    const isOne = (path: string) => /^\/contacts\/\d+$/u.test(path);
    const broken = answersAt(empty, isOne, fails, asked);
    expect((await pull(broken, ['--full', '--only', 'contacts', '--max-wait', '2'])).exitCode).toBe(8);
    expect(new Set(asked.filter(isOne)).size).toBeLessThan(10);
    expect(await sql(world, 'SELECT count(*) AS n FROM contacts WHERE gone_at IS NOT NULL')).toEqual([{ n: 0 }]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('of many that fail none waits for ever behind the first ones', { tags: ['long'] }, async () => {
    const world = await fresh({ seed: few });
    const all = (path: string) => /^\/tickets\/\d+$/u.test(path);
    const flags = ['--only', 'tickets', '--max-wait', '2'];
    for (const _ of [1, 2, 3]) await pull(answersAt(world, all), flags);
    const first: string[] = [];
    await pull(answersAt(world, all, fails, first), flags);
    const broken = new Set(first.filter(all));
    const there = async () => ((await sql(world, 'SELECT id FROM tickets')) as unknown[]).length;
    expect(await there()).toBe(0);
    for (const _ of [1, 2, 3])
      await pull(
        answersAt(world, (path) => broken.has(path)),
        flags,
      );
    expect(await there()).toBeGreaterThan(0);
    const often: string[] = [];
    const watched = answersAt(world, (path) => broken.has(path), fails, often);
    const round = ['watch', 'tickets', '--once', '--name', 'one', '--max-wait', '2'];
    for (const _ of [1, 2]) {
      world.clock.advance(15_000);
      await svc(watched, round);
    }
    often.length = 0;
    world.clock.advance(15_000);
    await svc(watched, round);
    expect(often.filter((path) => broken.has(path))).toEqual([]);
  });

  test('one that was called gone, and was shown since, is not gone by one pull', { tags: ['long'] }, async () => {
    const world = await pulled();
    const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
    for (const _ of [1, 2]) {
      world.clock.advance(600_000);
      await changeOf(world, [8]);
      world.clock.advance(10_000);
      await pull(hidden);
    }
    expect(await goneTickets(world)).toEqual([{ id: 8 }]);
    await request(world, 'PATCH', '/tickets/8', { subject: 'Back' });
    world.clock.advance(15_000);
    await svc(world, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await goneTickets(world)).toEqual([]);
    await request(world, 'PATCH', '/tickets/8', { subject: 'Back again' });
    world.clock.advance(15_000);
    expect((await pull(hidden)).exitCode).toBe(8);
    expect(await goneTickets(world)).toEqual([]);
  });

  test('some of those that are called gone make no later round doubtful', { tags: ['long'] }, async () => {
    const world = await pulled();
    const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8' || pathname === '/tickets/9');
    world.clock.advance(600_000);
    await changeOf(world, [9]);
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    for (const _ of [1, 2]) {
      world.clock.advance(10_000);
      await pull(hidden);
      world.clock.advance(600_000);
    }
    await ok(hidden, 'mirror pull');
    for (const _ of [1, 2, 3]) {
      await changeOf(world, [8]);
      world.clock.advance(15_000);
      await svc(hidden, ['watch', 'tickets', '--once', '--name', 'one']);
      expect(await isComplete(world)).toBe(true);
    }
  });

  test('catch-up does not rely on a copy that lacks one', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const { ticket } = (await request(world, 'POST', '/tickets', { subject: 'Missed' })) as { ticket: { id: number } };
    world.clock.advance(10_000);
    const isIt = (path: string) => path === `/tickets/${ticket.id}`;
    const broken = answersAt(world, isIt);
    for (const _ of [1, 2]) {
      await svc(broken, ['watch', 'tickets', '--once', '--name', 'one', '--max-wait', '2']);
      world.clock.advance(20 * 60_000);
    }
    const words = ['webhooks', 'catch-up', '--json', '--since', '1h', '--events', 'ticket.created'];
    const ran = await svc(world, words, {
      env: { SVC_WEBHOOK_SECRET: 'whsec_0123456789abcdef', SVC_API_KEY: 'key_acme' },
    });
    expect(JSON.parse(ran.stdout)).toMatchObject({ rebuilt: 1 });
  });

  test('the state of an earlier version, which names none: the whole list is read once', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    await inCopy(world, (store, account) =>
      store.write(async (to) => {
        const { notFound: _, wholeWantedAt: __, ...state } = await readState(to, account, 'tickets');
        await saveState(to, account, 'tickets', { ...state, absent: 1, unshown: '1 123' } as never);
      }),
    );
    expect(await isComplete(world)).toBe(false);
    const lists: string[] = [];
    const seen = faulty(world, ({ pathname, searchParams }) => {
      if (pathname === '/tickets' && !searchParams.has('updated_since')) lists.push(pathname);
      return undefined;
    });
    await ok(seen, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
    expect(lists.length).toBeGreaterThan(0);
    lists.length = 0;
    await ok(seen, 'mirror pull');
    expect(lists).toEqual([]);
  });

  describe('what was there before is no news', () => {
    const changes = async (world: SandboxWorld) =>
      (await json(world, 'mirror changes tickets --since 30d')) as { change: string; record_id: number }[];
    const allTickets = (path: string) => /^\/tickets\/\d+$/u.test(path);

    test.each(['500', '404'])('where the first pull could not read it: %s', { tags: ['long'] }, async (how) => {
      const world = await fresh({ seed: few });
      const broken = how === '500' ? answersAt(world, allTickets) : troubled(world, isTicket);
      await pull(broken, ['--max-wait', '2']);
      world.clock.advance(600_000);
      await ok(world, 'mirror pull');
      expect(await copied(world)).toEqual(await truth(world));
      expect(await changes(world)).toEqual([]);
    });

    test('and one that is not found keeps no news of the others back', async () => {
      const world = await fresh({ seed: few });
      const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
      await pull(hidden);
      world.clock.advance(60_000);
      await changeOf(world, [9]);
      world.clock.advance(600_000);
      await pull(hidden);
      expect((await changes(world)).map(({ record_id: id }) => id)).toEqual([9]);
    });
  });

  test.each(['500', '404', '410', '422', 'too large', 'in no time'])(
    'a list at which the service fails keeps no other kind from the copy, and its kind is not complete: %s',
    { tags: ['long'] },
    async (way) => {
      const world = await pulled();
      world.clock.advance(600_000);
      await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
      const answer = way === '500' ? fails : (ways[way] ?? status(404));
      const ran = await pull(
        answersAt(world, (path) => path === '/tickets', answer),
        ['--max-wait', '2'],
      );
      expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('Not whole: tickets.') });
      expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
      expect(await isComplete(world)).toBe(false);
      await ok(world, 'mirror pull');
      expect(await isComplete(world)).toBe(true);
    },
  );

  test.each(['500', '403', '404', '422', 'too large', 'in no time'])(
    'a list of contacts whose members cannot be read keeps nothing else from the copy, and is not gone: %s',
    { tags: ['long'] },
    async (way) => {
      const answer = way === '500' ? fails : (ways[way] ?? status(404));
      const broken = (world: SandboxWorld) =>
        answersAt(world, (path) => path === '/contactslists/2/get_contacts', answer);
      const world = await fresh({ seed: few });
      const ran = await pull(broken(world), ['--max-wait', '2']);
      expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringMatching(/Not whole: lists\..*[Ll]ist 2/u) });
      const gone = 'SELECT contacts_list_id FROM lists WHERE gone_at IS NOT NULL';
      const others = async (from: SandboxWorld) => {
        const { lists: _, list_members: __, ...rest } = await copied(from);
        return rest;
      };
      const { lists: _, list_members: __, ...rest } = await truth(world);
      expect(await others(world)).toEqual(rest);
      for (const each of [world, broken(world), broken(world)]) {
        const { exitCode } = await pull(each, ['--max-wait', '2']);
        expect(exitCode).toBe(each === world ? 0 : 8);
        expect(await sql(world, gone)).toEqual([]);
        expect(await copied(world)).toEqual(await truth(world));
      }
      expect(await sql(world, 'SELECT * FROM changes')).toEqual([]);
    },
  );

  test('while one list cannot be read, the others are read by each pull, and one that is deleted is gone', async () => {
    const world = await pulled();
    const members = '/contactslists/2/get_contacts';
    const shorter: Fault = (body) => ({ ...body, data: (body.data as Fields[]).slice(1) });
    const broken = answersAt(world, (path) => path === '/contactslists/1/get_contacts');
    await pull(broken, ['--max-wait', '2']);
    const changed = faulty(broken, ({ pathname }) => {
      if (pathname === members) return shorter;
      if (pathname === '/contactslists/3/get_contacts') return () => 404;
      if (pathname !== '/contactslists/list') return undefined;
      return (body) => ({ ...body, data: (body.data as Fields[]).filter((one) => one.contacts_list_id !== 3) });
    });
    world.clock.advance(3_600_000);
    await pull(changed, ['--max-wait', '2']);
    const { data } = (await request(world, 'GET', members)) as { data: Fields[] };
    expect(
      await sql(world, 'SELECT count(*) AS n FROM list_members WHERE contacts_list_id = 2 AND gone_at IS NULL'),
    ).toEqual([{ n: data.length - 1 }]);
    expect(await sql(world, 'SELECT contacts_list_id AS id FROM lists WHERE gone_at IS NOT NULL')).toEqual([{ id: 3 }]);
  });

  describe('lists whose members fail, five in a row', () => {
    const members = (list: unknown) => `/contactslists/${list}/get_contacts`;
    const listIds = async (world: SandboxWorld) =>
      ((await request(world, 'GET', '/contactslists/list')) as { data: Fields[] }).data.map(
        (one) => one.contacts_list_id,
      );
    const failsFirst = async (count: number, between?: number) => {
      const world = await fresh({ seed: few });
      for (const at of [4, 5, 6, 7, 8, 9, 10]) {
        const made = { name: `List ${at}`, target_industry: 'Any', notes: 'None' };
        const { contact_list_id: id } = (await request(world, 'POST', '/contactslists/create', made)) as Fields;
        await request(world, 'POST', `/contactslists/${id}/sync_contacts`, { name: made.name, contacts_ids: [at] });
      }
      const all = await listIds(world);
      const asked: string[] = [];
      const ids = all.filter((_, at) => at < count && at !== between).map(members);
      return { world, all, asked, broken: answersAt(world, (path) => ids.includes(path), fails, asked) };
    };
    const only = ['--only', 'lists', '--max-wait', '2'];

    test('keep those behind them from one pull alone, are asked for last then, and come back', {
      tags: ['long'],
    }, async () => {
      const { world, all, asked, broken } = await failsFirst(5);
      const listsAsked = () => [...new Set(asked.filter((path) => path.endsWith('/get_contacts')))];
      expect((await pull(broken, only)).exitCode).toBe(8);
      expect(listsAsked()).toEqual(all.slice(0, 5).map(members));
      asked.length = 0;
      const second = await pull(broken, only);
      expect(second).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('The members of 5 lists, such as') });
      expect(listsAsked()).toEqual([...all.slice(5), ...all.slice(0, 5)].map(members));
      const inCopyOf = 'SELECT DISTINCT contacts_list_id AS id FROM list_members WHERE gone_at IS NULL ORDER BY 1';
      const { list_members: there = [] } = await truth(world);
      const late = all.slice(5).filter((id) => there.some((one) => one.contacts_list_id === id));
      expect(late.length).toBeGreaterThan(0);
      expect(((await sql(world, inCopyOf)) as Fields[]).map(({ id }) => id)).toEqual(expect.arrayContaining(late));
      await ok(world, ['mirror', 'pull', ...only]);
      expect((await copied(world)).list_members).toEqual(there);
      await ok(world, ['mirror', 'pull', ...only]);
    });

    test('six that fail around one that is read keep no other from that pull', { tags: ['long'] }, async () => {
      const { world, all, asked, broken } = await failsFirst(7, 3);
      expect((await pull(broken, only)).exitCode).toBe(8);
      expect(new Set(asked.filter((path) => path.endsWith('/get_contacts')))).toEqual(new Set(all.map(members)));
      await ok(world, ['mirror', 'pull', ...only]);
    });

    test('of more than five each has its turn, however few requests a pull has', { tags: ['long'] }, async () => {
      const { world, all, asked, broken } = await failsFirst(7);
      for (const _ of [1, 2, 3, 4]) {
        asked.length = 0;
        await pull(broken, [...only, '--max-requests', '6']);
        expect(new Set(asked.filter((path) => path.endsWith('/get_contacts'))).size).toBeLessThanOrEqual(5);
      }
      const state = await inCopy(world, (store, account) => store.read((from) => readState(from, account, 'lists')));
      expect([...state.failing].sort()).toEqual([...all.slice(0, 7)].sort());
      expect(state.complete).toBe(false);
      await ok(world, ['mirror', 'pull', ...only]);
      expect((await copied(world)).list_members).toEqual((await truth(world)).list_members);
    });

    test('one that failed and is not there any more keeps the kind from nothing', async () => {
      const world = await pulled();
      const ofLists = async () => {
        const { kinds } = (await json(world, 'mirror status')) as { kinds: { kind: string; complete: boolean }[] };
        return kinds.find(({ kind }) => kind === 'lists')?.complete;
      };
      await inCopy(world, (store, account) =>
        store.write(async (to) =>
          saveState(to, account, 'lists', { ...(await readState(to, account, 'lists')), failing: [99_999] }),
        ),
      );
      expect(await ofLists()).toBe(false);
      await ok(world, ['mirror', 'pull', ...only]);
      expect(await ofLists()).toBe(true);
    });
  });

  test('a deleted ticket is gone within the hour, however often its chat goes on', { tags: ['long'] }, async () => {
    const world = await pulled();
    const [first] = (await sql(
      world,
      'SELECT id, conversation_id AS chat FROM tickets WHERE conversation_id > 0',
    )) as Fields[];
    const hidden = faulty(world, without('/tickets', Number(first?.id)));
    for (let round = 0; round < 12; round++) {
      world.clock.advance(290_000);
      await request(world, 'POST', `/conversations/${first?.chat}/messages`, { body: `Hello ${round}` });
      world.clock.advance(10_000);
      await pull(hidden, ['--max-wait', '2']);
    }
    expect(await goneTickets(world)).toEqual([{ id: first?.id }]);
    expect((await pull(hidden)).exitCode).toBe(0);
  });

  test.each([
    ['is empty', () => []],
    ['has no ids', (lists: Fields[]) => lists.map((one) => ({ ...one, contacts_list_id: null }))],
  ] as const)('no list is gone whose members answer 404 while the list of lists %s', async (_, otherwise) => {
    const world = await pulled();
    let asked = 0;
    const odd = faulty(world, ({ pathname }) => {
      if (pathname.endsWith('/get_contacts')) return () => 404;
      if (pathname !== '/contactslists/list' || ++asked === 1) return undefined;
      return (body) => ({ ...body, data: otherwise(body.data as Fields[]) });
    });
    expect((await pull(odd, ['--only', 'lists'])).exitCode).toBe(8);
    expect(await sql(world, 'SELECT contacts_list_id FROM lists WHERE gone_at IS NOT NULL')).toEqual([]);
  });

  test('where all members are refused the lists are not pulled, and that is no failure', async () => {
    const world = await fresh({ seed: few });
    const ran = await pull(answersAt(world, (path) => path.endsWith('/get_contacts'), status(403)));
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Not pulled: lists.') });
  });

  test('a service that fails at the first two lists ends the pull, a first one too', { tags: ['long'] }, async () => {
    const isList = (path: string) =>
      /^\/(contacts|contactslists\/list|calls|tickets|conversations|changelog|feedback)$/u.test(path);
    for (const world of [await fresh({ seed: few }), await pulled()]) {
      const asked: string[] = [];
      const ran = await pull(answersAt(world, isList, fails, asked), ['--max-wait', '2']);
      expect(ran.exitCode).toBe(1);
      expect(new Set(asked.filter(isList)).size).toBe(2);
    }
    const never = await fresh({ seed: few });
    await pull(answersAt(never, isList), ['--max-wait', '2']);
    expect(await svc(never, ['mirror', 'sql', 'SELECT 1'])).toMatchObject({ exitCode: 1 });
  });

  test('a count that is one too high keeps nothing of the page from the copy, which is not called whole', async () => {
    const world = await pulled();
    const miscounted = faulty(world, ({ pathname }) =>
      pathname === '/tickets'
        ? (body) => ({ ...body, meta: { ...(body.meta as object), total: Number((body.meta as Fields).total) + 1 } })
        : undefined,
    );
    world.clock.advance(600_000);
    await changeOf(world, [8, 9]);
    world.clock.advance(10_000);
    expect((await pull(miscounted)).exitCode).toBe(8);
    const changed = "SELECT id FROM tickets WHERE subject = 'New subject' ORDER BY id";
    expect(await sql(world, changed)).toEqual([{ id: 8 }, { id: 9 }]);
    expect(await isComplete(world)).toBe(false);
    await ok(world, 'mirror pull');
    expect(await isComplete(world)).toBe(true);
  });

  test('while a service shows no ticket at all, none is gone, however few are asked for at a time', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    expect((await pull(troubled(world, isTicket), ['--full'])).exitCode).toBe(8);
    for (const _ of [1, 2, 3]) {
      world.clock.advance(700_000);
      expect((await pull(troubled(world, isTicket), ['--only', 'tickets', '--max-requests', '6'])).exitCode).toBe(8);
      expect((await pull(troubled(world, isTicket))).exitCode).toBe(8);
    }
    expect(await goneTickets(world)).toEqual([]);
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('what is new is told, whatever time it has, and however the clock of the first reading was', {
    tags: ['long'],
  }, async () => {
    const ahead = await fresh({ seed: few });
    const tomorrow = new Date(ahead.clock.now().getTime() + 86_400_000).toUTCString();
    const dated: SandboxWorld = {
      ...ahead,
      async exchange(asked) {
        const answer = await ahead.exchange(asked);
        return 'status' in answer ? { ...answer, headers: { ...answer.headers, date: tomorrow } } : answer;
      },
    };
    await ok(dated, 'mirror pull');
    ahead.clock.advance(600_000);
    await request(ahead, 'POST', '/tickets', { subject: 'New' });
    ahead.clock.advance(10_000);
    await ok(ahead, 'mirror pull');
    const told = (await json(ahead, 'mirror changes tickets --since 30d')) as { change: string; kind: string }[];
    expect(told.filter(({ kind }) => kind === 'tickets').map(({ change }) => change)).toContain('created');
  });

  test.each(['/contacts', '/calls'])('a list that fails at its old pages keeps no other back: %s', async (path) => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/changelog/2', { title: 'New title' });
    const ran = await pull(
      answersAt(world, (one) => one === path),
      ['--max-wait', '2'],
    );
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(`Not whole: ${path.slice(1)}.`) });
    expect(await sql(world, changelog)).toEqual([{ title: 'New title' }]);
  });

  test('a watch reads no whole list in each round for what could not be asked', { tags: ['long'] }, async () => {
    const world = await pulled();
    const empty = faulty(world, ({ pathname }) =>
      pathname === '/tickets'
        ? (body) => ({ ...body, tickets: [], meta: { current_page: 1, last_page: 1, total: 0 } })
        : undefined,
    );
    const broken = answersAt(empty, (path) => /^\/tickets\/\d+$/u.test(path));
    expect((await pull(broken, ['--full', '--only', 'tickets', '--max-wait', '2'])).exitCode).toBe(8);
    const asked: string[] = [];
    for (const _ of [1, 2]) {
      world.clock.advance(15_000);
      await svc(
        answersAt(world, () => false, fails, asked),
        ['watch', 'tickets', '--once', '--name', 'one'],
      );
    }
    expect(asked.filter((path) => path === '/tickets')).toHaveLength(2);
    expect(await isComplete(world)).toBe(false);
    world.clock.advance(3_600_000);
    await svc(world, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await isComplete(world)).toBe(true);
  });

  const plant = (world: SandboxWorld, planted: Partial<KindState>) =>
    inCopy(world, (store, account) =>
      store.write(async (to) =>
        saveState(to, account, 'tickets', { ...(await readState(to, account, 'tickets')), ...planted }),
      ),
    );

  const countsMore = (body: Fields) => ({
    ...body,
    meta: { ...(body.meta as object), total: Number((body.meta as Fields).total) + 1 },
  });
  const wholes: Readonly<Record<string, readonly [kind: string, fault: Fault]>> = {
    'one record has no usable id': [
      'tickets',
      (body) => ({
        ...body,
        tickets: (body.tickets as Fields[]).map((one) => (one.id === 8 ? { ...one, id: 'x' } : one)),
      }),
    ],
    'one more has no usable id': [
      'tickets',
      (body) => ({ ...countsMore(body), tickets: [{ id: 'x' }, ...(body.tickets as Fields[])] }),
    ],
    'the service counts one more': ['tickets', countsMore],
    'the service counts one contact more': ['contacts', countsMore],
  };

  test.each(Object.keys(wholes))(
    'a watch reads a whole list once an hour at most: %s',
    { tags: ['long'] },
    async (how) => {
      const [kind, fault] = wholes[how] ?? ['', countsMore];
      const world = await pulled();
      await plant(world, { wholeWantedAt: new Date(0).toISOString() });
      const lists: string[] = [];
      const odd = faulty(world, ({ pathname, searchParams }) => {
        if (pathname !== `/${kind}` || searchParams.has('updated_since')) return undefined;
        lists.push(pathname);
        return fault;
      });
      const round = async () => {
        world.clock.advance(15_000);
        lists.length = 0;
        await svc(odd, ['watch', kind, '--once', '--name', 'one', '--max-wait', '2']);
        return lists.length;
      };
      expect(await round()).toBeGreaterThan(0);
      await round();
      // Of contacts the first page is what is new, and another one is looked at again.
      for (const _ of [1, 2, 3]) expect(await round()).toBeLessThanOrEqual(kind === 'contacts' ? 2 : 0);
      world.clock.advance(3_600_000);
      expect(await round()).toBeGreaterThan(kind === 'contacts' ? 2 : 0);
    },
  );

  test.each(['failing', 'notFound'] as const)(
    'what changes is told, however many there are: %s',
    { tags: ['long'] },
    async (how) => {
      const world = await pulled();
      world.clock.advance(600_000);
      const ids = Array.from({ length: 10_000 }, (_, at) => 1_000_000 + at);
      const notFound = ids.map((id) => ({ id, since: new Date(0).toISOString(), isGone: true }));
      await plant(world, how === 'failing' ? { failing: ids } : { notFound });
      const broken = how === 'failing' ? answersAt(world, (path) => /^\/tickets\/1\d{6}$/u.test(path)) : world;
      const asked = ['--only', 'tickets', '--max-wait', '2'];
      await pull(broken, asked);
      await changeOf(world, [8]);
      world.clock.advance(600_000);
      await pull(broken, asked);
      expect(await sql(world, "SELECT record_id FROM changes WHERE kind = 'tickets'")).toEqual([{ record_id: 8 }]);
    },
  );

  test('what changes is told, also after the service has counted more than it lists', async () => {
    const world = await pulled();
    const twice = faulty(world, ({ pathname }) =>
      pathname === '/tickets'
        ? (body) => ({ ...countsMore(body), tickets: [(body.tickets as Fields[])[0], ...(body.tickets as Fields[])] })
        : undefined,
    );
    const ran = await pull(twice, ['--full', '--only', 'tickets']);
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('different ones') });
    world.clock.advance(600_000);
    await changeOf(world, [8]);
    world.clock.advance(10_000);
    await ok(world, 'mirror pull --only tickets');
    expect(await sql(world, "SELECT record_id FROM changes WHERE kind = 'tickets'")).toEqual([{ record_id: 8 }]);
  });

  test('of many that answer 404 a pull asks for a few, also where others fail, and goes on where that settles some', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const ids = ((await sql(world, 'SELECT id FROM tickets ORDER BY id')) as { id: number }[]).map(({ id }) => id);
    const hidden = new Set(ids.slice(0, 20));
    const broken = ids.slice(20, 30);
    const asked: string[] = [];
    const odd = answersAt(
      troubled(world, ({ pathname }) => hidden.has(Number(pathname.replace('/tickets/', '')))),
      (path) => broken.some((id) => path === `/tickets/${id}`),
      fails,
      asked,
    );
    const countOf = (some: Iterable<number>) => [...some].filter((id) => asked.includes(`/tickets/${id}`)).length;
    // Each round lists again what changed last.
    await changeOf(world, [...hidden]);
    await pull(odd, ['--full', '--only', 'tickets', '--max-wait', '2']);
    asked.length = 0;
    world.clock.advance(310_000);
    await svc(odd, ['watch', 'tickets', '--once', '--name', 'one', '--max-wait', '2']);
    expect([countOf(hidden), countOf(broken)]).toEqual([8, 8]);
    world.clock.advance(310_000);
    asked.length = 0;
    await svc(odd, ['watch', 'tickets', '--once', '--name', 'one', '--max-wait', '2']);
    expect(countOf(hidden)).toBe(8);
    expect(await goneTickets(world)).toHaveLength(8);
    await pull(odd, ['--only', 'tickets', '--max-wait', '2']);
    expect(await goneTickets(world)).toHaveLength(20);
  });

  describe('the bounds', () => {
    const asked = ['--only', 'tickets', '--max-wait', '2'];
    const stateOf = (world: SandboxWorld) =>
      inCopy(world, (store, account) => store.read((from) => readState(from, account, 'tickets')));

    test.each([4, 5])('of a service that shows no ticket, %s that changed', { tags: ['long'] }, async (count) => {
      const world = await pulled();
      world.clock.advance(600_000);
      await changeOf(
        world,
        Array.from({ length: count }, (_, at) => at + 1),
      );
      world.clock.advance(10_000);
      const ran = await pull(
        answersAt(world, (path) => /^\/tickets\/\d+$/u.test(path)),
        asked,
      );
      const says = count < 5 ? '4 of its records could not be read' : 'The service fails at each of these tickets';
      expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining(says) });
    });

    test('those that fail between others that are read are no service in trouble', { tags: ['long'] }, async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      // The newest first, eight at a time: four fail, then one is read, then four fail.
      const changed = Array.from({ length: 20 }, (_, at) => at + 1);
      for (const id of changed) {
        await changeOf(world, [id]);
        world.clock.advance(1_000);
      }
      world.clock.advance(10_000);
      const broken = changed.filter((id) => id !== 16 && id !== 8);
      const seen: string[] = [];
      const old = answersAt(failsAt(world, broken), (path) => Number(path.replace('/tickets/', '')) > 20, fails, seen);
      const ran = await pull(old, asked);
      expect(ran.stderr).toContain('18 of its records could not be read');
      // Nor is one of them asked for again, to see whether the service shows any.
      for (const read of ['/tickets/8', '/tickets/16']) expect(seen.filter((path) => path === read)).toHaveLength(1);
    });

    test.each([
      [5, 5],
      [4, 9],
    ])(
      'of nine that --full misses, and of which the first %s fail, %s are asked for',
      {
        tags: ['long'],
      },
      async (failing, sum) => {
        const world = await pulled();
        const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        const unlisted = faulty(world, ({ pathname }) => {
          if (pathname !== '/tickets') return undefined;
          return (body) => {
            const left = (body.tickets as { id: number }[]).filter(({ id }) => !ids.includes(id));
            return { ...body, tickets: left, meta: { ...(body.meta as object), total: left.length } };
          };
        });
        const seen: string[] = [];
        const gone = faulty(unlisted, ({ pathname }) => (pathname === '/tickets/5' ? () => 404 : undefined));
        const broken = [...ids.slice(0, failing), ...ids.slice(5)];
        const ran = await pull(
          answersAt(gone, (path) => broken.some((id) => path === `/tickets/${id}`), fails, seen),
          ['--full', ...asked],
        );
        expect(ran.exitCode).toBe(8);
        // Those that failed are asked for once more then.
        const missed = seen.filter((path) => ids.some((id) => path === `/tickets/${id}`));
        const order = missed.filter((path, at) => path !== missed[at - 1]);
        const repeated = order.findIndex((path, at) => order.indexOf(path) < at);
        expect(order.slice(0, repeated)).toEqual(ids.slice(0, sum).map((id) => `/tickets/${id}`));
      },
    );

    test('of those that are called gone, and listed on one page, eight are asked for', { tags: ['long'] }, async () => {
      const world = await pulled();
      const ids = Array.from({ length: 20 }, (_, at) => at + 1);
      const since = new Date(0).toISOString();
      const notFound = ids.map((id) => ({ id, since, isGone: true }));
      world.clock.advance(600_000);
      await changeOf(world, ids);
      world.clock.advance(15_000);
      await plant(world, { notFound, failingAskedAt: world.clock.now().toISOString() });
      const seen: string[] = [];
      const hidden = troubled(world, ({ pathname }) => ids.includes(Number(pathname.replace('/tickets/', ''))));
      await svc(
        answersAt(hidden, () => false, fails, seen),
        ['watch', 'tickets', '--once', '--name', 'one'],
      );
      expect(new Set(seen.filter((path) => /^\/tickets\/\d+$/u.test(path))).size).toBe(8);
    });

    test('one that is called gone stays so while the service fails at it', { tags: ['long'] }, async () => {
      const world = await pulled();
      const hidden = troubled(world, ({ pathname }) => pathname === '/tickets/8');
      for (const code of [8, 0]) {
        world.clock.advance(600_000);
        await changeOf(world, [8]);
        world.clock.advance(10_000);
        expect((await pull(hidden, asked)).exitCode).toBe(code);
      }
      const { notFound } = await stateOf(world);
      expect(notFound).toEqual([{ id: 8, since: expect.any(String), isGone: true }]);
      world.clock.advance(60_000);
      expect((await pull(failsAt(world, [8]), asked)).exitCode).toBe(8);
      world.clock.advance(60_000);
      expect((await pull(hidden, asked)).exitCode).toBe(0);
      expect(await stateOf(world)).toMatchObject({ notFound, failing: [] });
    });
  });

  test('a few requests at a time bring all back that failed', { tags: ['long'] }, async () => {
    const world = await pulled();
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    world.clock.advance(600_000);
    await changeOf(world, ids);
    world.clock.advance(10_000);
    await pull(failsAt(world, ids), ['--max-wait', '2']);
    for (const _ of [1, 2, 3, 4]) {
      world.clock.advance(600_000);
      await pull(world, ['--only', 'tickets', '--max-requests', '5']);
    }
    expect(await isComplete(world)).toBe(true);
  });
});
