import { expect } from 'vitest';
import { fc } from '../chance.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines } from './engines.ts';
import { copied, request, truth, withoutContacts } from './truth.ts';

type Change = (world: SandboxWorld, pick: number) => Promise<unknown>;

const act = (world: SandboxWorld, body: object) =>
  world.control('POST', 'act', { account_id: 1, ...body }).catch(() => {});
let made = 0;
const person = () => {
  const n = ++made;
  return {
    name: `N${n}`,
    last_name: 'L',
    email: `p${n}@example.com`,
    phone: `+1415555${String(n % 10_000).padStart(4, '0')}`,
  };
};

/** What can happen to an account, by others. */
const changes: Record<string, Change> = {
  contact: (world) => request(world, 'POST', '/contacts/create', person()),
  contacts: (world) => request(world, 'POST', '/contacts/create', { contacts: Array.from({ length: 120 }, person) }),
  edit: (world, pick) => request(world, 'PATCH', `/contacts/${1 + (pick % 264)}`, { company: `C${pick}` }),
  ticket: (world) => request(world, 'POST', '/tickets', { subject: 'New \u0000 one', contact_id: 1 }),
  status: (world, pick) =>
    request(world, 'PATCH', `/tickets/${1 + (pick % 44)}`, { status: pick % 2 ? 'open' : 'closed' }),
  reply: (world, pick) => request(world, 'POST', `/tickets/${1 + (pick % 44)}/replies`, { body: `Reply ${pick}` }),
  chat: (world, pick) =>
    act(world, { kind: 'customer_message', conversation_id: 1 + (pick % 22), body: `Chat ${pick}` }),
  robot: (world, pick) => act(world, { kind: 'ai_message', conversation_id: 1 + (pick % 22), body: `AI ${pick}` }),
  resolve: (world, pick) => request(world, 'POST', `/conversations/${1 + (pick % 22)}/resolve`),
  call: (world, pick) => act(world, { kind: 'call_completed', contact_id: 1 + (pick % 264) }),
  post: (world, pick) => act(world, { kind: 'feedback_posted', title: `Idea ${pick}`, content: 'Text' }),
  list: (world) => request(world, 'POST', '/contactslists/create', { name: 'L', target_industry: 'x', notes: 'n' }),
  unlist: (world, pick) => request(world, 'POST', `/contactslists/${1 + (pick % 6)}/delete`),
  members: (world, pick) =>
    request(world, 'POST', `/contactslists/${1 + (pick % 6)}/sync_contacts`, {
      name: 'L',
      contacts_ids: [1 + (pick % 9), 20],
    }),
  entry: (world, pick) => request(world, 'POST', '/changelog', { title: `Entry ${pick}`, content: 'Text' }),
  publish: (world, pick) =>
    request(world, 'PATCH', `/changelog/${1 + (pick % 32)}`, { content: `Now ${pick}`, status: 'published' }),
  time: async (world, pick) => world.clock.advance((pick % 200) * 1000),
};

const change = fc.record({ what: fc.constantFrom(...Object.keys(changes)), pick: fc.nat(1000) });

/** A pull, what happens at which of its requests, and how it ends. */
const pulled = fc.record({
  during: fc.array(fc.record({ at: fc.integer({ min: 1, max: 60 }), change }), { maxLength: 4 }),
  endAt: fc.option(fc.integer({ min: 1, max: 80 }), { nil: undefined }),
  how: fc.constantFrom('killed', 'cut', '--max-requests'),
  full: fc.boolean(),
});

type Pulled = typeof pulled extends fc.Arbitrary<infer P> ? P : never;

async function happen(world: SandboxWorld, { what, pick }: { what: string; pick: number }): Promise<void> {
  await changes[what]?.(world, pick);
}

async function pullAmong(world: SandboxWorld, { during, endAt, how, full }: Pulled): Promise<void> {
  let requests = 0;
  const end = new AbortController();
  const exchange: SandboxWorld['exchange'] = async (asked) => {
    requests++;
    for (const { at, change: one } of during) if (at === requests) await happen(world, one);
    if (requests === endAt && how === 'killed') {
      end.abort('SIGTERM');
      return { lost: 'after-sending', reason: 'aborted', detail: 'ended' };
    }
    if (requests === endAt && how === 'cut') throw new Error('svc itself fails here');
    return world.exchange(asked);
  };
  const words = ['mirror', 'pull', ...(full ? ['--full'] : [])];
  if (endAt !== undefined && how === '--max-requests') words.push('--max-requests', String(Math.max(2, endAt)));
  await svc({ ...world, exchange }, words, { signal: end.signal });
}

/** More of them with SVC_TEST_RUNS. */
const runs = Number(process.env.SVC_TEST_RUNS ?? 2);

onBothEngines('by chance', ({ test, world: fresh }) => {
  test('after any changes, ends and pulls the copy is what the service shows', { timeout: 300_000 }, async () => {
    const step = fc.oneof({ arbitrary: change, weight: 3 }, { arbitrary: pulled, weight: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const world = fresh();
        for (const one of steps) await ('what' in one ? happen(world, one) : pullAmong(world, one));
        world.clock.advance(5_000);
        await ok(world, 'mirror pull --rescan 20');
        expect(withoutContacts(await copied(world))).toEqual(withoutContacts(await truth(world)));
        await ok(world, 'mirror pull --full');
        expect(await copied(world)).toEqual(await truth(world));
      }),
      { numRuns: runs },
    );
  });
});
