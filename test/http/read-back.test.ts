import { describe, expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

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

  test('is sent again when the service never saw it, and an older twin of the same second is not taken for it', async () => {
    const world = sandboxWorld();
    world.clock.advance(137);
    await svc(world, one.argv);
    world.clock.advance(400);
    const ran = await svc(losing(world, false), [...one.argv, '--json']);
    expect(ran.exitCode).toBe(0);
    expect(await rowsOf(world, one)).toHaveLength(2);
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

test('the same reply sent twice on purpose is two replies, one of them with a lost answer', async () => {
  const world = sandboxWorld();
  const argv = ['tickets', 'reply', '8', '--body', 'Any news?'];
  world.clock.advance(137);
  await svc(world, argv);
  world.clock.advance(300);
  const ran = await svc(losing(world, false), argv);
  expect(ran.exitCode).toBe(0);
  const ticket = JSON.parse((await svc(world, ['tickets', 'get', '8', '--json'])).stdout) as { messages: Row[] };
  expect(ticket.messages.filter((message) => message.body === 'Any news?')).toHaveLength(2);
});

test('when looking fails too, the outcome is unknown and nothing is sent again', async () => {
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
  expect(ran.exitCode).toBe(9);
  expect(posts).toBe(1);
});
