import { join } from 'node:path';
import type { Settings } from '../../src/config/settings.ts';
import type { Context } from '../../src/context.ts';
import { openCopyPulled } from '../../src/mirror/store/open-copy.ts';
import { readAll } from '../../src/mirror/store/read.ts';
import type { KindName } from '../../src/mirror/tables/kinds.ts';
import type { Account, Store } from '../../src/mirror/tables/store.ts';
import { tables } from '../../src/mirror/tables/tables.ts';
import { origin, type SandboxWorld } from '../sandbox-world.ts';

type Fields = Record<string, unknown>;
export type Records = Record<string, Fields[]>;

/** A request of somebody else, who is not counted. */
export async function request(world: SandboxWorld, method: string, url: string, body?: unknown): Promise<never> {
  const answer = await world.sandbox.handle({
    method,
    url,
    headers: { host: 'service.test', authorization: 'Bearer key_acme', 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return JSON.parse(answer.body) as never;
}

async function all(world: SandboxWorld, path: string, key: string): Promise<Fields[]> {
  const records: Fields[] = [];
  for (let page = 1; ; page++) {
    const body = (await request(world, 'GET', `${path}?page=${page}&per_page=100`)) as Fields & {
      meta: { last_page: number };
    };
    records.push(...(body[key] as Fields[]));
    if (page >= body.meta.last_page) return records;
  }
}

async function whole(world: SandboxWorld, path: string, key: string, one: string): Promise<Fields[]> {
  const records: Fields[] = [];
  for (const { id } of await all(world, path, key)) {
    records.push(((await request(world, 'GET', `${path}/${id}`)) as Fields)[one] as Fields);
  }
  return records;
}

const inside = (records: readonly Fields[], parent: string): Fields[] =>
  records.flatMap(({ id, messages }) => (messages as Fields[]).map((message) => ({ [parent]: id, ...message })));

/** Everything that the service shows of the account, by table of the copy. */
export async function truth(world: SandboxWorld): Promise<Records> {
  const { data: lists } = (await request(world, 'GET', '/contactslists/list')) as { data: Fields[] };
  const members: Fields[] = [];
  for (const { contacts_list_id } of lists) {
    const { data } = (await request(world, 'GET', `/contactslists/${contacts_list_id}/get_contacts`)) as {
      data: Fields[];
    };
    members.push(...data.map((member) => ({ contacts_list_id, ...member })));
  }
  const tickets = await whole(world, '/tickets', 'tickets', 'ticket');
  const conversations = await whole(world, '/conversations', 'conversations', 'conversation');
  return sorted({
    contacts: await all(world, '/contacts', 'contacts'),
    lists,
    list_members: members,
    calls: await all(world, '/calls', 'calls'),
    tickets,
    ticket_messages: inside(tickets, 'ticket_id'),
    conversations,
    conversation_messages: inside(conversations, 'conversation_id'),
    changelog: await whole(world, '/changelog', 'entries', 'entry'),
    feedback: await all(world, '/feedback', 'posts'),
  } satisfies Record<KindName, Fields[]> & Records);
}

/** Looks at the copy from inside, or changes it. */
export async function inCopy<T>(world: SandboxWorld, work: (store: Store, account: Account) => Promise<T>): Promise<T> {
  const quiet = { progress: () => {}, notice: () => {}, signal: new AbortController().signal };
  const files = { config: join(world.folder, 'config'), state: join(world.folder, 'state') };
  const ctx = { ...quiet, env: world.env, files, clock: world.clock, exchange: world.exchange } as unknown as Context;
  const { store, account } = await openCopyPulled(ctx, { baseUrl: origin, profile: 'default' } as Settings);
  try {
    return await work(store, account);
  } finally {
    await store.close();
  }
}

/** The same of the copy. */
export const copied = (world: SandboxWorld): Promise<Records> =>
  inCopy(world, async (store, account) => {
    const records: Records = {};
    for (const { name } of tables) {
      records[name] = [];
      for await (const record of readAll(store, account, name)) records[name].push(record as Fields);
    }
    return sorted(records);
  });

/** One order for both, of records and of fields. */
function sorted(records: Records): Records {
  return Object.fromEntries(
    Object.entries(records).map(([name, rows]) => {
      const texts = rows.map((row) => JSON.stringify(inOrder(row))).sort();
      return [name, texts.map((text): Fields => JSON.parse(text))];
    }),
  );
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, held]) => [key, inOrder(held)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** A ticket shows its contact as it is now, which no pull but a full one can know. */
export const withoutContacts = (records: Records): Records => ({
  ...records,
  ...Object.fromEntries(
    ['tickets', 'conversations'].map((name) => [
      name,
      (records[name] ?? []).map(({ contact: _, ...record }) => record),
    ]),
  ),
});
