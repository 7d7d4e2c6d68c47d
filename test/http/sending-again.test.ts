import { describe, expect, test } from 'vitest';
import { deleteContactList } from '../../src/api/lists.ts';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { call, connect } from '../../src/http/call/call.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { origin, sandboxWorld } from '../sandbox-world.ts';
import { createWorld, type Ran, svc, virtualClock } from '../svc.ts';
import { ownFailure } from './late-service.ts';

type Ending = HttpResponse | Lost;

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const says = (status: number, body: object | string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', date: virtualClock().now().toUTCString(), ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const create = ['tickets', 'create', '--subject', 'Twice', '--json'];
const none = says(200, { tickets: [], meta: { current_page: 1, last_page: 1, total: 0 } });

/** What the service answers to the writes and to the reads, each by its number. */
async function play(
  argv: readonly string[],
  onWrite: (number: number) => Ending,
  onRead: (number: number, request: HttpRequest) => Ending = () => none,
): Promise<{ readonly ran: Ran; readonly writes: number; readonly reads: number; readonly at: readonly number[] }> {
  const clock = virtualClock();
  const began = clock.ticks();
  const at: number[] = [];
  let reads = 0;
  const world = createWorld(
    async (request) => {
      if (request.method === 'GET') return onRead(++reads, request);
      return onWrite(at.push(clock.ticks() - began));
    },
    { clock },
  );
  return { ran: await svc(world, argv), writes: at.length, reads, at };
}

const errorOf = ({ stderr }: Ran) => JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error;

describe('a ticket at which the service says that it failed', () => {
  test('is sent four times where a look after each shows nothing, and then nothing was stored', async () => {
    const { ran, writes, reads, at } = await play(create, () => ownFailure);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('The service failed (HTTP 500), and nothing was stored: svc looked.');
    // The one before, and after each failure at 0, 0.5, 1.5, 3.5 and 5 s.
    expect([writes, reads]).toEqual([4, 21]);
    // The look takes 5 s each time, and then the service is left some time to recover.
    expect(at).toEqual([0, 5500, 11_500, 18_500]);
  });

  test('is not sent again where the list shows it late', async () => {
    const made = { id: 6, subject: 'Twice', description: '', source: 'api', priority: 0, contact: null };
    const ticket = { ...made, status: 'open', created_at: '2026-07-01T00:00:00Z', due_at: null };
    const { ran, writes } = await play(
      create,
      () => ownFailure,
      (read, { url }) => {
        if (url.endsWith('/6')) return says(200, { ticket });
        return read < 5 ? none : says(200, { tickets: [ticket], meta: { total: 1 } });
      },
    );
    expect(ran.exitCode).toBe(0);
    expect(writes).toBe(1);
  });

  test.each([
    [['--settle', '0'], 4],
    [['--settle', '1'], 4],
    [[], 4],
    [['--settle', '60'], 9],
  ])('is looked for %s for as long as a list may lag behind, whatever less --settle says', async (flags, atRead) => {
    const ticket = { id: 6, subject: 'Twice', description: '', source: 'api', priority: 0, contact: null };
    const { ran, writes } = await play(
      [...create, ...flags],
      () => ownFailure,
      (read, { url }) => {
        const made = { ...ticket, status: 'open', created_at: '2026-07-01T00:00:00Z', due_at: null };
        if (url.endsWith('/6')) return says(200, { ticket: made });
        return read <= atRead ? none : says(200, { tickets: [made], meta: { total: 1 } });
      },
    );
    expect([ran.exitCode, writes]).toEqual([0, 1]);
  });

  test('is not sent again where the look fails, for that shows nothing', async () => {
    const { ran, writes } = await play(
      create,
      () => ownFailure,
      (read) => (read === 1 ? none : says(403, { error: 'forbidden' })),
    );
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(HTTP 500). svc looked once, and that failed too');
    expect(writes).toBe(1);
  });

  test('is not sent again where something that agrees may be older', async () => {
    const ticket = { id: 5, subject: 'Twice', description: '', source: 'api', priority: 0, contact: null };
    const old = { ...ticket, created_at: '2020-01-01T00:00:00Z' };
    const { ran, writes } = await play(
      create,
      () => ownFailure,
      (read, { url }) => {
        if (read === 1) return says(403, { error: 'forbidden' });
        return url.endsWith('/5') ? says(200, { ticket: { ...old, due_at: null } }) : says(200, { tickets: [old] });
      },
    );
    expect(ran.exitCode).toBe(9);
    expect(errorOf(ran).candidates).toEqual([5]);
    expect(writes).toBe(1);
  });

  test('is looked for once only: nothing of it is on its way', async () => {
    const { ran } = await play(create, (write) =>
      write < 3 ? ownFailure : says(422, { message: 'No more', errors: {} }),
    );
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toContain('No more');
  });

  test.each([
    ['a refusal', says(403, { error: 'Forbidden' }), 5],
    ['a rate limit', says(429, { error: 'Too many requests' }, { 'retry-after': '600' }), 7],
    ['a refused connection', { lost: 'before-sending', reason: 'refused', detail: 'Connection refused' } as const, 10],
  ])('and where nothing of it was there, %s of the next one is told as that', async (_, ending, exitCode) => {
    const { ran } = await play(create, (write) => (write === 1 ? ownFailure : ending));
    expect(ran).toMatchObject({ exitCode });
  });

  test('a lost answer to the next one leaves it in doubt', async () => {
    const { ran } = await play(create, (write) => (write === 1 ? ownFailure : lost));
    expect(ran).toMatchObject({ exitCode: 9 });
  });
});

describe('a ticket that was stored although the service said that it failed, and that its list shows late', () => {
  const fields = { subject: 'Twice', description: '', source: 'api', priority: 0, contact: null, status: 'open' };
  const ticket = (id: number) => ({ ...fields, id, created_at: '2026-07-01T00:00:00Z', due_at: null });
  const exists = says(422, { message: 'It exists already', errors: {} });

  /** The next copy is answered with `second`; from the read after it that `late` names on the list shows `ids`. */
  async function playTwice(second: Ending, ids: readonly number[], late = 1) {
    let [hasLeftTwice, reads] = [false, 0];
    const played = await play(
      create,
      (write) => {
        hasLeftTwice = write > 1;
        return hasLeftTwice ? second : ownFailure;
      },
      (_, { url }) => {
        if (hasLeftTwice) reads++;
        const id = Number(/\/tickets\/(\d+)/u.exec(url)?.[1]);
        if (id) return says(200, { ticket: ticket(id) });
        const tickets = hasLeftTwice && reads >= late ? ids.map(ticket) : [];
        return says(200, { tickets, meta: { current_page: 1, last_page: 1, total: tickets.length } });
      },
    );
    return { ...played, reads };
  }

  test.each([1, 4])('is found where the next copy is refused, for it exists already (%i)', async (late) => {
    const { ran, writes } = await playTwice(exists, [6], late);
    expect([ran.exitCode, writes]).toEqual([0, 2]);
    expect(JSON.parse(ran.stdout).id).toBe(6);
  });

  test('is not known where the next copy is refused, and two agree', async () => {
    const { ran } = await playTwice(exists, [7, 6]);
    expect(ran.exitCode).toBe(9);
    expect(errorOf(ran).candidates).toEqual([7, 6]);
    expect(ran.stderr).toContain('created (HTTP 500; then HTTP 422). svc looked for 5 s');
  });

  test('is not known where the next copy is refused, and the look for it fails', async () => {
    let hasLeftTwice = false;
    const { ran } = await play(
      create,
      (write) => {
        hasLeftTwice = write > 1;
        return hasLeftTwice ? exists : ownFailure;
      },
      () => (hasLeftTwice ? says(403, { error: 'Forbidden' }) : none),
    );
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('created (HTTP 500; then HTTP 422). svc looked once, and that failed too');
  });

  test('is not known where the next copy is refused, and Ctrl-C ends the look for it', async () => {
    const aborting = new AbortController();
    let writes = 0;
    const world = createWorld(
      async ({ method }) => {
        if (method !== 'GET') return ++writes > 1 ? exists : ownFailure;
        if (writes > 1) aborting.abort();
        return none;
      },
      { clock: virtualClock() },
    );
    const ran = await svc(world, create, { signal: aborting.signal });
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('may or may not have been created (HTTP 500; then HTTP 422)');
  });

  test.each([
    ['a missing right', says(403, { error: 'Forbidden' }), 5],
    ['a limit', says(429, { error: 'Too many requests' }, { 'retry-after': '600' }), 7],
    ['a refused connection', { lost: 'before-sending', reason: 'refused', detail: 'Connection refused' } as const, 10],
  ])('is not looked for after %s, which says nothing of what is there', async (_, second, exitCode) => {
    const { ran, reads } = await playTwice(second, [6]);
    expect([ran.exitCode, reads]).toEqual([exitCode, 0]);
  });
});

test('a ticket that the service refuses at once is not looked for', async () => {
  const { ran, writes, reads } = await play(create, () => says(422, { message: 'No more', errors: {} }));
  // The read is that of what was there before.
  expect([ran.exitCode, writes, reads]).toEqual([6, 1, 1]);
});

test('a message to a customer is sent once, also where the service says that it failed and nothing is there', async () => {
  const ticket = { id: 8, messages: [], reply_channel: 'email' };
  const argv = ['tickets', 'reply', '8', '--body', 'Hello', '--json'];
  const { ran, writes } = await play(
    argv,
    () => ownFailure,
    () => says(200, { ticket }),
  );
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('svc looked for 5 s and did not find it.');
  expect(writes).toBe(1);
});

test('a bug while svc looks does not hide that the write may have worked', async () => {
  const { ran } = await play(
    create,
    () => lost,
    (read) => {
      if (read > 1) throw new TypeError('a mistake');
      return none;
    },
  );
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('(the connection broke; then svc itself failed: a mistake)');
});

test('a subscription whose answer is lost is neither made again nor deleted', async () => {
  const world = sandboxWorld();
  const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token };
  let writes = 0;
  const losing = {
    ...world,
    async exchange(request: HttpRequest) {
      const answer = await world.exchange(request);
      if (request.method === 'GET') return answer;
      writes++;
      return lost;
    },
  };
  const ran = await svc(losing, ['webhooks', 'create', 'call.completed', 'https://a.example/b', '--json'], { env });
  expect(ran.exitCode).toBe(9);
  expect(writes).toBe(1);
  expect(JSON.parse((await svc(world, ['webhooks', 'list', '--json'], { env })).stdout)).toHaveLength(1);
});

describe('a change that the service said has failed', () => {
  const change = ['contacts', 'update', '7', '--name', 'Ada', '--json'];

  test.each([
    [says(404, { error: 'Not found' }), 'HTTP 500; then HTTP 404'],
    [says(401, { error: 'unauthorized' }), 'HTTP 500; then HTTP 401'],
    [says(307, '', { location: 'https://b.test/contacts/7' }), 'HTTP 500; then the address redirects to'],
  ])('stays in doubt whatever comes next (%#)', async (next, words) => {
    const { ran } = await play(
      change,
      (write) => (write === 1 ? ownFailure : next),
      () => says(200, { account_id: 1 }),
    );
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('The contact may or may not have been changed (');
    if (!words.includes('redirects')) expect(ran.stderr).toContain(`(${words})`);
  });
});

test.each([
  ['that an earlier run has sent', true, 'done'],
  ['that nobody has sent', false, 'not-found'],
])('a deletion %s finds nothing there', async (_, wasSent, ending) => {
  const { exchange, clock, folder } = sandboxWorld();
  const { ctx } = screen({ env: { SVC_API_KEY: 'key_acme' } });
  const files = { config: folder, state: folder };
  const service = await connect({ ...ctx, exchange, clock, files }, { ...settings, baseUrl: origin });
  const deleting = call(service, deleteContactList, { params: { contactList: 4711 } }, { wasSent });
  expect(
    await deleting.then(
      () => 'done',
      ({ kind }) => kind,
    ),
  ).toBe(ending);
});

test.each([
  [200, none.body, 0],
  [404, '{"error":"Not found"}', 1],
  [300, '', 1],
])('a location beside HTTP %i', async (status, body, exitCode) => {
  const location = 'https://service.test/elsewhere';
  const seen: string[] = [];
  await play(
    ['tickets', 'list', '--json'],
    () => lost,
    (_, { url }) => {
      seen.push(new URL(url).pathname);
      return says(status, body, { location });
    },
  ).then(({ ran }) => expect(ran.exitCode).toBe(exitCode));
  expect(seen.includes('/elsewhere')).toBe(status === 300);
});

test('a 401 in any shape is about the credential', async () => {
  const { ran } = await play(
    ['tickets', 'list', '--json'],
    () => lost,
    () => says(401, '<html>'),
  );
  expect(ran.exitCode).toBe(4);
});
