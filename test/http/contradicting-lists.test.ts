// Pages of a list that cannot be what the service itself says of them (meta): something between has answered.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Body = { contacts: { email: string }[]; meta: { current_page: number; last_page: number; total: number } };
type Bend = (body: Body, page: number, world: SandboxWorld) => Body | Promise<Body>;

const pageOf = ({ url }: HttpRequest) => Number(new URL(url).searchParams.get('page'));

/** The demo has 264 contacts: three pages of a whole list. `times`: how many answers are bent. */
function bent(bend: Bend, times = Number.POSITIVE_INFINITY) {
  const world = sandboxWorld({ rateLimit: 'off' });
  let left = times;
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (!/\/contacts\?/u.test(request.url) || request.method !== 'GET' || left <= 0) return answer;
    const before = answer.body;
    const body = JSON.stringify(await bend(JSON.parse(before), pageOf(request), world));
    if (body !== before) left--;
    return { ...answer, body };
  };
  return { ...world, exchange };
}

const writesOf = ({ sent }: Pick<SandboxWorld, 'sent'>) => sent.filter((one) => !one.startsWith('GET '));

const firstPage: { body?: Body } = {};
const bends: Readonly<Record<string, Bend>> = {
  'page 2 is empty': (body, page) => (page === 2 ? { ...body, contacts: [] } : body),
  'page 3 is empty': (body, page) => (page === 3 ? { ...body, contacts: [] } : body),
  'page 1 is empty': (body, page) => (page === 1 ? { ...body, contacts: [] } : body),
  'page 2 lacks a part': (body, page) => (page === 2 ? { ...body, contacts: body.contacts.slice(0, 60) } : body),
  'page 1 comes for all': (body, page) => {
    if (page === 1) firstPage.body = body;
    return firstPage.body ?? body;
  },
  'page 2 says that a part has left': (body, page) => {
    if (page !== 2) return body;
    return { contacts: body.contacts.slice(0, 50), meta: { current_page: 2, last_page: 2, total: 150 } };
  },
  'its last page is said to be the first': (body) => ({ ...body, meta: { ...body.meta, last_page: 1 } }),
};

const everyPage = ['api', '/contacts?per_page=100&page=1', '--paginate'];

const readAsLines = (stdout: string) => stdout.split('\n').filter(Boolean).length;

for (const [what, bend] of Object.entries(bends)) {
  describe(`${what}, always`, () => {
    test('what was read is printed, and it is no success', async () => {
      const argv = ['contacts', 'list', '--all'];
      const lines = await svc(bent(bend), [...argv, '--output', 'jsonl']);
      expect(lines).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/counts 264 contacts and lists \d+ different ones/u),
      });
      const whole = await svc(bent(bend), [...argv, '--json']);
      expect(whole.exitCode).toBe(1);
      expect(JSON.parse(whole.stdout)).toHaveLength(readAsLines(lines.stdout));
      expect(readAsLines(lines.stdout)).toBeLessThan(264);
      const raw = await svc(bent(bend), everyPage);
      expect([raw.exitCode, JSON.parse(raw.stdout).contacts.length]).toEqual([1, readAsLines(lines.stdout)]);
    });

    test('export says so, and makes no file', async () => {
      const world = bent(bend);
      const file = join(world.folder, 'all.csv');
      expect(await svc(world, ['contacts', 'export', '--out', file])).toMatchObject({ exitCode: 1 });
      expect(existsSync(file)).toBe(false);
      expect((await svc(bent(bend), ['contacts', 'export'])).stderr).not.toContain('Exported');
    });

    test('nothing is written by an email that was looked for in it', async () => {
      const stranger = 'nobody@example.com';
      const single = bent(bend);
      const create = ['tickets', 'create', '--subject', 'x', '--contact', stranger];
      expect(await svc(single, create)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not all') });
      const rows = bent(bend);
      const file = join(rows.folder, 'rows.csv');
      writeFileSync(file, `email,company\n${stranger},Acme\n`);
      const update = ['contacts', 'update', '--from', file, '--match', 'email', '--yes'];
      expect(await svc(rows, update)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not all') });
      const requesters = bent(bend);
      writeFileSync(join(requesters.folder, 'rows.csv'), `subject,contact\nx,${stranger}\n`);
      const making = ['tickets', 'create', '--from', join(requesters.folder, 'rows.csv'), '--create-contacts', '--yes'];
      expect(await svc(requesters, making)).toMatchObject({ exitCode: 1 });
      for (const world of [single, rows, requesters]) expect(writesOf(world)).toEqual([]);
    });

    test('lists add writes nobody over a contact that was left out', async () => {
      const world = bent(bend);
      const ran = await svc(world, ['lists', 'add', '2', '--contact', '20']);
      expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not all') });
      expect(writesOf(world)).toEqual([]);
    });
  });

  test(`${what}, once: it is read again, and is whole`, async () => {
    const ran = await svc(bent(bend, 1), ['contacts', 'list', '--all', '--output', 'jsonl']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readAsLines(ran.stdout)).toBe(264);
    const raw = await svc(bent(bend, 1), everyPage);
    expect([raw.exitCode, JSON.parse(raw.stdout).contacts.length]).toEqual([0, 264]);
  });
}

test('a limit that is below what the service counts is reached, or it is said', async () => {
  const bend: Bend = (body, page) => (page === 2 ? { ...body, contacts: [] } : body);
  const argv = ['contacts', 'list', '--output', 'jsonl', '--limit'];
  expect(await svc(bent(bend), [...argv, '100'])).toMatchObject({ exitCode: 0 });
  expect(await svc(bent(bend), [...argv, '250'])).toMatchObject({ exitCode: 1 });
});

describe('a list that changes while it is read is no contradiction', () => {
  const making = async (world: SandboxWorld, n: number) => {
    const email = `new${n}@example.com`;
    const body = { name: 'New', last_name: 'One', email, phone: '+12025550123' };
    const headers = { authorization: 'Bearer key_acme', 'content-type': 'application/json' };
    const url = 'https://service.test/contacts/create';
    const made = await world.exchange({ method: 'POST', url, headers, body: JSON.stringify(body), timeoutMs: 20_000 });
    expect(made).toMatchObject({ status: 200 });
  };

  test.each([1, 7])('%i come after each page', async (each) => {
    let n = 0;
    const world = bent(async (body, _, sandbox) => {
      for (let more = 0; more < each; more++) await making(sandbox, n++);
      return body;
    });
    const ran = await svc(world, ['contacts', 'export', '--output', 'jsonl']);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(readAsLines(ran.stdout)).toBeGreaterThanOrEqual(264);
  });
});

test('a row that is no record is printed by svc api as it is, each time that it stands there', async () => {
  const strange = [null, null, 'text', 'text', 7];
  const world = bent((body, page) => {
    const contacts: unknown[] = page === 2 ? [...body.contacts.slice(5), ...strange] : body.contacts;
    return { ...body, contacts: contacts as Body['contacts'] };
  });
  const ran = await svc(world, everyPage);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  const { contacts } = JSON.parse(ran.stdout) as { contacts: unknown[] };
  expect(contacts).toHaveLength(264);
  expect(contacts.slice(195, 200)).toEqual(strange);
});

const openOnes = ['tickets', 'list', '--status', 'open', '--all', '--output', 'jsonl'];
const rawOnes = ['api', '/tickets?status=open&per_page=100', '--paginate', '--jq', '.tickets[]'];

test.each([
  ['a newer one leaves', 0, openOnes],
  ['an older one leaves', -1, openOnes],
  ['a newer one leaves, svc api', 0, rawOnes],
])('after each page %s: none that stays is passed over, and the order stays', async (_, which, argv) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const headers = { authorization: 'Bearer key_acme', 'content-type': 'application/json' };
  const ask = (method: string, path: string, body?: object) =>
    world.exchange({
      ...{ method, headers, timeoutMs: 20_000, url: `https://service.test/tickets${path}` },
      ...(body && { body: JSON.stringify(body) }),
    }) as Promise<HttpResponse>;
  const idsIn = ({ body }: HttpResponse): number[] => JSON.parse(body).tickets.map(({ id }: { id: number }) => id);
  for (let n = 0; n < 400; n++)
    expect(await ask('POST', '', { subject: `New ${n}`, description: 'x' })).toMatchObject({ status: 201 });
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    const leaving = request.url.includes('/tickets?') ? idsIn(answer).at(which) : undefined;
    if (leaving !== undefined) await ask('PATCH', `/${leaving}`, { status: 'closed' });
    return answer;
  };
  const ran = await svc({ ...world, exchange }, argv);
  expect(ran).toMatchObject({ exitCode: 0 });
  const listed = ran.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id);
  const staying: number[] = [];
  for (let page = 1; page <= 5; page++)
    staying.push(...idsIn(await ask('GET', `?status=open&per_page=100&page=${page}`)));
  expect(staying.length).toBeGreaterThan(300);
  expect(staying.filter((id) => !listed.includes(id))).toEqual([]);
  expect(listed).toEqual([...listed].sort((a, b) => b - a));
});

test('a creation that the service says failed is not sent again by a list that shows a part of what it counts', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (request.method === 'POST') {
      writes++;
      return { ...answer, status: 500, body: JSON.stringify({ error: 'Server error' }) };
    }
    if (writes === 0 || !request.url.includes('/tickets?')) return answer;
    return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), tickets: [] }) };
  };
  const ran = await svc({ ...world, exchange }, ['tickets', 'create', '--subject', 'Mine', '--json']);
  expect(ran).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('could not see everything') });
  expect(writes).toBe(1);
});

describe('a page that does not say how many there are', () => {
  const uncounted: Readonly<Record<string, (body: Body) => object>> = {
    'is empty': () => ({ contacts: [] }),
    'holds the first': ({ contacts }) => ({ contacts }),
    'says that there is none': ({ contacts, meta }) => ({ contacts, meta: { ...meta, total: 0 } }),
    'is empty, of three': ({ meta }) => ({ contacts: [], meta: { ...meta, total: 0 } }),
  };
  const blind = (bend: (body: Body) => object) => bent((body) => bend(body) as Body);

  test.each(Object.entries(uncounted))(
    'and %s is not the whole list, and nothing is written by it',
    async (_, bend) => {
      expect(await svc(blind(bend), ['contacts', 'list', '--all', '--json'])).toMatchObject({ exitCode: 1 });
      const world = blind(bend);
      expect((await svc(world, ['lists', 'add', '2', '--contact', '20'])).exitCode).toBe(1);
      const rows = 'email,company\nnobody@example.com,Acme\n';
      const update = ['contacts', 'update', '--from', '-', '--match', 'email', '--yes'];
      expect((await svc(world, update, { stdin: rows })).exitCode).toBe(1);
      expect(writesOf(world)).toEqual([]);
    },
  );

  test('proves nothing for a creation: after a 500 of the service it is not sent again', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    let writes = 0;
    const exchange: typeof world.exchange = async (request) => {
      const answer = (await world.exchange(request)) as HttpResponse;
      if (request.method === 'GET') return { ...answer, body: '{"tickets":[]}' };
      writes++;
      return { ...answer, status: 500, body: JSON.stringify({ error: 'Server error' }) };
    };
    const ran = await svc({ ...world, exchange }, ['tickets', 'create', '--subject', 'Mine', '--json']);
    expect([ran.exitCode, writes]).toEqual([9, 1]);
  });
});

test('lists add is no dead end where the service counts contacts that it never lists: a person may say that these are all', async () => {
  const hidden = () => bent((body) => ({ ...body, meta: { ...body.meta, total: body.meta.total + 1 } }));
  const argv = ['lists', 'add', '2', '--contact', '20'];
  const world = hidden();
  const refused = await svc(world, argv);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('add --yes') });
  expect(refused.stderr).toContain('svc lists set 2 --contact 20 --contact ID');
  expect(writesOf(world)).toEqual([]);
  const done = await svc(world, [...argv, '--yes']);
  expect(done).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('goes by those that are listed') });
  expect(writesOf(world)).toHaveLength(1);
});
