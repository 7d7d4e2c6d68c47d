import { describe, expect } from 'vitest';
import { type KindState, readState, saveState } from '../../src/mirror/store/state.ts';
import type { KindName } from '../../src/mirror/tables/kinds.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';
import { type Fault, faults, faulty, pageOf, times, without } from './faulty.ts';
import { copied, inCopy, request, truth } from './truth.ts';

type KindRow = { kind: string; rows: number; complete: boolean; gone: number; doubt: string | null };

async function pull(world: SandboxWorld, ...words: string[]) {
  const ran = await svc(world, ['mirror', 'pull', ...words, '--json']);
  const { kinds } = JSON.parse(ran.stdout) as { kinds: KindRow[] };
  return { ...ran, kinds, of: (kind: string) => kinds.find((row) => row.kind === kind) as KindRow };
}

const person = (n: number) => ({ name: `N${n}`, last_name: 'L', email: `p${n}@example.com`, phone: '+14155550100' });
const goneIn = async (world: SandboxWorld, table: string) =>
  ((await sql(world, `SELECT count(*) AS n FROM ${table} WHERE gone_at IS NOT NULL`)) as [{ n: number }])[0].n;

onBothEngines('a reading is whole', ({ test, world: fresh, pulled }) => {
  describe('only where every page is the one that was asked for', () => {
    test.each(Object.entries(faults) as [string, Fault][])(
      'not where a page is %s',
      { tags: ['long'] },
      async (_, fault) => {
        const world = fresh();
        // More often than one pull asks for it.
        const broken = faulty(world, times(20, pageOf('/contacts', 2), fault));
        const first = await pull(broken, '--only', 'contacts');
        expect(first.exitCode).toBe(8);
        expect(first.stderr).toContain('Not whole: contacts.');
        expect(first.of('contacts')).toMatchObject({ complete: false, gone: 0, doubt: expect.any(String) });
        const next = await pull(world, '--only', 'contacts');
        expect(next.exitCode).toBe(0);
        expect(next.of('contacts')).toMatchObject({ complete: true, rows: 264, gone: 0, doubt: null });
        expect((await copied(world)).contacts).toEqual((await truth(world)).contacts);
      },
    );

    test('not where the first page counts fewer records than it holds', { tags: ['long'] }, async () => {
      const world = fresh();
      const few: Fault = (body) => ({ ...body, meta: { current_page: 1, last_page: 1, total: 3 } });
      const first = await pull(faulty(world, times(20, pageOf('/contacts', 1), few)), '--only', 'contacts');
      expect(first.exitCode).toBe(8);
      expect(first.of('contacts')).toMatchObject({ complete: false, doubt: expect.stringContaining('counts only 3') });
      const next = await pull(world, '--only', 'contacts');
      expect(next.of('contacts')).toMatchObject({ complete: true, rows: 264 });
    });

    test('a page that is wrong once is asked for once more, and nobody notices', { tags: ['long'] }, async () => {
      for (const [path, kind] of [
        ['/contacts', 'contacts'],
        ['/calls', 'calls'],
        ['/tickets', 'tickets'],
        ['/conversations', 'conversations'],
        ['/changelog', 'changelog'],
        ['/feedback', 'feedback'],
      ] as const) {
        const world = fresh();
        const ran = await pull(faulty(world, times(1, pageOf(path, 1), faults.empty)), '--only', kind);
        expect([kind, ran.exitCode, ran.of(kind).complete]).toEqual([kind, 0, true]);
        const [read, real] = [await copied(world), await truth(world)];
        expect(read[kind]).toEqual(real[kind]);
      }
    });
  });

  test('nothing is gone by a page that is empty, of any kind', { tags: ['long'] }, async () => {
    for (const [path, kind] of [
      ['/contacts', 'contacts'],
      ['/calls', 'calls'],
      ['/tickets', 'tickets'],
      ['/changelog', 'changelog'],
      ['/feedback', 'feedback'],
    ] as const) {
      const world = await pulled();
      for (const fault of [faults.empty, faults['without meta'], faults.shrunk]) {
        const broken = faulty(world, (url) => (pageOf(path, 1)(url) ? fault : undefined));
        const ran = await pull(broken, '--only', kind, '--full');
        expect(ran.of(kind).gone).toBe(0);
      }
      // An account that looks empty in every respect, once.
      const none: Fault = (body) => ({
        ...(faults.empty(body) as object),
        meta: { current_page: 1, last_page: 1, total: 0 },
      });
      await pull(faulty(world, times(1, pageOf(path, 1), none)), '--only', kind, '--full');
      expect(await goneIn(world, kind)).toBe(0);
      expect((await pull(world, '--only', kind)).of(kind)).toMatchObject({ complete: true, doubt: null });
    }
  });

  test('a list of lists, and a list of members, that comes empty or broken once makes nothing gone', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    for (const path of ['/contactslists/list', '/contactslists/3/get_contacts']) {
      for (const fault of [() => ({ data: [] }), () => ({}), () => ({ data: null })]) {
        await svc(
          faulty(
            world,
            times(1, (url) => url.pathname === path, fault),
          ),
          ['mirror', 'pull', '--only', 'lists'],
        );
        expect([await goneIn(world, 'lists'), await goneIn(world, 'list_members')]).toEqual([0, 0]);
      }
    }
    const always = faulty(world, (url) => (url.pathname === '/contactslists/list' ? () => ({ data: [] }) : undefined));
    const ran = await pull(always, '--only', 'lists');
    expect([ran.exitCode, ran.of('lists').gone]).toEqual([8, 0]);
    expect((await pull(world, '--only', 'lists')).exitCode).toBe(0);
  });

  test('members, feedback posts and calls are gone once two readings agree', { tags: ['long'] }, async () => {
    const world = await pulled();
    await request(world, 'POST', '/contactslists/3/remove_contacts', { contacts_ids: [1, 2, 3, 4, 5, 6] });
    const { feedback, calls } = (await truth(world)) as unknown as Record<
      string,
      { id: number; phone_call_id: number }[]
    >;
    const [post, call] = [feedback?.[0]?.id ?? 0, calls?.[0]?.phone_call_id ?? 0];
    const deleted = faulty(
      world,
      (url) => without('/feedback', post)(url) ?? without('/calls', call, 'phone_call_id')(url),
    );
    await ok(deleted, 'mirror pull --full --only lists,feedback,calls');
    expect(await sql(world, 'SELECT id FROM feedback WHERE gone_at IS NOT NULL')).toEqual([{ id: post }]);
    expect(await sql(world, 'SELECT phone_call_id FROM calls WHERE gone_at IS NOT NULL')).toEqual([
      { phone_call_id: call },
    ]);
    const { list_members } = await truth(world);
    expect((await copied(world)).list_members).toEqual(list_members);
  });

  test('an answer that lacks messages of a thread, or the record itself, takes nothing away', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await request(world, 'POST', '/tickets/8/replies', { body: 'One more' });
    const ticket = (url: URL) => url.pathname === '/tickets/8';
    const bare: Fault = ({ ticket }) => ({ ticket: { ...(ticket as object), messages: undefined } });
    const emptied: Fault = ({ ticket }) => ({ ticket: { ...(ticket as object), messages: [] } });
    for (const fault of [bare, emptied, () => ({})] as Fault[]) {
      await svc(faulty(world, times(1, ticket, fault)), ['mirror', 'pull', '--full', '--only', 'tickets']);
      expect(await goneIn(world, 'ticket_messages')).toBe(0);
    }
    const never = await pull(
      faulty(world, (url) => (ticket(url) ? bare : undefined)),
      '--full',
      '--only',
      'tickets',
    );
    expect([never.exitCode, await goneIn(world, 'ticket_messages')]).toEqual([8, 0]);
    await ok(world, 'mirror pull');
    expect((await copied(world)).ticket_messages).toEqual((await truth(world)).ticket_messages);
  });

  test('a copy of an earlier version that calls a part complete is noticed by the next pull, and repaired without news', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    for (const [kind, id] of [
      ['contacts', 'contact_id'],
      ['tickets', 'id'],
      ['calls', 'phone_call_id'],
    ] as const) {
      await asOfEarlierVersion(world, kind, id);
    }
    world.clock.advance(60_000);
    await request(world, 'POST', '/contacts/create', person(1));
    await ok(world, 'mirror pull');
    expect(await copied(world)).toEqual(await truth(world));
    expect(await sql(world, "SELECT kind, change FROM changes WHERE kind = 'contacts'")).toEqual([
      { kind: 'contacts', change: 'created' },
    ]);
    expect((await pull(world)).kinds.every(({ complete }) => complete)).toBe(true);
  });
});

/** As a version before this one left it: rows are missing, and it is called complete. */
const asOfEarlierVersion = (world: SandboxWorld, kind: KindName, id: string) =>
  inCopy(world, (store, account) =>
    store.write(async (sql) => {
      await sql.run(`DELETE FROM ${kind} WHERE ${id} <= 5`);
      const { complete, cursor, begun, finished, finishedAt } = await readState(sql, account, kind);
      const old = { complete, cursor, begun, finished, finishedAt, sweep: null, short: 5, followedFrom: null };
      await saveState(sql, account, kind, old as Partial<KindState> as KindState);
    }),
  );
