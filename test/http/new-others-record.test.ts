// Answers that name another record than ours, which is new too; and older records that come to light only after a write.
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';

type Body = Readonly<Record<string, unknown>>;

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const isPost = ({ method }: HttpRequest) => method === 'POST';
const bodyOf = (answer: HttpResponse | Lost): Body => JSON.parse((answer as HttpResponse).body);
const idIn = ({ stdout }: Ran): unknown => {
  const { contact_list_id, contact_id, id } = JSON.parse(stdout) as Record<string, unknown>;
  return contact_list_id ?? contact_id ?? id;
};

/** A colleague makes another record when ours is sent, and the answer to our request is the one to theirs. */
function mixedUp(world: SandboxWorld, theirs: Body, isOursStored: boolean) {
  let writes = 0;
  const ids: { ours?: unknown; theirs?: unknown } = {};
  const idOf = (answer: HttpResponse | Lost) => {
    const { contact_list_id, contacts, ticket, entry } = bodyOf(answer) as Record<string, { id?: number }>;
    return contact_list_id ?? (contacts as { contact_id?: number })?.contact_id ?? (ticket ?? entry)?.id;
  };
  const exchange: typeof world.exchange = async (request) => {
    if (!isPost(request)) return world.exchange(request);
    writes++;
    const body = JSON.stringify({ ...JSON.parse(String(request.body)), ...theirs });
    const answer = await world.exchange({ ...request, body });
    ids.theirs = idOf(answer);
    if (isOursStored) ids.ours = idOf(await world.exchange(request));
    return answer;
  };
  return { world: { ...world, exchange }, ids, writes: () => writes };
}

const dana = ['--name', 'Dana', '--last-name', 'Day', '--email', 'dana@example.com', '--phone', '+12025550123'];
const list = ['lists', 'create', '--name', 'Mine', '--target-industry', 'I', '--notes', 'N'];
const cases: readonly (readonly [what: string, argv: readonly string[], theirs: Body])[] = [
  ['a list of another name', list, { name: 'Theirs' }],
  ['a ticket of another person', ['tickets', 'create', '--subject', 'Mine', '--contact', '3'], { contact_id: 4 }],
  [
    'an entry of another category',
    ['changelog', 'create', '--title', 'Mine', '--content', 'C', '--category-id', '1'],
    { category_id: 2 },
  ],
];

describe.each(cases)('an answer that names %s', (_, argv, theirs) => {
  test('is not taken: svc finds its own, sent once', async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), theirs, true);
    const ran = await svc(mixed.world, [...argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(idIn(ran)).toBe(mixed.ids.ours);
    expect(mixed.writes()).toBe(1);
  });

  test('is not taken where ours was never stored: exit 9', async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), theirs, false);
    const ran = await svc(mixed.world, [...argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(ran.stderr).toMatch(/\(HTTP 20[01], but the answer (?:names another record|shows \w+ \d+)\)/u);
    expect(mixed.writes()).toBe(1);
  });
});

test.each([
  [403, 'forbidden'],
  [500, 'Server error'],
])('a list that was made is done, though HTTP %i keeps svc from comparing it', async (status, error) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (isPost(request)) writes++;
    const headers = { 'content-type': 'application/json' };
    const isCompared = writes > 0 && request.url.includes('/contactslists/list');
    return isCompared ? { status, headers, body: JSON.stringify({ error }) } : world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, [...list, '--json']);
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(idIn(ran)).toBeGreaterThan(0);
  expect(writes).toBe(1);
});

const ticket = ['tickets', 'create', '--subject', 'Printer', '--description', 'D'];

describe('a record that somebody made while ours waited for the rate limit', () => {
  /** The service refuses our first attempt for `waitSeconds`; a colleague's is made `laterSeconds` into that. */
  async function waiting(waitSeconds: number, laterSeconds: number, isOursStored: boolean) {
    const world = sandboxWorld({ rateLimit: 'off' });
    let writes = 0;
    let theirs: unknown;
    const exchange: typeof world.exchange = async (request) => {
      if (!isPost(request)) return world.exchange(request);
      if (++writes === 1) {
        const headers = { 'content-type': 'application/json', 'retry-after': `${waitSeconds - laterSeconds}` };
        world.clock.advance(laterSeconds * 1000);
        theirs = bodyOf(await world.exchange(request)).ticket;
        return { status: 429, headers, body: '{"error":"Too many requests"}' };
      }
      if (isOursStored) await world.exchange(request);
      return lost;
    };
    const ran = await svc({ ...world, exchange }, [...ticket, '--json']);
    return { ran, theirs: Object(theirs).id, writes };
  }

  test('is not ours, which never arrived: exit 9 names it', async () => {
    const { ran, theirs, writes } = await waiting(110, 10, false);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(ran.stderr).toContain(`"candidates":[${theirs}]`);
    expect(writes).toBe(2);
  });

  test('is passed over where ours is there too', async () => {
    const { ran, theirs, writes } = await waiting(110, 10, true);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(idIn(ran)).not.toBe(theirs);
    expect(writes).toBe(2);
  });
});

describe('an older record that the list did not show before', () => {
  /** A colleague's record of `minutesAgo`, which the first reading of the list leaves out. Our write is lost. */
  async function stale(argv: readonly string[], minutesAgo: number, { isOursStored = false, hasLater = false } = {}) {
    const world = sandboxWorld({ rateLimit: 'off' });
    const first = await svc(world, [...argv, '--json']);
    const theirs = idIn(first);
    world.clock.advance(minutesAgo * 60_000);
    if (hasLater) await svc(world, ['changelog', 'create', '--title', 'Later', '--content', 'C']);
    if (hasLater) world.clock.advance(5 * 60_000);
    let reads = 0;
    let writes = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (isPost(request)) {
        writes++;
        if (isOursStored) await world.exchange(request);
        return lost;
      }
      const answer = (await world.exchange(request)) as HttpResponse;
      if (request.url.includes('/platform/') || reads++ > 0) return answer;
      const json = bodyOf(answer) as Record<string, Record<string, unknown>[]>;
      const [key = ''] = Object.keys(json);
      const kept = json[key]?.filter(({ id, contact_id }) => ![id, contact_id].includes(theirs));
      // The store that it comes from counts what it lists, and its pages are full.
      const { last_page: last, total } = Object(json.meta) as Record<string, number>;
      const next = { ...request, url: request.url.replace(/\bpage=1\b/u, 'page=2') };
      if (Number(last) > 1) kept?.push(...((bodyOf(await world.exchange(next))[key] as []) ?? []).slice(0, 1));
      const meta = { ...json.meta, total: Number(total) - 1 };
      return { ...answer, body: JSON.stringify({ ...json, [key]: kept, meta }) };
    };
    const ran = await svc({ ...world, exchange }, [...argv, '--json']);
    return { ran, theirs, writes };
  }

  const kinds: readonly (readonly string[])[] = [
    ticket,
    ['contacts', 'create', ...dana],
    ['changelog', 'create', '--title', 'New', '--content', 'C'],
  ];

  test.each(kinds.map((argv) => [argv.slice(0, 2).join(' '), argv] as const))(
    '%s: is not ours, exit 9 names it',
    async (_, argv) => {
      const { ran, theirs, writes } = await stale(argv, 5);
      expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
      expect(ran.stderr).toContain(`"candidates":[${theirs}]`);
      expect(writes).toBe(1);
    },
  );

  test('is passed over where ours is there too', async () => {
    const { ran, theirs, writes } = await stale(ticket, 5, { isOursStored: true });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(idIn(ran)).not.toBe(theirs);
    expect(writes).toBe(1);
  });

  test('of some days ago is not ours where another one came after it', async () => {
    const entry = ['changelog', 'create', '--title', 'New', '--content', 'C'];
    const { ran, theirs, writes } = await stale(entry, 3 * 24 * 60, { hasLater: true });
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(ran.stderr).toContain(`"candidates":[${theirs}]`);
    expect(writes).toBe(1);
  });

  test.each([40_000, -40_000, 3 * 24 * 3_600_000, -3 * 24 * 3_600_000])(
    'a record of ours is found although the clock of the answers is %d ms ahead',
    async (dateAheadMs) => {
      const world = sandboxWorld({ rateLimit: 'off' });
      const exchange: typeof world.exchange = async (request) => {
        const answer = (await world.exchange(request)) as HttpResponse;
        if (isPost(request)) return lost;
        const date = new Date(Date.parse(answer.headers.date ?? '') + dateAheadMs).toUTCString();
        return { ...answer, headers: { ...answer.headers, date } };
      };
      expect(await svc({ ...world, exchange }, [...ticket, '--json'])).toMatchObject({ exitCode: 0 });
    },
  );
});
