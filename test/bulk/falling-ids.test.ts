// Ids are stable and never reused; that they grow is nowhere said. What a run has sent is found by them all the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Lost } from '../../src/context.ts';
import { once } from '../../src/promise/once.ts';
import { fieldsIn } from '../../src/text/record.ts';
import { lateWorld } from '../http/late-service.ts';
import { falling, type IdOrder, idOrders, withIds } from '../other-ids.ts';
import { demo, few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc, type World } from '../svc.ts';
import { runOrKill } from './killing.ts';

const long = { tags: ['long'] };

const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

/** More than a page of each kind that is listed newest first. */
const many = manyOf(demo);

function manyOf({ tickets = [], ...rest }: typeof few): typeof few {
  const [like] = tickets;
  if (!like) throw new Error('The demo has no tickets.');
  const older = Array.from({ length: 150 }, (_, at) => {
    const created_at = new Date(Date.parse('2025-01-01T00:00:00Z') + at * 3_600_000).toISOString();
    return {
      ...like,
      id: 1000 + at,
      ticket_number: `T-${3000 + at}`,
      created_at,
      updated_at: created_at,
      messages: [],
    };
  });
  return { ...rest, tickets: [...older, ...tickets.map((one) => ({ ...one, id: one.id + 1200 }))] };
}

const byEmail = (few.tickets ?? []).flatMap(({ id, contact_id, conversation_id }) =>
  few.contacts?.some((one) => one.contact_id === contact_id && one.email) && conversation_id === null ? [id] : [],
);

type Kind = {
  readonly words: string;
  readonly header: string;
  readonly row: (at: number, order: IdOrder) => string;
  readonly seed?: typeof few;
};

const kinds: Readonly<Record<string, Kind>> = {
  tickets: { words: 'tickets create', header: 'subject,description', row: (at) => `Row ${at},Text ${at}` },
  'tickets, of more than a page': {
    words: 'tickets create',
    header: 'subject,description',
    row: (at) => `Row ${at},Text ${at}`,
    seed: many,
  },
  contacts: {
    words: 'contacts create',
    header: 'name,last_name,email,phone',
    row: (at) => `Ann,Ash,row${at}@x.example,+1202555${1000 + at}`,
  },
  'contacts, of more than a page': {
    words: 'contacts create',
    header: 'name,last_name,email,phone',
    row: (at) => `Ann,Ash,row${at}@x.example,+1202555${1000 + at}`,
    seed: many,
  },
  'replies to one ticket': { words: 'tickets reply', header: 'id,body', row: (at, order) => `${order(8)},Text ${at}` },
  'replies to several tickets': {
    words: 'tickets reply',
    header: 'id,body',
    row: (at, order) => `${order(byEmail[at] ?? 0)},Text ${at}`,
  },
  'messages in one chat': {
    words: 'conversations reply',
    header: 'id,body',
    row: (at, order) => `${order(1)},Text ${at}`,
  },
  entries: { words: 'changelog create', header: 'title,content', row: (at) => `Title ${at},Text ${at}` },
  lists: { words: 'lists create', header: 'name,target_industry,notes', row: (at) => `List ${at},Any,Notes` },
};

const kindOf = (name: string): Kind => {
  const kind = kinds[name];
  if (!kind) throw new Error(`There is no kind called ${name}.`);
  return kind;
};

const rows = [1, 2, 3, 4];
const isPost = (line: string): boolean => line.startsWith('POST');
const posts = ({ sent }: SandboxWorld): number => sent.filter(isPost).length;

const cases = Object.entries(kinds).flatMap(([name, kind]) =>
  idOrders.map(([order, idOrder]) => [name, order, kind, idOrder] as const),
);

/** A world with that file in it, and how it is run. */
function fresh({ words, header, row, seed = few }: Kind, order: IdOrder, of: readonly number[] = rows) {
  const world = sandboxWorld({ rateLimit: 'off', seed });
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, [header, ...of.map((at) => row(at, order)), ''].join('\n'));
  const argv = [...words.split(' '), '--from', file, '--yes', '--json', '--concurrency', '1', '--settle', '1'];
  return { world, ordered: withIds(world, order), argv };
}

/** Gives the number, among all requests of a run that nothing disturbs, of its n-th POST. Each such run is alike, so one is enough. */
function requestsOf(kind: Kind, order: IdOrder): (nth: number) => Promise<number> {
  const posted = once(async () => {
    const { world, ordered, argv } = fresh(kind, order);
    expect(await svc(ordered, argv)).toMatchObject({ exitCode: 0 });
    return world.sent.flatMap((line, index) => (isPost(line) ? [index] : []));
  });
  return async (nth) => (await posted())[nth - 1] ?? Number.NaN;
}

/** Its n-th POST is carried out and never answered. */
function losing(world: World, nth: number): World {
  let count = 0;
  const exchange: World['exchange'] = async (request) => {
    const answer = await world.exchange(request);
    return request.method === 'POST' && ++count === nth ? cut : answer;
  };
  return { ...world, exchange };
}

describe.each(cases)('%s, where ids %s', (_, __, kind, order) => {
  const requestOf = requestsOf(kind, order);

  test.each([1, 3])('row %i, whose answer was lost, is found by the same run', async (nth) => {
    const { world, ordered, argv } = fresh(kind, order);
    const ran = await svc(losing(ordered, nth), argv);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(rows.length);
  });

  test.each([1, 3])('row %i, which was on its way when svc was killed, is found by the next run', async (nth) => {
    const at = await requestOf(nth);
    const { world, ordered, argv } = fresh(kind, order);
    const killed = await runOrKill(ordered, argv, { at, heard: true });
    expect(killed.ran).toBeUndefined();
    const { ran } = await runOrKill(killed.next, argv, undefined);
    expect(ran?.exitCode, ran?.stderr).toBe(0);
    expect(posts(world)).toBe(rows.length);
  });

  test('a row that was lost, and of which nothing came, is none of the records that were there', async () => {
    const at = await requestOf(3);
    const { world, ordered, argv } = fresh(kind, order);
    const twin = fresh(kind, order, [3]);
    // The same, made by somebody else before.
    const other = { ...ordered, folder: twin.world.folder };
    expect(await svc(other, twin.argv)).toMatchObject({ exitCode: 0 });
    const killed = await runOrKill(ordered, argv, { at, heard: false });
    expect(killed.ran).toBeUndefined();
    const { ran } = await runOrKill(killed.next, argv, undefined);
    expect(ran?.exitCode, ran?.stderr).toBe(9);
    expect(posts(world)).toBe(rows.length);
  });
});

test.each(idOrders)('a row that arrived late is found below many others, where ids %s', long, async (_, order) => {
  const kind = kindOf('contacts, of more than a page');
  const of = Array.from({ length: 130 }, (_, at) => at + 1);
  const { world, ordered, argv } = fresh(kind, order, of);
  const ending = cut;
  const late = lateWorld(ordered, { isMeant: ({ method }) => method === 'POST', ending, afterMs: 1500 });
  const exchange: World['exchange'] = (request) => {
    world.clock.advance(10);
    return late.exchange(request);
  };
  const ran = await svc({ ...late, exchange }, argv);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(posts(world)).toBe(of.length);
});

test.each(idOrders)('what somebody else made before the row left is none of it, where ids %s', async (_, order) => {
  const kind = kindOf('tickets');
  const at = await requestsOf(kind, order)(3);
  const { world, ordered, argv } = fresh(kind, order);
  const twin = fresh(kind, order, [3]);
  let count = 0;
  const exchange: World['exchange'] = async (request) => {
    if (request.method !== 'POST' || ++count > 1) return ordered.exchange(request);
    const answer = await svc({ ...ordered, folder: twin.world.folder }, twin.argv);
    expect(answer.exitCode).toBe(0);
    world.clock.advance(120_000);
    return ordered.exchange(request);
  };
  const killed = await runOrKill({ ...ordered, exchange }, argv, { at, heard: false });
  expect(killed.ran).toBeUndefined();
  const { ran } = await runOrKill(killed.next, argv, undefined);
  expect(ran?.exitCode, ran?.stderr).toBe(9);
});

test('a row that arrived as the run after it began is found, though no larger id has come', async () => {
  const kind = kindOf('lists');
  const order = falling;
  const at = await requestsOf(kind, order)(1);
  const { ordered, argv } = fresh(kind, order);
  const late = fresh(kind, order, [1]);
  const { ran: first, next } = await runOrKill(ordered, argv, { at, heard: false });
  expect(first).toBeUndefined();
  let reads = 0;
  const exchange: World['exchange'] = async (request) => {
    // The first is the look for it, the second is what the run begins with.
    if (request.url.endsWith('/contactslists/list') && ++reads === 2)
      await svc({ ...ordered, folder: late.world.folder }, late.argv);
    return next.exchange(request);
  };
  const ran = await svc({ ...next, exchange }, argv.with(-1, '0'));
  expect(ran.exitCode, ran.stderr).toBe(0);
});

describe.each(idOrders)('subscriptions, where ids %s', (_, order) => {
  test('each is made, with its secret', async () => {
    const world = sandboxWorld({ rateLimit: 'off', env: {}, seed: few });
    const token = await world.control('POST', 'tokens', { account_id: 1, scopes: ['identity', 'webhooks:manage'] });
    const options: RunOptions = {
      env: { SVC_ACCESS_TOKEN: String(fieldsIn(token).access_token) },
      stdin: `event_type,target_url\n${['a', 'b', 'c'].map((at) => `ticket.created,https://x.example/${at}\n`).join('')}`,
    };
    const argv = ['webhooks', 'create', '--from', '-', '--yes', '--json', '--results', join(world.folder, 'out.csv')];
    const ran = await svc(withIds(world, order), argv, options);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(3);
  });
});
