import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { copied, request, truth, withoutContacts } from './truth.ts';

type KindRow = { kind: string; rows: number; complete: boolean; refused: string | null };

const act = (world: SandboxWorld, body: object) => world.control('POST', 'act', { account_id: 1, ...body });

/** The world, with something that happens before its nth request. */
const during = (world: SandboxWorld, happens: Readonly<Record<number, () => Promise<unknown>>>): SandboxWorld => {
  let requests = 0;
  return {
    ...world,
    async exchange(asked) {
      await happens[++requests]?.();
      return world.exchange(asked);
    },
  };
};

const person = (n: number) => ({
  name: `N${n}`,
  last_name: 'L',
  email: `p${n}@example.com`,
  phone: `+1415555${String(n).padStart(4, '0')}`,
});

onBothEngines('mirror pull', ({ engine, test, once, server, world: fresh, pulled, looked }) => {
  test('a first pull holds every record of the account, and calls none of it a change', async () => {
    const world = await looked();
    expect(await copied(world)).toEqual(await truth(world));
    expect(await sql(world, 'SELECT count(*) AS n FROM changes')).toEqual([{ n: 0 }]);
    const { kinds } = (await json(world, 'mirror status')) as { kinds: KindRow[] };
    expect(kinds.filter(({ complete }) => !complete)).toEqual([]);
  });

  const onPostgres = engine === 'postgres' ? test : undefined;
  onPostgres?.('a database that plans by what it has counted has counted a large pull when it ends', async () => {
    const world = await looked();
    const { pathname } = new URL(String(world.env.SVC_MIRROR_DB));
    const counted = server().sql(
      pathname.slice(1),
      "SELECT reltuples FROM pg_class WHERE oid = 'svc_mirror.contacts'::regclass",
    );
    expect([{ n: Number(counted) }]).toEqual(await sql(world, 'SELECT count(*) AS n FROM contacts'));
  });

  test('a pull with nothing new asks once for each kind, once for each list, and the pages of --rescan', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    world.sent.length = 0;
    await ok(world, 'mirror pull');
    const paths = world.sent.map((line) => line.replace(/^GET \/|\?.*$/gu, ''));
    expect(paths).toEqual([
      ...['contacts', 'contactslists/list'],
      ...[1, 2, 3].map((id) => `contactslists/${id}/get_contacts`),
      ...['calls', 'tickets', 'conversations', 'changelog', 'feedback'],
      // What is left of 264 contacts after the first page.
      ...['contacts', 'contacts'],
    ]);
  });

  describe('what changed is found', () => {
    test('although it has the same second as the cursor', async () => {
      const world = await pulled();
      await request(world, 'PATCH', '/tickets/7', { subject: 'First' });
      await ok(world, 'mirror pull --only tickets');
      await request(world, 'PATCH', '/tickets/7', { subject: 'Second' });
      await request(world, 'POST', '/tickets/7/replies', { body: 'In the same moment' });
      await ok(world, 'mirror pull --only tickets');
      expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 7')).toEqual([{ subject: 'Second' }]);
      expect((await copied(world)).ticket_messages).toEqual((await truth(world)).ticket_messages);
    });

    once('although its time lags behind', async () => {
      const world = await pulled();
      world.clock.advance(3_600_000);
      await request(world, 'PATCH', '/tickets/1', { subject: 'On time' });
      await ok(world, 'mirror pull --only tickets');
      // Changed a minute before the last one that was seen, and visible only now.
      world.clock.advance(-60_000);
      await request(world, 'PATCH', '/tickets/2', { subject: 'Late' });
      world.clock.advance(60_000);
      await ok(world, 'mirror pull --only tickets');
      expect(await sql(world, 'SELECT subject FROM tickets WHERE id = 2')).toEqual([{ subject: 'Late' }]);
    });

    once('although this machine believes that it is another year', async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      await request(world, 'PATCH', '/tickets/3', { subject: 'By the clock of the service' });
      const clock = { ...world.clock, now: () => new Date(world.clock.now().getTime() + 400 * 86_400_000) };
      await ok({ ...world, clock }, 'mirror pull --only tickets');
      await request(world, 'PATCH', '/tickets/4', { subject: 'After it' });
      await ok(world, 'mirror pull --only tickets');
      expect(
        await sql(
          world,
          "SELECT count(*) AS n FROM tickets WHERE subject IN ('By the clock of the service', 'After it')",
        ),
      ).toEqual([{ n: 2 }]);
    });

    once('by a customer who writes in the chat behind a ticket', async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      for (let id = 1; id <= 22; id++)
        await act(world, { kind: 'customer_message', conversation_id: id, body: `Hello ${id}` });
      await ok(world, 'mirror pull --only tickets,conversations');
      expect(withoutContacts(await copied(world))).toEqual(withoutContacts(await truth(world)));
    });

    const chatsAndOthers = async (world: SandboxWorld) => {
      const ids = async (condition: string) =>
        (await sql(world, `SELECT id FROM conversations WHERE ticket_id IS ${condition} ORDER BY id`)) as {
          id: number;
        }[];
      return { chat: (await ids('NOT NULL'))[0]?.id, other: (await ids('NULL'))[0]?.id };
    };

    once('of such a chat, where the pull ended before it had read the ticket', async () => {
      const world = await pulled();
      const { chat } = await chatsAndOthers(world);
      world.clock.advance(600_000);
      await request(world, 'POST', `/conversations/${chat}/messages`, { body: 'Hello from the chat' });
      world.clock.advance(20_000);
      const words = ['mirror', 'pull', '--only', 'conversations', '--max-requests', '2'];
      expect((await svc(world, words)).exitCode).toBe(8);
      const read = "SELECT count(*) AS n FROM conversation_messages WHERE body = 'Hello from the chat'";
      expect(await sql(world, read)).toEqual([{ n: 1 }]);
      await ok(world, 'mirror pull');
      expect((await copied(world)).ticket_messages).toEqual((await truth(world)).ticket_messages);
    });

    once('of such a chat, where the network went away at another one', { tags: ['long'] }, async () => {
      const world = await pulled();
      const { chat, other } = await chatsAndOthers(world);
      world.clock.advance(600_000);
      for (const id of [chat, other]) await request(world, 'POST', `/conversations/${id}/messages`, { body: 'Hello' });
      world.clock.advance(20_000);
      const away: SandboxWorld = {
        ...world,
        async exchange(asked) {
          if (new URL(asked.url).pathname !== `/conversations/${other}`) return world.exchange(asked);
          return { lost: 'before-sending', reason: 'refused', detail: 'connection refused' };
        },
      };
      expect((await svc(away, ['mirror', 'pull', '--max-wait', '2'])).exitCode).toBe(10);
      await ok(world, 'mirror pull');
      expect((await copied(world)).ticket_messages).toEqual((await truth(world)).ticket_messages);
    });

    test('with what it was before, and what it is now', async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      await request(world, 'POST', '/tickets/8/replies', { body: 'Our answer' });
      await request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
      await request(world, 'POST', '/contacts/create', person(1));
      await ok(world, 'mirror pull');
      const changes = (await json(world, 'mirror changes --since 1h')) as {
        kind: string;
        change: string;
        before: Record<string, unknown> | null;
        after: Record<string, unknown> | null;
      }[];
      expect(changes.map(({ kind, change }) => `${kind} ${change}`).sort()).toEqual([
        'contacts created',
        'ticket_messages created',
        'tickets updated',
      ]);
      const kindsOf = async (args: string) =>
        ((await json(world, `mirror changes ${args} --since 1h`)) as { kind: string }[]).map(({ kind }) => kind).sort();
      expect(await kindsOf('tickets')).toEqual(['ticket_messages', 'tickets']);
      expect(await kindsOf('contacts lists')).toEqual(['contacts']);
      const ticket = changes.find(({ kind }) => kind === 'tickets');
      expect([ticket?.before?.status, ticket?.after?.status]).toEqual(['open', 'resolved']);
      expect(ticket?.after).not.toHaveProperty('messages');
      expect((await ok(world, 'mirror diff --since 1h')).stdout).toContain('open → resolved');
    });
  });

  describe('a list that moves while it is read', () => {
    test('loses nothing and doubles nothing where records come in front', async () => {
      const world = fresh();
      let n = 0;
      const come = () =>
        request(world, 'POST', '/contacts/create', { contacts: Array.from({ length: 60 }, () => person(++n)) });
      await ok(during(world, { 3: come, 4: come }), 'mirror pull --only contacts');
      expect((await copied(world)).contacts).toEqual((await truth(world)).contacts);
    });

    test('loses nothing where a conversation moves to the front behind the reader', { tags: ['long'] }, async () => {
      const world = fresh({ seed: conversationsSeed(130) });
      const write = () => act(world, { kind: 'customer_message', conversation_id: 5, body: 'I am still here' });
      // After the account, the first page and its threads.
      await ok(during(world, { 120: write }), 'mirror pull --only conversations');
      const { conversations, conversation_messages } = await truth(world);
      expect(await copied(world)).toMatchObject({ conversations, conversation_messages });
    });
  });

  describe('a pull that ends early', () => {
    once('does not move the cursor before the last page is stored', async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      for (let id = 1; id <= 40; id++) await request(world, 'PATCH', `/tickets/${id}`, { subject: `Changed ${id}` });
      const ran = await svc(world, ['mirror', 'pull', '--only', 'tickets', '--max-requests', '10', '--json']);
      expect(ran.exitCode).toBe(8);
      expect(JSON.parse(ran.stdout)).toMatchObject({ requests: 10, stopped: true });
      await ok(world, 'mirror pull --only tickets');
      expect(await sql(world, "SELECT count(*) AS n FROM tickets WHERE subject LIKE 'Changed %'")).toEqual([{ n: 40 }]);
    });

    test('never calls a part whole, and goes on where it was, however few requests it may make', {
      tags: ['long'],
    }, async () => {
      const world = fresh();
      const seen: boolean[] = [];
      for (let i = 0; i < 200; i++) {
        const ran = await svc(world, [
          'mirror',
          'pull',
          '--only',
          'contacts,tickets,lists',
          '--max-requests',
          '7',
          '--json',
        ]);
        const { kinds } = JSON.parse(ran.stdout) as { kinds: KindRow[] };
        seen.push(kinds.every(({ complete }) => complete));
        for (const { kind, complete, rows } of kinds) {
          if (complete) expect(rows).toBe({ contacts: 264, tickets: 44, lists: 3 }[kind]);
        }
        if (ran.exitCode === 0) break;
        expect(ran.exitCode).toBe(8);
      }
      expect(seen[0]).toBe(false);
      expect(seen.at(-1)).toBe(true);
      expect(seen.length).toBeLessThan(20);
    });

    once('by new contacts in many pages leaves no hole', { tags: ['long'] }, async () => {
      const world = await pulled();
      for (let page = 0; page < 6; page++) {
        await request(world, 'POST', '/contacts/create', {
          contacts: Array.from({ length: 100 }, (_, i) => person(page * 100 + i)),
        });
      }
      await svc(world, ['mirror', 'pull', '--only', 'contacts', '--max-requests', '3', '--rescan', '0']);
      await ok(world, 'mirror pull --only contacts --rescan 0');
      expect((await copied(world)).contacts).toEqual((await truth(world)).contacts);
    });
  });

  test('a deleted list is gone with its members, and what was deleted while it was read too', async () => {
    const world = await pulled();
    await request(world, 'POST', '/contactslists/1/delete');
    const drop = () => request(world, 'POST', '/contactslists/2/delete');
    await ok(during(world, { 2: drop }), 'mirror pull --only lists');
    expect(await sql(world, 'SELECT contacts_list_id AS id FROM lists WHERE gone_at IS NULL')).toEqual([{ id: 3 }]);
    expect(
      await sql(world, 'SELECT count(*) AS n FROM list_members WHERE gone_at IS NULL AND contacts_list_id < 3'),
    ).toEqual([{ n: 0 }]);
    const [{ n }] = (await sql(world, "SELECT count(*) AS n FROM changes WHERE change = 'gone'")) as [{ n: number }];
    expect(n).toBeGreaterThan(2);
  });

  once('a module that is off is named, and the rest is pulled', async () => {
    const world = fresh();
    await world.control('POST', 'modules', { account_id: 1, support: false, feedback_board: false });
    const ran = await ok(world, 'mirror pull --only tickets,conversations,changelog,feedback --json');
    expect(ran.stderr).toContain('Not pulled: tickets.');
    const { kinds } = JSON.parse(ran.stdout) as { kinds: KindRow[] };
    expect(kinds.filter(({ refused }) => refused !== null).map(({ kind }) => kind)).toEqual([
      'tickets',
      'conversations',
      'feedback',
    ]);
    expect(kinds.find(({ kind }) => kind === 'changelog')).toMatchObject({ rows: 32, complete: true });
  });

  test('a kind that is refused is not complete, answers name it, and a pull of nothing else is exit 5', async () => {
    const world = await pulled();
    await world.control('POST', 'modules', { account_id: 1, support: false });
    const mixed = await ok(world, 'mirror pull --json');
    const { kinds } = JSON.parse(mixed.stdout) as { kinds: KindRow[] };
    expect(kinds.find(({ kind }) => kind === 'tickets')).toMatchObject({ complete: false });
    expect(mixed.stderr).toContain('The copy stays as it was, since the service refuses this login: tickets');
    const alone = await svc(world, ['mirror', 'pull', '--only', 'tickets', '--json']);
    expect(alone).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Nothing was pulled. ') });
    expect(JSON.parse(alone.stdout)).toMatchObject({ kinds: [{ kind: 'tickets', complete: false }] });
    const told = 'The service refuses this login, so what is new of them is missing: tickets';
    for (const asked of [
      ['mirror', 'sql', 'SELECT count(*) FROM tickets'],
      ['mirror', 'search', 'export'],
      ['mirror', 'export', '--to', join(world.folder, 'out'), '--only', 'tickets'],
    ])
      expect((await ok(world, asked)).stderr).toContain(told);
    expect((await ok(world, ['mirror', 'sql', 'SELECT count(*) FROM contacts'])).stderr).not.toContain(told);
  });

  test('a token without identity pulls too, and its copy is asked without another request', async () => {
    const world = fresh();
    const { access_token: token } = (await world.control('POST', 'tokens', {
      account_id: 1,
      scopes: ['contacts:read'],
    })) as { access_token: string };
    const own = { ...world, env: { ...world.env, SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: token } };
    const { kinds } = (await json(own, 'mirror pull')) as { kinds: KindRow[] };
    expect(kinds.filter(({ complete }) => complete).map(({ kind }) => kind)).toEqual(['contacts', 'lists']);
    world.sent.length = 0;
    expect(await sql(own, 'SELECT count(*) AS n FROM contacts')).toEqual([{ n: 264 }]);
    expect(world.sent).toEqual([]);
  });

  test('U+0000 and halves of characters: the record is kept exactly, its columns as well as they can', {
    tags: ['long'],
  }, async () => {
    const world = fresh();
    await request(world, 'POST', '/contacts/create', {
      ...person(9),
      company: 'A\u0000B \ud800',
      metadata: { 'k\u0000': 'v\u0000' },
    });
    await ok(world, 'mirror pull --only contacts');
    const [row] = (await sql(world, "SELECT company, metadata, data FROM contacts WHERE email = 'p9@example.com'")) as [
      Record<string, string>,
    ];
    expect(row?.company).toBe('A\uFFFDB \uFFFD');
    expect(JSON.parse(row?.metadata ?? '')).toEqual({ 'k\uFFFD': 'v\uFFFD' });
    expect(JSON.parse(row?.data ?? '').company).toBe('A\u0000B \ud800');
    expect((await copied(world)).contacts).toEqual((await truth(world)).contacts);
  });

  once('contacts that changed are found by the rescan, page after page', async () => {
    const world = await pulled();
    await request(world, 'PATCH', '/contacts/3', { company: 'Moved' });
    for (let i = 0; i < 3; i++) {
      world.clock.advance(60_000);
      await ok(world, 'mirror pull --only contacts --rescan 1');
    }
    expect(await sql(world, 'SELECT company FROM contacts WHERE contact_id = 3')).toEqual([{ company: 'Moved' }]);
  });
});

function conversationsSeed(count: number) {
  const at = (n: number) => new Date(Date.parse('2026-02-01T00:00:00Z') + n * 60_000).toISOString();
  const conversations = Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    account_id: 1,
    status: 'open',
    handling_mode: 'ai' as const,
    channel: 'web',
    subject: `Chat ${i + 1}`,
    priority: 'normal',
    contact_id: null,
    ticket_id: null,
    last_message_at: at(i),
    resolved_at: null,
    csat_rating: null,
    created_at: at(i),
    updated_at: at(i),
    messages: [],
    notes: [],
  }));
  return { conversations };
}
