import { describe, expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc, type World } from '../svc.ts';
import { lateWorld, ownFailure } from './late-service.ts';

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

/** Loses the next answer to a write; `processed` tells whether the service acted on it. */
function losing(world: SandboxWorld, processed: boolean, takesMs = 30): World {
  let left = 1;
  return {
    ...world,
    async exchange(request): Promise<HttpResponse | Lost> {
      world.clock.advance(takesMs);
      if (request.method === 'GET' || left-- <= 0) return world.exchange(request);
      if (processed) await world.exchange(request);
      return lost;
    },
  };
}

type Case = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly kind: string;
  readonly same: (row: Row) => boolean;
};
type Row = Record<string, unknown>;

const cases: readonly Case[] = [
  {
    name: 'ticket',
    argv: ['tickets', 'create', '--subject', 'Twice', '--description', 'The same'],
    kind: 'tickets',
    same: (row) => row.subject === 'Twice',
  },
  {
    name: 'contact',
    argv: [
      'contacts',
      'create',
      '--name',
      'Ada',
      '--last-name',
      'Byron',
      '--email',
      'a@example.com',
      '--phone',
      '+12025550123',
    ],
    kind: 'contacts',
    same: (row) => row.email === 'a@example.com',
  },
  {
    name: 'list',
    argv: ['lists', 'create', '--name', 'Twice', '--target-industry', 'Any', '--notes', 'n'],
    kind: 'lists',
    same: (row) => row.name === 'Twice',
  },
  {
    name: 'changelog entry',
    argv: ['api', '/changelog', '-f', 'title=Twice', '-f', 'content=The same'],
    kind: 'changelog',
    same: (row) => row.title === 'Twice',
  },
];

async function rowsOf(world: SandboxWorld, { kind, same }: Case): Promise<Row[]> {
  const state = (await world.control('GET', 'state')) as Record<string, Row[]>;
  return (state[kind] ?? []).filter(same);
}

describe.each(cases)('a $name whose answer was lost', (one) => {
  test('is found when the service has it, also with an older twin beside it', async () => {
    const world = sandboxWorld();
    world.clock.advance(137);
    await svc(world, one.argv);
    world.clock.advance(400);
    const ran = await svc(losing(world, true), [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    const rows = await rowsOf(world, one);
    expect(rows).toHaveLength(2);
    const answer = JSON.stringify(JSON.parse(ran.stdout));
    const newest = rows.map((row) => Number(row.id ?? row.contact_id ?? row.contacts_list_id)).sort((a, b) => b - a)[0];
    expect(answer).toMatch(new RegExp(`:${newest}[,}]`, 'u'));
  });

  test('is never sent again while it may still arrive, also with an older twin beside it', async () => {
    const world = sandboxWorld();
    await svc(world, one.argv);
    const ran = await svc(losing(world, false), [...one.argv, '--json']);
    expect(ran.exitCode).toBe(9);
    expect(await rowsOf(world, one)).toHaveLength(1);
  });

  test('is sent again after a failure that the service tells of, and an older twin is not taken for it', async () => {
    const world = sandboxWorld();
    await svc(world, one.argv);
    const failing = lateWorld(world, { isMeant: ({ method }) => method === 'POST', ending: ownFailure });
    const ran = await svc(failing, [...one.argv, '--json']);
    expect(ran.exitCode).toBe(0);
    expect(await rowsOf(world, one)).toHaveLength(2);
  });

  test('is known again after the service has trimmed, normalised and lower-cased it', async () => {
    const world = sandboxWorld();
    const untidy: Readonly<Record<string, string>> = {
      Twice: '  Twice ',
      'The same': 'The   same\r\n',
      'a@example.com': 'A@Example.COM',
      'title=Twice': 'title= Twice',
    };
    const argv = one.argv.map((word) => untidy[word] ?? word);
    const ran = await svc(normalising(losing(world, true)), [...argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await rowsOf(world, one)).toHaveLength(1);
  });

  test.each([-86_400, -2, 2, 86_400])('is found though Date is %d s from created_at', async (seconds) => {
    const world = sandboxWorld();
    const late = losing(world, true);
    const shifted: World = {
      ...late,
      async exchange(request) {
        const answer = await late.exchange(request);
        if ('lost' in answer) return answer;
        const date = new Date(world.clock.now().getTime() + seconds * 1000).toUTCString();
        return { ...answer, headers: { ...answer.headers, date } };
      },
    };
    const ran = await svc(shifted, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await rowsOf(world, one)).toHaveLength(1);
  });
});

test('this machine’s clock may be days wrong: what was made is still found', async () => {
  const world = sandboxWorld();
  await world.control('POST', 'clock', { advance_seconds: 3 * 86_400 });
  const [ticket] = cases;
  if (!ticket) throw new Error('no case');
  const ran = await svc(losing(world, true), ticket.argv);
  expect(ran.exitCode).toBe(0);
  expect(await rowsOf(world, ticket)).toHaveLength(1);
});

test('a batch of contacts is found as a whole', async () => {
  const world = sandboxWorld();
  const rows = ['b1@example.com', 'b2@example.com'].map((email) => ({
    name: 'Batch',
    last_name: 'Row',
    email,
    phone: '+12025550123',
  }));
  const ran = await svc(losing(world, true), ['contacts', 'create', '--file', '-', '--json'], {
    stdin: JSON.stringify(rows),
  });
  expect(ran.exitCode).toBe(0);
  expect(JSON.parse(ran.stdout)).toHaveLength(2);
  const state = (await world.control('GET', 'state')) as Record<string, Row[]>;
  expect((state.contacts ?? []).filter((row) => row.name === 'Batch')).toHaveLength(2);
});

test('a batch of which only a part is there is not called done, and its ids are named', async () => {
  const world = sandboxWorld();
  const rows = ['b1@example.com', 'b2@example.com'].map((email) => ({ ...person, email }));
  const meddled: World = {
    ...world,
    async exchange(request) {
      if (request.method !== 'POST') return world.exchange(request);
      // Somebody else adds one of the two at the same moment.
      await world.exchange({ ...request, body: JSON.stringify({ ...person, email: 'b1@example.com' }) });
      return lost;
    },
  };
  const ran = await svc(meddled, ['contacts', 'create', '--file', '-', '--json'], { stdin: JSON.stringify(rows) });
  expect(ran.exitCode).toBe(9);
  expect(lastError(ran).candidates).toHaveLength(1);
  expect(ran.stderr).toContain('agrees in part only');
});

test('the same reply sent twice on purpose: a lost second one is not taken for the first, and not sent again', async () => {
  const world = sandboxWorld();
  const argv = ['tickets', 'reply', '8', '--body', 'Any news?'];
  await svc(world, argv);
  const ran = await svc(losing(world, false), argv);
  expect(ran.exitCode).toBe(9);
  const ticket = JSON.parse((await svc(world, ['tickets', 'get', '8', '--json'])).stdout) as { messages: Row[] };
  expect(ticket.messages.filter((message) => message.body === 'Any news?')).toHaveLength(1);
});

test('where reading is refused while the network is down nothing is sent', async () => {
  const world = sandboxWorld();
  let posts = 0;
  const dead: World = {
    ...world,
    async exchange(request) {
      if (request.method === 'POST') posts++;
      return lost;
    },
  };
  const ran = await svc(dead, ['tickets', 'create', '--subject', 'x', '--description', 'y']);
  expect(ran.exitCode).toBe(10);
  expect(posts).toBe(0);
});

describe('where looking before is not possible', () => {
  const argv = ['tickets', 'create', '--subject', 'Twice', '--json'];

  /** The first reads fail; the write is processed and its answer lost, `afterMs` later. */
  function blindAtFirst(world: SandboxWorld, afterMs: number): World {
    let reads = 0;
    const late = lateWorld(world, { isMeant: ({ method }) => method === 'POST', ending: lost, afterMs });
    return {
      ...late,
      async exchange(request) {
        if (request.method === 'GET' && ++reads <= 4) return ownFailure;
        return late.exchange(request);
      },
    };
  }

  test.each([0, 12_000])('no clock makes a record ours: one that came %d ms later is named', async (afterMs) => {
    const world = sandboxWorld();
    const ran = await svc(blindAtFirst(world, afterMs), argv);
    expect(ran.exitCode).toBe(9);
    expect(lastError(ran).candidates).toHaveLength(1);
  });

  test('an older twin is not taken where the answers carry a Date that lies behind it', async () => {
    const world = sandboxWorld();
    await svc(world, argv);
    const blind = blindAtFirst(world, 40_000);
    const behind: World = {
      ...blind,
      async exchange(request) {
        const answer = await blind.exchange(request);
        if ('lost' in answer) return answer;
        const date = new Date(world.clock.now().getTime() - 60_000).toUTCString();
        return { ...answer, headers: { ...answer.headers, date } };
      },
    };
    const ran = await svc(behind, argv);
    expect(ran.exitCode).toBe(9);
    expect(lastError(ran).candidates).toHaveLength(1);
  });

  test('a token that may write and not read is told so', async () => {
    const world = sandboxWorld();
    const tokens = { account_id: 1, scopes: ['tickets:write'] };
    const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
    const ran = await svc(losing(world, true), argv, { env: { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token } });
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('tickets:read');
  });
});

test.each(['5', '[null]', '["x"]'])(
  'a raw body with contacts %s whose answer was lost is exit 9, not a crash',
  async (contacts) => {
    const stdin = `{"contacts":${contacts}}`;
    const ran = await svc(losing(sandboxWorld(), false), ['api', '/contacts/create', '--input', '-'], { stdin });
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(ran.stderr).toContain('may or may not have been stored');
  },
);

test('Ctrl-C is heard while svc looks, and the doubt is told', async () => {
  const world = sandboxWorld();
  const interrupt = new AbortController();
  const late = losing(world, false);
  const stopping: World = {
    ...late,
    clock: {
      ...world.clock,
      async sleep(ms, signal) {
        interrupt.abort('SIGINT');
        await world.clock.sleep(ms, signal);
      },
    },
  };
  const ran = await svc(stopping, ['tickets', 'reply', '8', '--body', 'Hello'], { signal: interrupt.signal });
  expect(ran.exitCode).toBe(130);
  expect(ran.stderr).toContain('The reply may or may not have been sent');
});

test('a wall clock that is set back while it is looked for makes no wait longer', async () => {
  const world = sandboxWorld();
  const late = losing(world, false);
  const began = world.clock.ticks();
  const meddling: World = {
    ...late,
    exchange(request) {
      world.clock.set(-3_600_000);
      return late.exchange(request);
    },
  };
  const ran = await svc(meddling, ['tickets', 'reply', '8', '--body', 'Hello']);
  expect(ran.exitCode).toBe(9);
  expect(world.clock.ticks() - began).toBeLessThan(40_000);
});

describe('a webhook subscription whose answer was lost', () => {
  const argv = [
    'api',
    '/oauth-platform/webhooks',
    '-f',
    'event_type=call.completed',
    '-f',
    'target_url=https://a.example/b',
  ];

  async function connection() {
    const world = sandboxWorld();
    const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
    const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
    const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token };
    const held = async () => JSON.parse((await svc(world, ['webhooks', 'list', '--json'], { env })).stdout) as Row[];
    return { world, env, held };
  }

  test('is named with the two commands that replace it, and neither deleted nor made again', async () => {
    const { world, env, held } = await connection();
    await svc(world, argv, { env });
    const ran = await svc(losing(world, true), ['-p', 'work', ...argv, '--json'], { env });
    expect(ran.exitCode).toBe(9);
    const after = await held();
    expect(after).toHaveLength(2);
    const [made] = lastError(ran).candidates;
    expect(made).toBe(Math.max(...after.map(({ id }) => Number(id))));
    expect(lastError(ran).hint).toBe(
      `If nobody else made it, replace it: svc -p work webhooks delete ${made} && svc -p work webhooks create call.completed https://a.example/b`,
    );
  });

  test('one that may be somebody else’s is never deleted', async () => {
    const { world, env, held } = await connection();
    const two: World = {
      ...world,
      async exchange(request) {
        const answer = await world.exchange(request);
        if (request.method !== 'POST') return answer;
        await world.exchange(request);
        return lost;
      },
    };
    const ran = await svc(two, [...argv, '--json'], { env });
    expect(ran.exitCode).toBe(9);
    const ids = (await held()).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(lastError(ran).candidates)).toEqual(new Set(ids));
  });
});

const person = { name: 'Batch', last_name: 'Row', phone: '+12025550123' };

const lastError = ({ stderr }: Ran): { candidates: number[]; hint: string } =>
  JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error;

/** A service that tidies what it stores. */
function normalising(world: World): World {
  const tidy = (_: string, value: unknown) =>
    typeof value === 'string' ? value.normalize('NFC').trim().replaceAll(/\s+/gu, ' ') : value;
  return {
    ...world,
    exchange(request) {
      if (typeof request.body !== 'string') return world.exchange(request);
      const body = JSON.parse(request.body, tidy) as Row;
      if (typeof body.email === 'string') body.email = body.email.toLowerCase();
      return world.exchange({ ...request, body: JSON.stringify(body) });
    },
  };
}
