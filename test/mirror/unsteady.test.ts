// @module-tag long
import { expect } from 'vitest';
import { fc } from '../chance.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';
import { type Fault, faults, faulty } from './faulty.ts';
import { copied, type Records, request, truth, withoutContacts } from './truth.ts';

type KindRow = { kind: string; complete: boolean; doubt: string | null };

/** Kinds whose lists have a count. */
const idFields: Readonly<Record<string, string>> = {
  contacts: 'contact_id',
  calls: 'phone_call_id',
  tickets: 'id',
  conversations: 'id',
  changelog: 'id',
  feedback: 'id',
};

let made = 0;
const changes: Record<string, (world: SandboxWorld, pick: number) => Promise<unknown>> = {
  contacts: (world) =>
    request(world, 'POST', '/contacts/create', {
      contacts: Array.from({ length: 30 }, () => ({
        ...{ name: 'N', last_name: 'L', email: `u${++made}@example.com`, phone: '+14155550100' },
      })),
    }),
  ticket: (world) => request(world, 'POST', '/tickets', { subject: 'New', contact_id: 1 }),
  status: (world, pick) => request(world, 'PATCH', `/tickets/${1 + (pick % 44)}`, { subject: `Now ${pick}` }),
  reply: (world, pick) => request(world, 'POST', `/tickets/${1 + (pick % 44)}/replies`, { body: `Reply ${pick}` }),
  chat: (world, pick) =>
    world.control('POST', 'act', {
      ...{ account_id: 1, kind: 'customer_message', conversation_id: 1 + (pick % 22), body: `Chat ${pick}` },
    }),
  'a step back': async (world, pick) => world.clock.advance(-60_000 - (pick % 600) * 1000),
  'a step forward': async (world, pick) => world.clock.advance((pick % 7200) * 1000),
};

const change = fc.record({ what: fc.constantFrom(...Object.keys(changes)), pick: fc.nat(10_000) });

/** At which of a pull's requests a page is wrong, and how; and what happens before it. */
const pulled = fc.record({
  wrong: fc.array(fc.record({ at: fc.nat(160), how: fc.constantFrom(...Object.keys(faults)) }), { maxLength: 40 }),
  before: fc.array(change, { maxLength: 3 }),
  full: fc.boolean(),
});

/** What passes is asked for again; a service that says the same wrong thing twice in a row cannot be told from a right one. */
function unsteady(world: SandboxWorld, wrong: readonly { at: number; how: string }[]): SandboxWorld {
  let requests = 0;
  const last = new Map<string, number>();
  return faulty(world, (url) => {
    const count = ++requests;
    const how = wrong.find(({ at }) => at === count)?.how;
    const key = `${url.pathname} ${url.searchParams.get('page')}`;
    const isRepeated = last.get(key) === 1;
    last.set(key, how && !isRepeated ? 1 : 0);
    if (!how || isRepeated || url.searchParams.get('page') === null) return undefined;
    return faults[how as keyof typeof faults] as Fault;
  });
}

const idsOf = (records: Records, kind: string): unknown[] =>
  (records[kind] ?? []).map((row) => row[idFields[kind] ?? '']);

/** More of them with SVC_TEST_RUNS. */
const runs = Number(process.env.SVC_TEST_RUNS ?? 2);

onBothEngines('a service whose pages and clock are not to be relied on', ({ test, world: fresh }) => {
  test('never makes a part complete, nor gone what is there; a last good pull has everything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pulled, { minLength: 1, maxLength: 4 }), async (pulls) => {
        const world = fresh();
        for (const { wrong, before, full } of pulls) {
          for (const { what, pick } of before) await changes[what]?.(world, pick);
          const there = await truth(world);
          const ran = await svc(unsteady(world, wrong), ['mirror', 'pull', ...(full ? ['--full'] : []), '--json']);
          const { kinds } = JSON.parse(ran.stdout) as { kinds: KindRow[] };
          expect(ran.exitCode).toBe(kinds.some(({ doubt }) => doubt !== null) ? 8 : 0);
          const copy = await copied(world);
          for (const { kind, complete, doubt } of kinds) {
            const id = idFields[kind];
            if (!id) continue;
            if (complete && doubt === null) {
              expect(idsOf(copy, kind)).toEqual(expect.arrayContaining(idsOf(there, kind)));
            }
            expect(await sql(world, `SELECT ${id} AS id FROM ${kind} WHERE gone_at IS NOT NULL`)).toEqual([]);
          }
        }
        world.clock.advance(5_000);
        await ok(world, 'mirror pull --rescan 20');
        expect(withoutContacts(await copied(world))).toEqual(withoutContacts(await truth(world)));
      }),
      { numRuns: runs },
    );
  });
});
