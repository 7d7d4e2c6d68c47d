// Whole answers of the service that belong to another request: whatever stands between has mixed them up.
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Case = {
  readonly argv: readonly string[];
  readonly isMeant: (request: HttpRequest) => boolean;
  /** Whose record comes in place of ours. */
  readonly of: string;
  /** Of the answer to a write that shows no record. */
  readonly body?: object;
};

const posts = (path: string) => (request: HttpRequest) =>
  request.method === 'POST' && new URL(request.url).pathname === path;
const patches = ({ method }: HttpRequest) => method === 'PATCH';

const creations: Readonly<Record<string, Case>> = {
  'tickets create': {
    argv: ['tickets', 'create', '--subject', 'Mine', '--description', 'D'],
    isMeant: posts('/tickets'),
    of: '/tickets/9',
  },
  'changelog create': {
    argv: ['changelog', 'create', '--title', 'Mine', '--content', 'C'],
    isMeant: posts('/changelog'),
    of: '/changelog/3',
  },
  'lists create': {
    argv: ['lists', 'create', '--name', 'Mine', '--target-industry', 'I', '--notes', 'N'],
    isMeant: posts('/contactslists/create'),
    of: '/contactslists/list',
    body: { contact_list_id: 1 },
  },
};

const updates: Readonly<Record<string, Case>> = {
  'tickets update': { argv: ['tickets', 'update', '8', '--subject', 'Mine'], isMeant: patches, of: '/tickets/9' },
  'contacts update': { argv: ['contacts', 'update', '8', '--company', 'Mine'], isMeant: patches, of: '/contacts/9' },
  'changelog update': { argv: ['changelog', 'update', '1', '--title', 'Mine'], isMeant: patches, of: '/changelog/2' },
  'lists update': {
    argv: ['lists', 'update', '1', '--name', 'Mine'],
    isMeant: posts('/contactslists/1/update'),
    of: '/contactslists/list',
    body: { contact_list_id: 2 },
  },
};

/** `isStored`: whether the service does what it was asked before the answer of another request comes. */
function mixedUp(world: SandboxWorld, { isMeant, of, body }: Case, isStored: boolean) {
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (!isMeant(request)) return world.exchange(request);
    writes++;
    if (isStored) await world.exchange(request);
    const { origin } = new URL(request.url);
    const other = (await world.exchange({
      ...request,
      method: 'GET',
      url: origin + of,
      body: undefined,
    })) as HttpResponse;
    expect(other.status).toBe(200);
    return { ...other, body: body ? JSON.stringify(body) : other.body };
  };
  return { world: { ...world, exchange }, writes: () => writes };
}

for (const [what, one] of Object.entries(creations)) {
  test(`${what}, answered with a record that was there before: svc finds its own, sent once`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, true);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0 });
    const { id, contact_list_id } = JSON.parse(ran.stdout) as { id?: number; contact_list_id?: number };
    expect(id ?? contact_list_id).toBeGreaterThan(3);
    if (!one.body)
      expect(JSON.parse(ran.stdout)).toMatchObject(what === 'tickets create' ? { subject: 'Mine' } : { title: 'Mine' });
    expect(mixed.writes()).toBe(1);
  });

  test(`${what}, answered with a record that was there before, and never made: exit 9`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, false);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(mixed.writes()).toBe(1);
  });
}

for (const [what, one] of Object.entries(updates)) {
  test(`${what}, answered with another record: exit 9, never done`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, false);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(mixed.writes()).toBeGreaterThan(1);
  });
}

const hello = ['--body', 'Hello', '--json'];
const dana = ['--name', 'Dana', '--last-name', 'Day', '--email', 'dana@example.com', '--phone', '+12025550123'];

/** The answer to a write, with one thing in it changed. */
type Bent = { readonly argv: readonly string[]; readonly path: string; readonly bend: (answer: never) => object };

const bent: Readonly<Record<string, Bent>> = {
  'tickets reply, with another text': {
    argv: ['tickets', 'reply', '1', ...hello],
    path: '/tickets/1/replies',
    bend: ({ message }: { message: object }) => ({ message: { ...message, body: 'Somebody else’s' } }),
  },
  'conversations reply, with another text': {
    argv: ['conversations', 'reply', '1', ...hello],
    path: '/conversations/1/messages',
    bend: ({ message }: { message: object }) => ({ message: { ...message, body: 'Somebody else’s' } }),
  },
  'tickets note, with another text': {
    argv: ['tickets', 'note', '1', ...hello],
    path: '/tickets/1/notes',
    bend: ({ note }: { note: object }) => ({ note: { ...note, body: 'Somebody else’s' } }),
  },
  'tickets create, with a new ticket of another subject': {
    argv: ['tickets', 'create', '--subject', 'Mine', '--json'],
    path: '/tickets',
    bend: ({ ticket }: { ticket: object }) => ({ ticket: { ...ticket, id: 9999, subject: 'Theirs' } }),
  },
  'tickets create, with another priority': {
    argv: ['tickets', 'create', '--subject', 'Mine', '--priority', '3', '--json'],
    path: '/tickets',
    bend: ({ ticket }: { ticket: object }) => ({ ticket: { ...ticket, id: 9999, priority: 0 } }),
  },
  'changelog create, with another version': {
    argv: ['changelog', 'create', '--title', 'Mine', '--content', 'C', '--version', '1.2', '--json'],
    path: '/changelog',
    bend: ({ entry }: { entry: object }) => ({ entry: { ...entry, id: 9999, version: '1.3' } }),
  },
  'contacts create, with another name': {
    argv: ['contacts', 'create', ...dana, '--json'],
    path: '/contacts/create',
    bend: () => ({ contacts: { contact_id: 9999, name: 'Somebody' } }),
  },
  'contacts create, with two contacts': {
    argv: ['contacts', 'create', ...dana, '--json'],
    path: '/contacts/create',
    bend: ({ contacts }: { contacts: object }) => ({ contacts: [contacts, { contact_id: 9999, name: 'Dana' }] }),
  },
  'contacts create, with its contact inside of another list': {
    argv: ['contacts', 'create', ...dana, '--json'],
    path: '/contacts/create',
    bend: ({ contacts }: { contacts: object }) => ({ contacts: [[contacts]] }),
  },
};

const isNote = (what: string) => what.includes('note');

describe.each(Object.entries(bent))('%s', (what, { argv, path, bend }) => {
  /** `isStored`: whether the service does what it was asked. */
  const run = async (isStored: boolean) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const spare = sandboxWorld({ rateLimit: 'off' });
    let writes = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (!posts(path)(request)) return world.exchange(request);
      writes++;
      const answer = (await (isStored ? world : spare).exchange(request)) as HttpResponse;
      return { ...answer, body: JSON.stringify(bend(JSON.parse(answer.body) as never)) };
    };
    return { ran: await svc({ ...world, exchange }, argv), writes: () => writes };
  };

  test('is not called done from the answer: what can be looked for is found', async () => {
    const { ran, writes } = await run(true);
    expect(ran.exitCode, ran.stderr).toBe(isNote(what) ? 9 : 0);
    expect(ran.stdout).not.toContain('9999');
    expect(writes()).toBe(1);
  });

  test('where nothing was stored: exit 9, sent once', async () => {
    const { ran, writes } = await run(false);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(writes()).toBe(1);
  });
});

describe('a batch of contacts', () => {
  const names = ['Dana', 'Dana', 'Eve'];
  const rows = names.map((name, at) => ({
    name,
    last_name: 'Day',
    email: `d${at}@example.com`,
    phone: '+12025550123',
  }));
  const id = (one: object) => ({ contact_id: 9999, name: (one as { name: string }).name });
  const bends: Readonly<Record<string, (all: object[]) => object[]>> = {
    'one id twice': (all) => all.map((one, at) => (at === 1 ? { ...all[0], ...one, ...all[0] } : one)),
    'one id for all': (all) => all.map(id),
    'fewer than were sent': (all) => all.slice(1),
    'more than were sent': (all) => [...all, id(all[0] ?? {})],
    none: () => [],
  };

  test.each(Object.entries(bends))('answered with %s is looked for', async (_, bend) => {
    for (const isStored of [true, false]) {
      const [world, spare] = [sandboxWorld({ rateLimit: 'off' }), sandboxWorld({ rateLimit: 'off' })];
      const exchange: typeof world.exchange = async (request) => {
        if (!posts('/contacts/create')(request)) return world.exchange(request);
        const answer = (await (isStored ? world : spare).exchange(request)) as HttpResponse;
        const { contacts } = JSON.parse(answer.body) as { contacts: object[] };
        return { ...answer, body: JSON.stringify({ contacts: bend(contacts) }) };
      };
      const argv = ['contacts', 'create', '--file', '-', '--settle', '1', '--json'];
      const ran = await svc({ ...world, exchange }, argv, { stdin: JSON.stringify(rows) });
      expect(ran.exitCode, ran.stderr).toBe(isStored ? 0 : 9);
      const made = isStored ? (JSON.parse(ran.stdout) as { contact_id: number }[]) : [];
      expect(new Set(made.map(({ contact_id }) => contact_id)).size).toBe(isStored ? 3 : 0);
    }
  });
});

test('a success that the service wrote in its own way is one', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (!posts('/tickets')(request)) return answer;
    const { ticket } = JSON.parse(answer.body) as { ticket: object };
    const changed = { ...ticket, subject: 'Caf\u00e9 is open', due_at: '2026-03-01 12:00:00' };
    return { ...answer, body: JSON.stringify({ ticket: changed }) };
  };
  const argv = ['tickets', 'create', '--subject', ' Cafe\u0301  is open ', '--due-at', '2026-03-01T13:00:00.5+01:00'];
  expect(await svc({ ...world, exchange }, [...argv, '--json'])).toMatchObject({ exitCode: 0 });
});

/** Whatever stands before the service answers an update with the record as it was. */
const stale: Readonly<
  Record<string, { readonly argv: readonly string[]; readonly at: string; readonly shows: object }>
> = {
  'tickets update': {
    argv: ['tickets', 'update', '8', '--subject', 'Mine'],
    at: '/tickets/8',
    shows: { subject: 'Mine' },
  },
  'tickets close': { argv: ['tickets', 'close', '8'], at: '/tickets/8', shows: { status: 'closed' } },
  'contacts update': {
    argv: ['contacts', 'update', '8', '--phone', '(202) 555-0177', '--metadata', 'plan=gold'],
    at: '/contacts/8',
    shows: { phone: '+12025550177' },
  },
  'conversations resolve': {
    argv: ['conversations', 'resolve', '3', '--yes'],
    at: '/conversations/3',
    shows: { status: 'resolved' },
  },
  'changelog update': {
    argv: ['changelog', 'update', '1', '--title', 'Mine'],
    at: '/changelog/1',
    shows: { title: 'Mine' },
  },
  'changelog update of the content': {
    argv: ['changelog', 'update', '30', '--content', 'Words that were never there.'],
    at: '/changelog/30',
    shows: { content_html: expect.stringContaining('Words that were never there.') },
  },
  'changelog publish with a content': {
    argv: ['changelog', 'publish', '31', '--content', 'Words that were never there.', '--yes'],
    at: '/changelog/31',
    shows: { status: 'published', content_html: expect.stringContaining('Words that were never there.') },
  },
  'changelog publish': {
    argv: ['changelog', 'publish', '31', '--yes'],
    at: '/changelog/31',
    shows: { status: 'published' },
  },
  api: { argv: ['api', '/tickets/8', '-X', 'PATCH', '-f', 'subject=Mine'], at: '/tickets/8', shows: {} },
};

function answeredAsBefore(world: SandboxWorld, at: string, isStored: boolean) {
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET') return world.exchange(request);
    writes++;
    const before = await world.exchange({
      ...request,
      method: 'GET',
      url: new URL(at, request.url).href,
      body: undefined,
    });
    if (isStored) await world.exchange(request);
    return before;
  };
  return { world: { ...world, exchange }, writes: () => writes };
}

for (const [what, { argv, at, shows }] of Object.entries(stale)) {
  test(`${what}, done and answered with the record as it was: svc reads it and shows what is so`, async () => {
    const { world, writes } = answeredAsBefore(sandboxWorld({ rateLimit: 'off' }), at, true);
    const ran = await svc(world, [...argv, '--json']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject(shows);
    expect(writes()).toBe(1);
  });

  test(`${what}, not done and answered with the record as it was: exit 9`, async () => {
    const { world, writes } = answeredAsBefore(sandboxWorld({ rateLimit: 'off' }), at, false);
    const ran = await svc(world, [...argv, '--json']);
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(ran.stderr).toContain('read again');
    expect(ran.stderr).toContain('It is safe to run the command again');
    expect(writes()).toBe(1);
  });
}

test('a row that is answered with the record as it was is not done', async () => {
  const { world } = answeredAsBefore(sandboxWorld({ rateLimit: 'off' }), '/tickets/8', false);
  const ran = await svc(world, ['tickets', 'update', '--from', '-', '--json'], { stdin: 'id,subject\n8,Mine\n' });
  expect(ran.exitCode, ran.stderr).toBe(9);
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 0, unknown: 1 });
});

test.for([
  [['branding', 'update', '--from-name', 'Acme'], { ok: true, updated: ['from_name', 'logo_url'] }],
  [['branding', 'update', '--from-name', 'Acme'], { ok: true, updated: ['logo_url'] }],
  [
    ['tickets', 'create', '--subject', 'Mine', '--settle', '1'],
    { error: 'quota', ticket: { id: 9999, subject: 'Mine' } },
  ],
  [['lists', 'delete', '3', '--yes'], { success: '' }],
  ...[
    { error: 'quota' },
    { error: { code: 5 } },
    { error: true },
    { success: false },
    { ok: false },
    { success: 0 },
    { ok: 'false' },
  ].map(
    (beside) => [['tickets', 'note', '8', '--body', 'Mine'], { ...beside, note: { id: 9999, body: 'Mine' } }] as const,
  ),
  [['tickets', 'create', '--subject', 'Mine', '--settle', '1'], { ok: false, ticket: { id: 9999, subject: 'Mine' } }],
  [['contacts', 'update', '7', '--company', 'Mine'], { success: false, contact: { contact_id: 7, company: 'Mine' } }],
  [['contacts', 'sync', '-'], { success: false, created: 1, updated: 0, errors: [] }],
] as const)('%j answered with %j is not done: exit 9', async ([argv, answer]) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) =>
    request.method === 'GET'
      ? world.exchange(request)
      : { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) };
  const stdin = 'email,name\nnew@example.com,New\n';
  expect((await svc({ ...world, exchange }, [...argv, '--json'], { stdin })).exitCode).toBe(9);
});

test.each([
  { error: null },
  { error: '' },
  { error: [] },
  { error: false },
  { ok: true },
  { success: true },
  { success: null },
])('a record beside %j is done', async (beside) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'GET' || 'lost' in answer) return answer;
    return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), ...beside }) };
  };
  expect((await svc({ ...world, exchange }, ['tickets', 'note', '8', '--body', 'Mine'])).exitCode).toBe(0);
});

describe('changelog update --content', () => {
  const update = (content: string) => ['changelog', 'update', '30', '--content', content, '--json'];

  /** A service that writes HTML of its own, which no reading of ours foresees. */
  function peculiar(world: SandboxWorld, change: (html: string) => string) {
    const exchange: typeof world.exchange = async (request) => {
      const answer = (await world.exchange(request)) as HttpResponse;
      const json = JSON.parse(answer.body) as { entry?: { content_html: string } };
      if (!json.entry) return answer;
      json.entry.content_html = change(json.entry.content_html);
      return { ...answer, body: JSON.stringify(json) };
    };
    return { ...world, exchange };
  }

  test('is done where the service shows it in a form that svc does not foresee, also for the second time', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const shouting = peculiar(world, (html) => `<div>Read on:</div>${html}`);
    const first = await svc(shouting, update('**Bold** words'));
    expect(first.exitCode, first.stderr).toBe(0);
    const marked = peculiar(world, (html) => html.replaceAll(/<\/?(?:strong|p)>/gu, '|'));
    const second = await svc(marked, update('**Bold** words'));
    expect(second.exitCode, second.stderr).toBe(0);
  });

  test('is not done where the answer shows a text that is older still', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const exchange: typeof world.exchange = async (request) => {
      if (!patches(request)) return world.exchange(request);
      const got = { ...request, method: 'GET', body: undefined };
      const answer = (await world.exchange(got)) as HttpResponse;
      const { entry } = JSON.parse(answer.body) as { entry: object };
      return { ...answer, body: JSON.stringify({ entry: { ...entry, content_html: '<p>Older</p>' } }) };
    };
    const ran = await svc({ ...world, exchange }, update('Words that were never there.'));
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
  });

  test('a login that may not read entries updates them all the same', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const exchange: typeof world.exchange = async (request) =>
      request.method === 'GET' && request.url.includes('/changelog/')
        ? { status: 403, headers: { 'content-type': 'application/json' }, body: '{"error":"No."}' }
        : world.exchange(request);
    expect((await svc({ ...world, exchange }, update('Other words'))).exitCode).toBe(0);
  });
});

test.each([
  [[], 'from_name, socials'],
  [['socials.linkedin'], 'from_name'],
  [['socials', 'from_name'], undefined],
])(
  'branding that the service answers with %j as changed is so: a note names what it left out',
  async (updated, left) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const exchange: typeof world.exchange = async (request) => {
      const answer = (await world.exchange(request)) as HttpResponse;
      return request.method === 'PUT' ? { ...answer, body: JSON.stringify({ ok: true, updated }) } : answer;
    };
    const social = 'linkedin=https://www.linkedin.com/company/acme';
    const ran = await svc({ ...world, exchange }, ['branding', 'update', '--from-name', 'Acme', '--social', social]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    if (left === undefined) expect(ran.stderr).not.toContain('Note');
    else expect(ran.stderr).toContain(`did not name as changed, so it may have been so before: ${left}.`);
  },
);
