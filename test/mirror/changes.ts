import type { KindName } from '../../src/mirror/tables/kinds.ts';
import { fc } from '../chance.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { request } from './truth.ts';

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

/** What can happen to the records of each kind, by others. */
const changesOf: Readonly<Record<KindName, Readonly<Record<string, Change>>>> = {
  contacts: {
    contact: (world) => request(world, 'POST', '/contacts/create', person()),
    contacts: (world) => request(world, 'POST', '/contacts/create', { contacts: Array.from({ length: 120 }, person) }),
    edit: (world, pick) => request(world, 'PATCH', `/contacts/${1 + (pick % 264)}`, { company: `C${pick}` }),
  },
  lists: {
    list: (world) => request(world, 'POST', '/contactslists/create', { name: 'L', target_industry: 'x', notes: 'n' }),
    unlist: (world, pick) => request(world, 'POST', `/contactslists/${1 + (pick % 6)}/delete`),
    members: (world, pick) =>
      request(world, 'POST', `/contactslists/${1 + (pick % 6)}/sync_contacts`, {
        name: 'L',
        contacts_ids: [1 + (pick % 9), 20],
      }),
  },
  calls: {
    call: (world, pick) => act(world, { kind: 'call_completed', contact_id: 1 + (pick % 264) }),
  },
  tickets: {
    ticket: (world) => request(world, 'POST', '/tickets', { subject: 'New \u0000 one', contact_id: 1 }),
    status: (world, pick) =>
      request(world, 'PATCH', `/tickets/${1 + (pick % 44)}`, { status: pick % 2 ? 'open' : 'closed' }),
    reply: (world, pick) => request(world, 'POST', `/tickets/${1 + (pick % 44)}/replies`, { body: `Reply ${pick}` }),
  },
  conversations: {
    chat: (world, pick) =>
      act(world, { kind: 'customer_message', conversation_id: 1 + (pick % 22), body: `Chat ${pick}` }),
    robot: (world, pick) => act(world, { kind: 'ai_message', conversation_id: 1 + (pick % 22), body: `AI ${pick}` }),
    resolve: (world, pick) => request(world, 'POST', `/conversations/${1 + (pick % 22)}/resolve`),
  },
  changelog: {
    entry: (world, pick) => request(world, 'POST', '/changelog', { title: `Entry ${pick}`, content: 'Text' }),
    publish: (world, pick) =>
      request(world, 'PATCH', `/changelog/${1 + (pick % 32)}`, { content: `Now ${pick}`, status: 'published' }),
  },
  feedback: {
    post: (world, pick) => act(world, { kind: 'feedback_posted', title: `Idea ${pick}`, content: 'Text' }),
  },
};

const changes: Readonly<Record<string, Change>> = {
  ...Object.assign({}, ...Object.values(changesOf)),
  time: async (world, pick) => world.clock.advance((pick % 200) * 1000),
};

/** One of them, of chance. */
export const change = fc.record({ what: fc.constantFrom(...Object.keys(changes)), pick: fc.nat(1000) });

export async function happen(world: SandboxWorld, { what, pick }: { what: string; pick: number }): Promise<void> {
  await changes[what]?.(world, pick);
}
