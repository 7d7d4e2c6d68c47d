import { expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { newestUntil, type PageAt, wholeList } from '../../src/http/look/views.ts';
import { createWorld, type Ran, svc, virtualClock } from '../svc.ts';

type Row = Readonly<Record<string, unknown>>;

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const longAgo = '2020-01-01T00:00:00.000Z';

const contactOf = (id: number, name = `Other ${id}`, created_at = longAgo): Row => ({
  contact_id: id,
  name,
  last_name: 'Byron',
  email: `${name.toLowerCase().replace(' ', '.')}@example.com`,
  phone: '+12025550123',
  company: '',
  website: null,
  country: '',
  tags: [],
  metadata: {},
  lead_status: 'new',
  created_at,
});
const entryOf = (id: number, title = `Other ${id}`, created_at = longAgo): Row => ({
  id,
  title,
  slug: `s-${id}`,
  version: null,
  category: null,
  labels: [],
  status: 'draft',
  is_live: false,
  published_at: null,
  created_at,
  updated_at: created_at,
  content_html: '<p>x</p>',
});

const ticketOf = (id: number, subject = `Other ${id}`, more: Row = {}): Row => ({
  id,
  ticket_number: `T-${id}`,
  subject,
  status: 'open',
  priority: 0,
  source: 'api',
  contact: null,
  due_at: null,
  first_response_at: null,
  resolved_at: null,
  created_at: longAgo,
  updated_at: longAgo,
  description: '',
  reply_channel: 'email',
  conversation_id: null,
  messages: [],
  ...more,
});

const contact = ['contacts', 'create', '--name', 'Ada', '--last-name', 'Byron', '--email', 'ada@example.com'];
const createContact = [...contact, '--phone', '+12025550123', '--json'];
const createEntry = ['api', '/changelog', '-f', 'title=Ada', '-f', 'content=x', '--json'];

const createTicket = ['tickets', 'create', '--subject', 'Ada', '--json'];

type Plan = {
  /** What the service holds, in the order in which it lists it. */
  readonly rows: Row[];
  readonly key: 'contacts' | 'entries' | 'tickets';
  /** What the service makes of the write, whose answer is lost. */
  readonly onWrite?: (rows: Row[]) => void;
  /** The answer to a read, in place of the service's own. */
  readonly answer?: (read: number) => HttpResponse | undefined;
  readonly lastPage?: number;
};

/** A service that lists in pages, in whatever order it likes. `reads` are those of the list. */
function shelf({ rows, key, onWrite, answer, lastPage }: Plan) {
  const clock = virtualClock();
  const reads: string[] = [];
  const says = (json: unknown): HttpResponse => ({
    status: 200,
    headers: { 'content-type': 'application/json', date: clock.now().toUTCString() },
    body: JSON.stringify(json),
  });
  let writes = 0;
  const world = createWorld(
    async ({ method, url }) => {
      const { pathname, search, searchParams } = new URL(url);
      if (method === 'POST') {
        writes++;
        onWrite?.(rows);
        return lost;
      }
      const one = /^\/(?:changelog|tickets)\/(\d+)$/u.exec(pathname);
      const record = rows.find(({ id }) => id === Number(one?.[1]));
      if (one) return says(key === 'tickets' ? { ticket: record } : { entry: record });
      if (pathname === '/platform/account' && !answer) return says({ account_id: 1 });
      reads.push(search);
      const page = Number(searchParams.get('page'));
      const size = Number(searchParams.get('per_page'));
      const meta = { current_page: page, last_page: lastPage ?? Math.ceil(rows.length / size), total: rows.length };
      return answer?.(reads.length) ?? says({ [key]: rows.slice((page - 1) * size, page * size), meta });
    },
    { clock },
  );
  return { world, clock, reads, writes: () => writes };
}

/** Ids from high to low, as a list that begins with the newest. */
const downFrom = (highest: number, make: (id: number) => Row = contactOf) =>
  Array.from({ length: highest }, (_, at) => make(highest - at));
const candidates = ({ stderr }: Ran): number[] =>
  JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.candidates;
const now = () => virtualClock().now().toISOString();

test('what many others make at the same moment pushes ours to a later page, where it is found', async () => {
  const { world, reads } = shelf({
    rows: downFrom(250),
    key: 'contacts',
    onWrite: (rows) => rows.unshift(...downFrom(401).slice(0, 150), contactOf(251, 'Ada', now())),
  });
  const ran = await svc(world, createContact);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toMatchObject({ contact_id: 251, name: 'Ada' });
  expect(reads).toEqual(['?page=1&per_page=100', '?page=1&per_page=100', '?page=2&per_page=100']);
});

test('a ticket is found on a later page too, and is the one that was made over the API', async () => {
  const { world, reads } = shelf({
    rows: downFrom(250, ticketOf),
    key: 'tickets',
    onWrite: (rows) =>
      rows.unshift(
        ticketOf(402, 'Ada', { source: 'chat' }),
        ...downFrom(401, ticketOf).slice(0, 150),
        ticketOf(251, 'Ada'),
      ),
  });
  const ran = await svc(world, createTicket);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toMatchObject({ id: 251, source: 'api' });
  expect(reads).toEqual(['?page=1&per_page=100', '?page=1&per_page=100', '?page=2&per_page=100']);
});

test('a list that begins with the newest is read down to what was there before, and no further', async () => {
  const { world, reads } = shelf({
    rows: downFrom(250),
    key: 'contacts',
    onWrite: (rows) => rows.unshift(contactOf(251, 'Ada', now())),
  });
  expect((await svc(world, createContact)).exitCode).toBe(0);
  expect(reads).toHaveLength(2);
});

test('an older twin on a page that was not read before is not named', async () => {
  const rows = downFrom(250);
  rows[247] = contactOf(3, 'Ada');
  const ran = await svc(shelf({ rows, key: 'contacts' }).world, [...createContact, '--settle', '0']);
  expect(ran.exitCode).toBe(9);
  expect(candidates(ran)).toEqual([]);
});

test('an older twin that the service moves to the top is named by its id, and not taken for ours', async () => {
  const { world } = shelf({
    rows: downFrom(250),
    key: 'contacts',
    onWrite: (rows) => {
      rows.splice(247, 1);
      rows.unshift(contactOf(3, 'Ada'));
    },
  });
  const ran = await svc(world, [...createContact, '--settle', '0']);
  expect(ran.exitCode).toBe(9);
  expect(candidates(ran)).toEqual([3]);
});

test('a list in an order that is not said is read to its end, before and after: what is new is ours', async () => {
  const { world, reads } = shelf({
    rows: downFrom(250, entryOf).reverse(),
    key: 'entries',
    onWrite: (rows) => rows.push(entryOf(251, 'Ada', now())),
  });
  const ran = await svc(world, createEntry);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toMatchObject({ entry: { id: 251 } });
  expect(reads).toEqual([1, 2, 3, 1, 2, 3].map((page) => `?page=${page}&per_page=100`));
});

test('an older twin anywhere in such a list is known by its id, and not taken for ours', async () => {
  const rows = downFrom(250, entryOf).reverse();
  rows[240] = entryOf(241, 'Ada');
  const { world } = shelf({ rows, key: 'entries', onWrite: (held) => held.unshift(...held.splice(240, 1)) });
  const ran = await svc(world, [...createEntry, '--settle', '0']);
  expect(ran.exitCode).toBe(9);
  expect(candidates(ran)).toEqual([]);
});

test('such a list that changes while it is read is read again, until nothing is missing', async () => {
  const rows = downFrom(250, entryOf);
  const twin = rows.findIndex(({ id }) => id === 90);
  rows[twin] = entryOf(90, 'Ada');
  // Somebody edits the twin, which moves to the top while the reader is on the second page.
  const answer = (read: number) => {
    if (read === 2) rows.unshift(...rows.splice(twin, 1));
    return undefined;
  };
  const { world, reads } = shelf({ rows, key: 'entries', answer });
  const ran = await svc(world, [...createEntry, '--settle', '0']);
  expect(ran.exitCode).toBe(9);
  expect(candidates(ran)).toEqual([]);
  expect(reads).toHaveLength(3 + 3 + 3);
});

test.each([
  ['from the newest on', (page: PageAt) => newestUntil(page, (id) => id <= 100)],
  ['as a whole', wholeList],
])('a list that is read %s is not whole where records left it between two pages each time', async (_, read) => {
  let ids = Array.from({ length: 250 }, (_, at) => 300 - at);
  const shownFirst = ids[100];
  const page: PageAt = async (number) => {
    // One of the first page leaves, and the first of the second page takes a place there.
    if (number === 2) ids = ids.toSpliced(10, 1);
    const seen = ids.slice((number - 1) * 100, number * 100).map((id) => ({ id, record: {} }));
    return { seen, isLast: number * 100 >= ids.length, total: ids.length };
  };
  const { seen, isWhole } = await read(page);
  expect(isWhole).toBe(false);
  if (read !== wholeList) expect(seen.map(({ id }) => id)).not.toContain(shownFirst);
});

test('a list in an order that is not said, of one page: what is new is ours, whatever its id', async () => {
  const rows = [entryOf(7), entryOf(900), entryOf(30)];
  const { world } = shelf({ rows, key: 'entries', onWrite: (held) => held.push(entryOf(31, 'Ada', now())) });
  const ran = await svc(world, createEntry);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toMatchObject({ entry: { id: 31, title: 'Ada' } });
});

test('a list that never ends is read for fifty pages', async () => {
  const { world, reads } = shelf({
    rows: downFrom(250),
    key: 'contacts',
    lastPage: 100_000,
    onWrite: (rows) => rows.splice(0, 250, ...downFrom(20_000).slice(0, 10_000)),
  });
  expect((await svc(world, [...createContact, '--settle', '0'])).exitCode).toBe(9);
  expect(reads).toHaveLength(1 + 50);
});

test('a list without meta is not taken for whole: it shows nothing of what was sent', async () => {
  const rows = [contactOf(1)];
  const body = () => JSON.stringify({ contacts: rows });
  const answer = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: body() });
  const onWrite = () => rows.unshift(contactOf(2, 'Ada', now()));
  const { world, reads } = shelf({ rows, key: 'contacts', answer, onWrite });
  const ran = await svc(world, [...createContact, '--settle', '1']);
  expect(ran.exitCode).toBe(9);
  expect(reads.length).toBeGreaterThan(2);
});

const refused: HttpResponse = { status: 403, headers: {}, body: '{"error":"forbidden"}' };

test('where nothing was seen before, the newest page of a sorted list is enough', async () => {
  const answer = (read: number) => (read === 1 ? refused : undefined);
  const onWrite = (rows: Row[]) => rows.unshift(contactOf(251, 'Ada', now()));
  const { world, reads } = shelf({ rows: downFrom(250), key: 'contacts', answer, onWrite });
  const ran = await svc(world, [...createContact, '--settle', '0']);
  expect(ran.exitCode).toBe(9);
  expect(candidates(ran)).toEqual([251]);
  expect(reads).toHaveLength(2);
});

test('where nothing was seen before, a list in an order that is not said is read to its end', async () => {
  const answer = (read: number) => (read === 1 ? refused : undefined);
  const onWrite = (rows: Row[]) => rows.push(entryOf(251, 'Ada', now()));
  const { world, reads } = shelf({ rows: downFrom(250, entryOf).reverse(), key: 'entries', answer, onWrite });
  const ran = await svc(world, [...createEntry, '--settle', '0']);
  expect(candidates(ran)).toEqual([251]);
  expect(reads).toHaveLength(4);
});

const json = { 'content-type': 'application/json' };
test.each<[string, HttpResponse, number, number]>([
  ['other JSON, as everything', { status: 200, headers: json, body: '{"items":[]}' }, 0, 1],
  ['JSON of 300 levels, as everything', { status: 200, headers: json, body: '['.repeat(300) + ']'.repeat(300) }, 0, 1],
  ['a refusal', refused, 1, 9],
  ['a web page', { status: 200, headers: {}, body: '<!doctype html>' }, 0, 1],
  ['nothing', { status: 204, headers: {}, body: '' }, 0, 1],
  ['a redirect in JSON', { status: 300, headers: { ...json, location: 'https://a.test/' }, body: '{}' }, 0, 1],
  ['a 404 in JSON', { status: 404, headers: json, body: '{"error":"Not found"}' }, 0, 1],
  ['a 401', { status: 401, headers: json, body: '{"error":"unauthorized"}' }, 0, 4],
])('looking before is answered with %s', async (_, first, sent, exitCode) => {
  const { world, writes } = shelf({ rows: [], key: 'contacts', answer: () => first });
  const ran = await svc(world, [...createContact, '--settle', '0']);
  expect(ran.exitCode, ran.stderr).toBe(exitCode);
  expect(writes()).toBe(sent);
});
