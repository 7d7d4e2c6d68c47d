// What a write was made of changes while it waits behind a refusal (HTTP 429), or while a person is asked.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const slow = { status: 429, headers: { 'x-ratelimit-limit': '60', 'retry-after': '1' }, body: '{"error":"Too many"}' };

const failed = { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server error"}' };
const late = { status: 504, headers: {}, body: '' };

/** Carries out the first request of a kind, and answers otherwise. */
function answeredOnce(path: RegExp, answer: HttpResponse) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const sent: string[] = [];
  const exchange: typeof world.exchange = async (request) => {
    const done = await world.exchange(request);
    if (request.method === 'GET' || !path.test(new URL(request.url).pathname)) return done;
    return sent.push(String(request.body)) === 1 ? answer : done;
  };
  return { world: { ...world, exchange }, sent };
}

/** Refuses the first request of a kind; then somebody else does `argv`. */
function refusedOnce(path: RegExp, argv?: readonly string[]) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const sent: string[] = [];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET' || !path.test(new URL(request.url).pathname)) return world.exchange(request);
    sent.push(String(request.body));
    if (sent.length > 1) return world.exchange(request);
    if (argv) expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
    return slow;
  };
  return { world: { ...world, exchange }, sent };
}

const file = (folder: string): string => {
  const path = join(folder, 'lists.csv');
  writeFileSync(path, 'id,target_industry\n1,Health\n');
  return path;
};

const cases = [
  {
    argv: () => ['lists', 'add', '1', '--contact', '7'],
    path: /create_sync_contacts/u,
    look: /\/contacts\/7$/u,
    change: ['contacts', 'update', '7', '--company', 'Other Ltd'],
    says: 'One of the contacts has just changed. Nothing was added.',
  },
  {
    argv: () => ['lists', 'set', '1', '--contact', '7', '--yes'],
    path: /sync_contacts/u,
    look: /get_contacts$/u,
    change: ['lists', 'add', '1', '--contact', '9'],
    says: 'List 1 has just changed. Nothing was changed.',
  },
  {
    argv: () => ['lists', 'update', '1', '--target-industry', 'Health'],
    path: /update/u,
    look: /contactslists\/list$/u,
    change: ['lists', 'update', '1', '--name', 'New name'],
    says: 'The name of list 1 has just changed. Nothing was changed.',
  },
  {
    argv: (folder: string) => ['lists', 'update', '--from', file(folder), '--yes'],
    path: /update/u,
    look: /contactslists\/list$/u,
    change: ['lists', 'update', '1', '--name', 'New name'],
    says: 'Record 1 has just changed. Nothing was sent.',
  },
];

describe('behind a 429', () => {
  test.each(cases)('$change before it goes out again: it is not sent', async ({ argv, path, change, says }) => {
    const { world, sent } = refusedOnce(path, change);
    const ran = await svc(world, argv(world.folder));
    expect(ran.exitCode).toBe(argv(world.folder).includes('--from') ? 8 : 1);
    expect(ran.stdout + ran.stderr).toContain(says);
    expect(sent).toHaveLength(1);
    expect(await svc(world, argv(world.folder))).toMatchObject({ exitCode: 0 });
  });

  test.each(cases)('$change while the look after it is long on its way: it is not sent', async (one) => {
    const { argv, path, look, change } = one;
    const { world, sent } = refusedOnce(path);
    let isLate = false;
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (isLate || sent.length === 0 || !look.test(new URL(request.url).pathname)) return answer;
      isLate = true;
      expect(await svc(world, change)).toMatchObject({ exitCode: 0 });
      world.clock.advance(6000);
      return answer;
    };
    const ran = await svc({ ...world, exchange }, argv(world.folder));
    expect(ran.stdout + ran.stderr).toMatch(/has just changed. Nothing was /u);
    expect(sent.filter((body) => body === sent[0])).toHaveLength(1);
  });

  test.each(cases)('nothing has changed: $argv is sent again', async ({ argv, path }) => {
    const { world, sent } = refusedOnce(path);
    expect(await svc(world, argv(world.folder))).toMatchObject({ exitCode: 0 });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toBe(sent[0]);
  });
});

describe.each([failed, late])('behind a $status', (answer) => {
  test.each(cases)('what $argv has changed itself is no reason not to send it again', async ({ argv, path }) => {
    const { world, sent } = answeredOnce(path, answer);
    expect(await svc(world, argv(world.folder))).toMatchObject({ exitCode: 0 });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toBe(sent[0]);
  });
});

test('while a person is asked: nobody is taken out who was not shown', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const ran = await svc(world, ['lists', 'set', '1', '--contact', '7'], {
    columns: 80,
    whileAsked: async () => {
      expect(await svc(world, ['lists', 'add', '1', '--contact', '9'])).toMatchObject({ exitCode: 0 });
    },
    answers: [true],
  });
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/List 1 has just changed\. .*\nRun the same command again\.\n/u),
  });
  const ids = (await svc(world, ['lists', 'members', '1', '--json', '--jq', '[.[].contact_id]'])).stdout;
  expect(JSON.parse(ids)).toContain(9);
});

test.each([
  {
    argv: ['lists', 'set', '1', '--contact', '7', '--yes'],
    last: /\/contactslists(?:\/list)?$/u,
    change: ['lists', 'add', '1', '--contact', '9'],
  },
  {
    // Nobody is asked where the list is so already.
    argv: ['lists', 'set', '1', '--contact', '7'],
    isSo: true,
    last: /\/contactslists(?:\/list)?$/u,
    change: ['lists', 'add', '1', '--contact', '9'],
  },
  {
    argv: ['lists', 'add', '1', '--contact', '7', '--contact', '8'],
    last: /\/contacts\/8$/u,
    change: ['contacts', 'update', '7', '--company', 'Other Ltd'],
  },
])('while what is read last waits for the limit: it is not sent', async ({ argv, isSo, last, change }) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  if (isSo) expect(await svc(world, [...argv, '--yes'])).toMatchObject({ exitCode: 0 });
  const reads: string[] = [];
  const count = (exchange: typeof world.exchange): typeof world.exchange => {
    reads.length = 0;
    return (request) => {
      if (request.method === 'GET' && last.test(new URL(request.url).pathname)) reads.push(request.url);
      return exchange(request);
    };
  };
  expect(await svc({ ...world, exchange: count(world.exchange) }, [...argv, '--dry-run'])).toMatchObject({
    exitCode: 0,
  });
  const lastOne = reads.length;
  const refused = count(async (request) => {
    if (request.method !== 'GET' || reads.length !== lastOne) return world.exchange(request);
    reads.push('');
    expect(await svc(world, change)).toMatchObject({ exitCode: 0 });
    return { ...slow, headers: { ...slow.headers, 'retry-after': '40' } };
  });
  const ran = await svc({ ...world, exchange: refused }, argv);
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/has just changed. Nothing was /u) });
});

describe('after a read that was long on its way', () => {
  // `lists add` reads the contact twice: to find it, and to send it as it is.
  const reads = [/\/contacts\/7$/u, /get_contacts$/u, /\/list$/u, /\/list$/u];
  const late = cases.map((one, at) => ({ ...one, read: reads[at] ?? /^$/u, number: at === 0 ? 2 : 1 }));
  test.each(late)('$change meanwhile: it is not sent', async ({ argv, path, change, read, number }) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const sent: string[] = [];
    let left = number;
    const exchange: typeof world.exchange = async (request) => {
      const { pathname } = new URL(request.url);
      if (request.method !== 'GET') sent.push(pathname);
      const answer = await world.exchange(request);
      if (request.method !== 'GET' || !read.test(pathname) || --left !== 0) return answer;
      expect(await svc(world, change)).toMatchObject({ exitCode: 0 });
      world.clock.advance(6000);
      return answer;
    };
    const ran = await svc({ ...world, exchange }, argv(world.folder));
    expect(ran.stdout + ran.stderr).toMatch(/has just changed. Nothing was /u);
    expect(sent.filter((one) => path.test(one))).toEqual([]);
  });
});

test.each([
  ['30', 'its row', (rows: string) => ['--from', rows, '--yes']],
  ['150', 'its row', (rows: string) => ['--from', rows, '--yes']],
  ['30', 'a command', () => ['1', '--target-industry', 'Retail']],
])('the name of a list that had to wait %s s for the limit is read once for %s', async (seconds, _, rest) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const rows = join(world.folder, 'rows.csv');
  writeFileSync(rows, 'id,target_industry\n1,Retail\n');
  let reads = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (!/\/list$/u.test(new URL(request.url).pathname) || ++reads > 1) return world.exchange(request);
    return { ...slow, headers: { ...slow.headers, 'retry-after': seconds } };
  };
  const ran = await svc({ ...world, exchange }, ['lists', 'update', ...rest(rows)]);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(reads).toBe(2);
});
