// Records whose id svc cannot keep: what was dropped was not read.
import { expect, test as plain } from 'vitest';
import { readState, saveState } from '../../src/mirror/store/state.ts';
import { kindNames } from '../../src/mirror/tables/kinds.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';
import { type Fault, faulty } from './faulty.ts';
import { copied, inCopy, request, truth } from './truth.ts';

type KindRow = { kind: string; rows: number; complete: boolean; gone: number; doubt: string | null };
type Fields = Record<string, unknown>;

async function pull(world: SandboxWorld, ...words: string[]) {
  const ran = await svc(world, ['mirror', 'pull', ...words, '--json']);
  const { kinds } = JSON.parse(ran.stdout) as { kinds: KindRow[] };
  return { ...ran, of: (kind: string) => kinds.find((row) => row.kind === kind) as KindRow };
}

/** Of each kind of list: where it comes from, under which key, and what an id is called there. */
const lists = [
  ['contacts', '/contacts', 'contacts', 'contact_id', 'contacts'],
  ['calls', '/calls', 'calls', 'phone_call_id', 'calls'],
  ['feedback', '/feedback', 'posts', 'id', 'feedback'],
  ['changelog', '/changelog', 'entries', 'id', 'changelog'],
  ['lists', '/contactslists/list', 'data', 'contacts_list_id', 'lists'],
  ['lists', '/contactslists/3/get_contacts', 'data', 'contact_id', 'list_members'],
  ['tickets', '/tickets', 'tickets', 'id', 'tickets'],
  ['conversations', '/conversations', 'conversations', 'id', 'conversations'],
] as const;

plain('each kind of the copy is among them', () => {
  expect(new Set(lists.map(([kind]) => kind))).toEqual(new Set(kindNames));
});

/** One for each list. */
const oddIds = ['text', 1.5, null, undefined, 2 ** 53 + 2, '7', {}, true];
const spoilt =
  (key: string, id: string, odd: (record: Fields, at: number) => unknown): Fault =>
  (body) => ({ ...body, [key]: (body[key] as Fields[]).map((record, at) => ({ ...record, [id]: odd(record, at) })) });

onBothEngines('a time that no calendar has', ({ test, world: fresh }) => {
  const odd = [
    '2024-02-30T10:00:00Z',
    '2024-01-01T10:00:00+23:00',
    '0000-01-01T10:00:00Z',
    '2024-01-01T10:00:00 (noon)',
  ];
  test.each(odd)('%s stays in the record alone, and the pull goes on', { tags: ['long'] }, async (time) => {
    const world = fresh();
    const broken = faulty(world, (url) =>
      /^\/tickets\/\d+$/u.test(url.pathname)
        ? (body) => ({ ...body, ticket: { ...(body.ticket as Fields), due_at: time } })
        : undefined,
    );
    const ran = await pull(broken, '--only', 'tickets');
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining('Not whole')]);
    expect(ran.of('tickets')).toMatchObject({ complete: true, doubt: null });
    const [row] = (await sql(world, 'SELECT due_at, data FROM tickets LIMIT 1')) as Fields[];
    expect(row).toMatchObject({ due_at: null });
    expect(JSON.stringify(row)).toContain(time);
  });
});

onBothEngines('a record whose id cannot be kept', ({ engine, test, world: fresh, pulled }) => {
  // What an answer says is read before either engine has a part in it.
  const some = engine === 'sqlite' ? lists : lists.slice(0, 1);
  test.each(some.map((one, at) => [...one, oddIds[at]] as const))(
    'of %s (%s) keeps the first reading from being complete',
    { tags: ['long'] },
    async (kind, path, key, id, _, odd) => {
      const world = fresh();
      const broken = faulty(world, (url) =>
        url.pathname === path ? spoilt(key, id, (record, at) => (at === 1 ? odd : record[id])) : undefined,
      );
      const ran = await pull(broken, '--only', kind);
      expect(ran.stderr).toMatch(new RegExp(`Not whole: ${kind}\\. \\d+ records? of .+ without an id`, 'u'));
      expect([ran.exitCode, ran.of(kind).complete]).toEqual([8, false]);
      // It goes on with what can be kept, and says the same the next time.
      expect(ran.of(kind).rows).toBeGreaterThan(0);
      expect((await pull(broken, '--only', kind)).exitCode).toBe(8);
      expect((await pull(world, '--only', kind)).of(kind)).toMatchObject({ complete: true, doubt: null });
      expect((await copied(world))[kind]).toEqual((await truth(world))[kind]);
    },
  );

  test('makes nothing gone, however often all ids come as texts, and leaves a whole copy complete', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const texts: Fault = (body) =>
      JSON.parse(JSON.stringify(body).replace(/"(phone_call_id|contacts_list_id|id|contact_id)":(\d+)/gu, '"$1":"$2"'));
    const inside = (url: URL) => /^\/(?:tickets|conversations)\/\d+$/u.test(url.pathname);
    const broken = faulty(world, (url) => (inside(url) ? undefined : texts));
    for (let time = 0; time < 2; time++) {
      const ran = await pull(broken, '--full');
      expect(ran.exitCode).toBe(8);
      for (const { gone, doubt, complete } of JSON.parse(ran.stdout).kinds)
        expect([gone, typeof doubt, complete]).toEqual([0, 'string', true]);
    }
    for (const table of ['contacts', 'calls', 'lists', 'list_members', 'feedback', 'tickets', 'changelog'])
      expect(await sql(world, `SELECT count(gone_at) AS n FROM ${table}`)).toEqual([{ n: 0 }]);
    await ok(world, 'mirror pull --full');
    expect(await copied(world)).toEqual(await truth(world));
  });

  test('of a message is missing from its ticket until it comes with an id, and no other message is gone', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'POST', '/tickets/8/replies', { body: 'One more' });
    const bare: Fault = ({ ticket }) => {
      const { messages, ...rest } = ticket as { messages: Fields[] };
      return {
        ticket: {
          ...rest,
          messages: messages.map(({ id, ...message }, at) => (at % 2 ? { id, ...message } : message)),
        },
      };
    };
    const broken = faulty(world, (url) => (url.pathname === '/tickets/8' ? bare : undefined));
    const gone = () => sql(world, 'SELECT count(gone_at) AS n FROM ticket_messages');
    for (const words of [[], [], ['--full']]) {
      const ran = await pull(broken, '--only', 'tickets', ...words);
      expect([ran.exitCode, await gone()]).toEqual([8, [{ n: 0 }]]);
    }
    await ok(world, 'mirror pull');
    expect((await copied(world)).ticket_messages).toEqual((await truth(world)).ticket_messages);
  });

  test('was left out of a copy that an earlier version called complete: the next pull reads that kind whole', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    await inCopy(world, (store, account) =>
      store.write(async (to) => {
        for (const kind of ['contacts', 'tickets'] as const) {
          const { notFound: _, ...state } = await readState(to, account, kind);
          await to.run(`DELETE FROM ${kind} WHERE ${kind === 'contacts' ? 'contact_id' : 'id'} = 2`);
          await saveState(to, account, kind, { ...state, short: 1 } as never);
        }
      }),
    );
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
  });
});
