// When a row left, and what svc had made and seen by then, counts for every look: the first, the last, and those of later runs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { falling, type IdOrder, idOrders, withIds } from '../other-ids.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';
import { runOrKill } from './killing.ts';

const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

type Kind = {
  readonly command: readonly string[];
  readonly head: string;
  readonly cells: (row: number) => string;
  readonly rowOf: (body: string) => number;
  /** What another request of the same kind sends for that row. */
  readonly like: (body: string, row: number) => string;
};

const field = (body: string, name: string): number => Number(/\d+/u.exec(JSON.parse(body)[name])?.[0]);

const kinds: Readonly<Record<string, Kind>> = {
  tickets: {
    command: ['tickets', 'create'],
    head: 'subject,description',
    cells: (row) => `Row ${row},Text ${row}`,
    rowOf: (body) => field(body, 'subject'),
    like: (_, row) => JSON.stringify({ subject: `Row ${row}`, description: `Text ${row}` }),
  },
  contacts: {
    command: ['contacts', 'create'],
    head: 'name,last_name,phone,email',
    cells: (row) => `Ann${row},Last${row},+1202555010${row},r${row}@x.test`,
    rowOf: (body) => field(body, 'name'),
    like: (body, row) => body.replaceAll(/(?<=Ann|Last|5550\d\d|"r)\d/gu, String(row)),
  },
  lists: {
    command: ['lists', 'create'],
    head: 'name,target_industry,notes',
    cells: (row) => `Row ${row},Food,None`,
    rowOf: (body) => field(body, 'name'),
    like: (body, row) => JSON.stringify({ ...JSON.parse(body), name: `Row ${row}` }),
  },
  entries: {
    command: ['changelog', 'create'],
    head: 'title,content',
    cells: (row) => `Row ${row},Text ${row}`,
    rowOf: (body) => field(body, 'title'),
    like: (body, row) => JSON.stringify({ ...JSON.parse(body), title: `Row ${row}`, content: `Text ${row}` }),
  },
};

const kindOf = (name: string): Kind => kinds[name] ?? expect.unreachable(name);

/** A service that does not say the time. */
function undated(world: SandboxWorld): SandboxWorld {
  const exchange: World['exchange'] = async (request) => {
    const answer = await world.exchange(request);
    if ('lost' in answer) return answer;
    const { date: _, ...headers } = answer.headers;
    return { ...answer, headers };
  };
  return { ...world, exchange };
}

const worldOf = (order?: IdOrder, tickets = 12): SandboxWorld => {
  const seed = { ...few, tickets: (few.tickets ?? []).slice(0, tickets) };
  const world = sandboxWorld({ rateLimit: 'off', seed });
  return order ? withIds(world, order) : world;
};

function creating({ folder }: World, { command, head, cells }: Kind, count: number, lanes = 1): readonly string[] {
  const file = join(folder, 'rows.csv');
  const rows = Array.from({ length: count }, (_, at) => cells(at + 1));
  writeFileSync(file, [head, ...rows, ''].join('\n'));
  return [...command, '--from', file, '--yes', '--json', '--concurrency', String(lanes), '--settle', '1'];
}

type Posted = (request: HttpRequest & { readonly body: string }, row: number) => Promise<HttpResponse | Lost>;

/** The world in which each creation goes through `posted`. `rows`: those that left. */
function withPosts(world: SandboxWorld, kind: Kind, posted: Posted): SandboxWorld & { readonly rows: number[] } {
  const rows: number[] = [];
  const exchange: World['exchange'] = (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    const body = String(request.body);
    rows.push(kind.rowOf(body));
    return posted({ ...request, body }, kind.rowOf(body));
  };
  return { ...world, exchange, rows };
}

/** What the list leaves out as long as nothing has left: it comes from a store. */
function lagging(world: SandboxWorld, rows: readonly number[], id: number, key = 'tickets'): SandboxWorld {
  const exchange: World['exchange'] = async (request) => {
    const answer = await world.exchange(request);
    if ('lost' in answer || rows.length > 0 || !/\/(?:tickets|changelog)\?/u.test(request.url)) return answer;
    const { meta, ...rest } = JSON.parse(answer.body);
    const there = rest[key].filter((record: { readonly id: number }) => record.id !== id);
    return { ...answer, body: JSON.stringify({ ...rest, [key]: there, meta: { ...meta, total: meta.total - 1 } }) };
  };
  return { ...world, exchange };
}

const isPost = (line: string): boolean => line.startsWith('POST');

/** At which request of a run the first row leaves. */
async function firstPost(kind: Kind): Promise<number> {
  const counted = worldOf();
  await svc(counted, creating(counted, kind, 1));
  return counted.sent.findIndex(isPost);
}

describe('a record of somebody else that was made ten minutes before the only row left, which never arrived', () => {
  test.each([
    ['', undefined],
    [' Killed then, the next run does not take it either.', true],
  ])('is not taken where the list lacked it at first.%s', async (_, isKilled) => {
    const kind = kindOf('tickets');
    const world = worldOf();
    const of = { method: 'POST', url: 'https://service.test/tickets', headers: auth, timeoutMs: 30_000 } as const;
    const made = await world.exchange({ ...of, body: kind.like('', 1) });
    const { id } = 'lost' in made ? expect.unreachable() : JSON.parse(made.body).ticket;
    world.clock.advance(600_000);
    const posting = withPosts(world, kind, async () => cut);
    const service = lagging(posting, posting.rows, id);
    const argv = creating(service, kind, 1);
    const killed = isKilled && (await runOrKill(service, argv, { at: await firstPost(kind), heard: true }));
    const ran = await svc(killed ? killed.next : service, argv);
    expect([ran.exitCode, posting.rows]).toEqual([9, [1]]);
    expect(ran.stderr).toContain(`${id}`);
  });
});

test('where no answer says the time, an entry is not taken that is older than others were before', async () => {
  const kind = kindOf('entries');
  const world = undated(worldOf());
  const of = { method: 'POST', url: 'https://service.test/changelog', headers: auth, timeoutMs: 30_000 } as const;
  const made = await world.exchange({ ...of, body: kind.like('{}', 1) });
  const { id } = 'lost' in made ? expect.unreachable() : JSON.parse(made.body).entry;
  world.clock.advance(300_000);
  await world.exchange({ ...of, body: kind.like('{}', 9) });
  world.clock.advance(300_000);
  const posting = withPosts(world, kind, async () => cut);
  const service = lagging(posting, posting.rows, id, 'entries');
  const argv = creating(service, kind, 1);
  expect([(await svc(service, argv)).exitCode, posting.rows]).toEqual([9, [1]]);
});

test('a row is found where answers show parts of a second, and the list does not', async () => {
  const kind = kindOf('entries');
  const world = worldOf();
  const service = withPosts(world, kind, async (request, row) => {
    const answer = await world.exchange(request);
    if ('lost' in answer || row === 2) return cut;
    return { ...answer, body: answer.body.replace(/(?<="created_at":"[^"]*:\d\d)(?:\.\d+)?(?=Z|\+)/u, '.900') };
  });
  const ran = await svc(service, creating(service, kind, 3));
  expect([ran.exitCode, service.rows]).toEqual([0, [1, 2, 3]]);
});

test('what is found for a row of a journal that does not say when it left is named, and not taken', async () => {
  const kind = kindOf('tickets');
  const world = worldOf();
  const service = withPosts(world, kind, (request) => world.exchange(request));
  const argv = creating(service, kind, 1);
  const loses = (journal: string) =>
    writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/,"left":(?:\d+|null)/gu, ''));
  const { ran, next } = await runOrKill(service, argv, { at: await firstPost(kind), heard: true, loses });
  expect(ran).toBeUndefined();
  const after = await svc(next, argv);
  expect([after.exitCode, service.rows]).toEqual([9, [1]]);
  expect(after.stdout).toContain('has the same content, but may have been there before');
});

const auth = { authorization: 'Bearer key_acme', 'content-type': 'application/json' };

describe.each(Object.keys(kinds))(
  "somebody else's equal record of before is not taken for a row that never arrived: %s",
  (name) => {
    const kind = kindOf(name);
    const orders = [['grow', undefined], ...idOrders] as const;
    const stories = orders.flatMap(([order, ids]) => [5_000, 600_000].map((gapMs) => ({ order, ids, gapMs })));
    test.each(stories)('ids that $order, made $gapMs ms before svc made the row before', async ({ ids, gapMs }) => {
      const world = worldOf(ids);
      const service = withPosts(world, kind, async (request, row) => {
        if (row === 2) {
          await world.exchange({ ...request, body: kind.like(request.body, 3) });
          world.clock.advance(gapMs);
        }
        return row === 3 ? cut : world.exchange(request);
      });
      const argv = creating(service, kind, 4);
      const ran = await svc(service, argv);
      expect([ran.exitCode, service.rows]).toEqual([9, [1, 2, 3, 4]]);
      const again = await svc(service, argv);
      expect([again.exitCode, service.rows]).toEqual([9, [1, 2, 3, 4]]);
    });
  },
);

describe.each([
  ['12 tickets, growing ids', 12, undefined],
  ['11 tickets, growing ids', 11, undefined],
  ['12 tickets, falling ids', 12, falling],
] as const)('an answer that comes late does not tell what was made last: %s', (_, tickets, order) => {
  test('a row that left behind it, and never arrived, is not taken to be an equal one of before', async () => {
    const kind = kindOf('tickets');
    const world = worldOf(order, tickets);
    let answer = (): void => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let lost: number | undefined;
    let hasCome = false;
    const service = withPosts(world, kind, async (request, row) => {
      if (hasCome) lost ??= row;
      if (row === lost) return cut;
      if (row === 3) for (const one of [4, 5, 6, 7, 8]) await world.exchange({ ...request, body: kind.like('', one) });
      const made = await world.exchange({ ...request, signal: undefined });
      if (row === 4) answer();
      if (row !== 1) return made;
      await isAnswered;
      hasCome = true;
      return made;
    });
    const ran = await svc(service, creating(service, kind, 8, 2));
    expect(lost).toBeGreaterThan(4);
    expect(ran.exitCode).toBe(9);
    expect(service.rows.filter((row) => row === lost)).toHaveLength(1);
  });
});

/** What the service may show as the time of a record. */
const times: readonly [name: string, shown: (text: string) => string][] = [
  ['as it is', (text) => text],
  ['without a zone', (text) => text.replaceAll(/("created_at":"[\d-]+)T([\d:]+)[^"]*"/gu, '$1 $2"')],
  ['nowhere', (text) => text.replaceAll(/"created_at":"[^"]*"/gu, '"created_at":null')],
];

describe.each(Object.keys(kinds))('a row that arrived and whose answer is lost is found, and is done: %s', (name) => {
  const kind = kindOf(name);
  const orders = [['grow', undefined], ...idOrders] as const;
  const stories = orders.flatMap(([order, ids]) => [1, 3, 6].map((lanes) => ({ order, ids, lanes })));

  test.each(stories)('ids that $order, $lanes lanes', { tags: ['long'] }, async ({ ids, lanes }) => {
    for (const lost of [1, 2, 5]) {
      const world = worldOf(ids);
      const service = withPosts(world, kind, async (request, row) => {
        world.clock.advance(1000);
        const answer = await world.exchange(request);
        return row === lost ? cut : answer;
      });
      const ran = await svc(service, creating(service, kind, 6, lanes));
      expect([lost, ran.exitCode, service.rows.toSorted()]).toEqual([lost, 0, [1, 2, 3, 4, 5, 6]]);
    }
  });

  test.each(times.filter(([shown]) => shown !== 'nowhere' || name === 'lists' || name === 'entries'))(
    'the time of a record is shown %s',
    { tags: ['long'] },
    async (_, shown) => {
      const world = worldOf();
      const service = withPosts(world, kind, async (request, row) => {
        const answer = await world.exchange(request);
        return row === 3 ? cut : answer;
      });
      const exchange: World['exchange'] = async (request) => {
        const answer = await service.exchange(request);
        return 'lost' in answer ? answer : { ...answer, body: shown(answer.body) };
      };
      const ran = await svc({ ...service, exchange }, creating(service, kind, 4));
      expect(ran.exitCode).toBe(0);
    },
  );

  test.each([0, 1, 2])('by the run that goes on after a kill at its row %d', { tags: ['long'] }, async (nth) => {
    const counted = worldOf();
    await svc(counted, creating(counted, kind, 4));
    const at = counted.sent.flatMap((line, index) => (isPost(line) ? [index] : []))[nth] ?? Number.NaN;
    const world = worldOf();
    const service = withPosts(world, kind, (request) => world.exchange(request));
    const argv = creating(service, kind, 4);
    const killed = await runOrKill(service, argv, { at, heard: true });
    expect(killed.ran).toBeUndefined();
    world.clock.advance(3_600_000);
    const ran = await svc(killed.next, argv);
    expect([ran.exitCode, service.rows]).toEqual([0, [1, 2, 3, 4]]);
  });
});
