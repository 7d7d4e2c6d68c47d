// An answer that was given before, to another request: an id is never given twice, so it shows nothing of this one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { connected } from '../mcp/connected.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Report = { readonly rows: number; readonly done: number; readonly unknown: number };
type Kind = { readonly argv: string; readonly csv: string; readonly held: (state: State) => number };
type State = Readonly<Record<string, readonly Readonly<Record<string, readonly unknown[]>>[]>>;

const count = (kind: string) => (state: State) => state[kind]?.length ?? 0;
const inside = (kind: string, field: string) => (state: State) =>
  (state[kind] ?? []).reduce((all, record) => all + (record[field]?.length ?? 0), 0);

const isWrite = ({ method }: HttpRequest) => method === 'POST';

/** Each later write gets the answer to the first. `isStored`: the service has done it all the same. */
function repeating(world: SandboxWorld, isStored: boolean) {
  let first: Promise<HttpResponse | Lost> | undefined;
  const exchange: typeof world.exchange = async (request) => {
    if (!isWrite(request)) return world.exchange(request);
    if (first !== undefined) {
      if (isStored) await world.exchange(request);
      return first;
    }
    first = world.exchange(request);
    return first;
  };
  return { ...world, exchange };
}

const stateOf = async (world: SandboxWorld): Promise<State> => (await world.control('GET', 'state')) as State;

const kinds: Readonly<Record<string, Kind>> = {
  'tickets create': { argv: 'tickets create', csv: 'subject\nSame\nSame\nSame\n', held: count('tickets') },
  'tickets reply': {
    argv: 'tickets reply',
    csv: 'ticket,body\n8,We are down\n9,We are down\n8,We are down\n',
    held: inside('tickets', 'messages'),
  },
  'conversations reply': {
    argv: 'conversations reply',
    csv: 'conversation,body\n1,Hi\n2,Hi\n1,Hi\n',
    held: inside('conversations', 'messages'),
  },
  'changelog create': {
    argv: 'changelog create',
    csv: 'title,content\nSame,Text\nSame,Text\n',
    held: count('changelog'),
  },
  'contacts create': {
    argv: 'contacts create',
    csv: 'name,last_name,email,phone\nAnna,Alpha,a@example.com,+13125550901\nAnna,Beta,b@example.com,+13125550902\n',
    held: count('contacts'),
  },
  'lists create': {
    argv: 'lists create',
    csv: 'name,target_industry,notes\nA,I,N\nB,I,N\n',
    held: count('lists'),
  },
  'tickets note': {
    argv: 'tickets note',
    csv: 'ticket,body\n8,Call back\n9,Call back\n8,Call back\n',
    held: inside('tickets', 'notes'),
  },
};

describe.each(Object.entries(kinds))('rows of %s', (what, { argv, csv, held }) => {
  const run = async (isStored: boolean) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const before = held(await stateOf(world));
    const ran = await svc(repeating(world, isStored), [...argv.split(' '), '--from', '-', '--yes', '--json'], {
      stdin: csv,
    });
    return { ran, report: JSON.parse(ran.stdout) as Report, added: held(await stateOf(world)) - before };
  };

  test('that get the answer to an earlier one are not done: exit 9, and as many as are there', async () => {
    const { ran, report, added } = await run(false);
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect([added, report.done, report.unknown]).toEqual([1, 1, report.rows - 1]);
  });

  test('that are done all the same are found, each its own; notes cannot be looked for', async () => {
    const { ran, report, added } = await run(true);
    const isNote = what === 'tickets note';
    expect(ran.exitCode, ran.stderr).toBe(isNote ? 9 : 0);
    expect([added, report.done]).toEqual([report.rows, isNote ? 1 : report.rows]);
  });
});

test('the results name each contact by its own id, whatever the answers name', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const results = join(world.folder, 'results.csv');
  const csv = kinds['contacts create']?.csv ?? '';
  const argv = ['contacts', 'create', '--from', '-', '--results', results];
  expect((await svc(repeating(world, true), argv, { stdin: csv })).exitCode).toBe(0);
  const emails = (await stateOf(world)).contacts?.map((one) => [String(one.contact_id), one.email]);
  const byId = new Map(emails?.map(([id, email]) => [id, email] as const));
  const [head = '', ...rows] = readFileSync(results, 'utf8').trim().split('\n');
  const at = head.split(',').indexOf('svc_id');
  expect(rows.map((row) => byId.get(row.split(',')[at]))).toEqual(['a@example.com', 'b@example.com']);
});

describe('a message', () => {
  const replies = [
    ['tickets', 'reply', '8', '--body', 'Same', '--yes', '--json'],
    ['conversations', 'reply', '1', '--body', 'Same', '--yes', '--json'],
  ];

  test.each(replies)('%s %s: the answer names one that stood in the thread before', async (...argv) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const mixed = repeating(world, false);
    expect((await svc(mixed, argv)).exitCode).toBe(0);
    const second = await svc(mixed, argv);
    expect(second).toMatchObject({ exitCode: 9, stdout: '' });
  });

  test.each(replies)('%s %s: the same where the second is there: it is found', async (...argv) => {
    const mixed = repeating(sandboxWorld({ rateLimit: 'off', seed: few }), true);
    const [first, second] = [await svc(mixed, argv), await svc(mixed, argv)];
    expect([first.exitCode, second.exitCode], second.stderr).toEqual([0, 0]);
    const idIn = (stdout: string) => /"id": (\d+)/u.exec(stdout)?.[1];
    expect(idIn(second.stdout)).toMatch(/^\d+$/u);
    expect(idIn(second.stdout)).not.toBe(idIn(first.stdout));
  });
});

describe('a later run', () => {
  test('does not take the answer to a row of an earlier one', async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const mixed = repeating(world, false);
    const argv = ['tickets', 'reply', '--from', '-', '--yes', '--json'];
    const rows = ['ticket,body', '8,We are down', '9,We are down'];
    expect((await svc(mixed, argv, { stdin: rows.slice(0, 2).join('\n') })).exitCode).toBe(0);
    const second = await svc(mixed, argv, { stdin: rows.join('\n') });
    expect(second.exitCode, second.stderr).toBe(9);
    expect(JSON.parse(second.stdout)).toMatchObject({ done: 1, unknown: 1 });
  });

  /** Each write is answered in its own words, with the id that `id` names; the list leaves that record out. */
  const naming = (world: SandboxWorld, id: number): SandboxWorld => ({
    ...world,
    async exchange(request) {
      const answer = (await world.exchange(request)) as HttpResponse;
      if (isWrite(request)) return { ...answer, body: answer.body.replace(/"id":\d+/u, `"id":${id}`) };
      if (!/\/tickets\?/u.test(request.url)) return answer;
      const { tickets, meta } = JSON.parse(answer.body) as { tickets: { id: number }[]; meta: object };
      const others = tickets.filter((one) => one.id !== id);
      return { ...answer, body: JSON.stringify({ tickets: others, meta: { ...meta, total: others.length } }) };
    },
  });
  const idIn = (file: string) => {
    const [head = '', ...rows] = readFileSync(file, 'utf8').trim().split('\n');
    return Number(rows.at(-1)?.split(',')[head.split(',').indexOf('svc_id')]);
  };

  test.each([
    ['tickets create', 'subject\nA\n', 'subject\nB\n', 0],
    ['tickets note', 'ticket,body\n8,Call back\n', 'ticket,body\n8,Call again\n', 9],
  ])('of another file does not take an id that %s has made', async (argv, first, second, exitCode) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const results = join(world.folder, 'results.csv');
    const run = (ctx: SandboxWorld, stdin: string) =>
      svc(ctx, [...argv.split(' '), '--from', '-', '--results', results, '--settle', '1', '--yes'], { stdin });
    expect((await run(world, first)).exitCode).toBe(0);
    const made = idIn(results);
    expect(made).toBeGreaterThan(0);
    const ran = await run(naming(world, made), second);
    expect(ran.exitCode, ran.stderr).toBe(exitCode);
    expect(idIn(results)).not.toBe(made);
  });

  test('goes on with a service that was reset and begins its ids again', { tags: ['long'] }, async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const argv = ['tickets', 'create', '--from', '-', '--json'];
    expect((await svc(world, argv, { stdin: 'subject\nA\n' })).exitCode).toBe(0);
    await world.control('POST', 'reset', {});
    const second = await svc(world, [...argv, '--yes'], { stdin: 'subject\nA\nB\n' });
    expect(second.exitCode, second.stderr).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({ done: 2 });
  });
});

test('messages that a service numbers in each thread are found there', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  // Ids of messages as if each thread began at 1.
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (!/\/tickets\/\d+/u.test(request.url)) return answer;
    const { body } = (await world.exchange({
      ...request,
      method: 'GET',
      url: request.url.replace(/\/replies$/u, ''),
      body: undefined,
    })) as HttpResponse;
    const { messages } = (JSON.parse(body) as { ticket: { messages: { id: number }[] } }).ticket;
    const places = new Map(messages.map(({ id }, at) => [id, at + 1]));
    const json = JSON.parse(answer.body) as { message?: { id: number }; ticket?: { messages: { id: number }[] } };
    if (json.message) json.message.id = places.get(json.message.id) ?? 0;
    for (const message of json.ticket?.messages ?? []) message.id = places.get(message.id) ?? 0;
    return { ...answer, body: JSON.stringify(json) };
  };
  const ran = await svc({ ...world, exchange }, ['tickets', 'reply', '--from', '-', '--yes', '--json'], {
    stdin: 'ticket,body\n8,Hi\n9,Hi\n10,Hi\n',
  });
  expect(ran.exitCode, ran.stderr).toBe(0);
});

test('two contacts of one first name are never on their way at once: no answer could be told from the other', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  let [underWay, most] = [0, 0];
  const exchange: typeof world.exchange = async (request) => {
    if (!isWrite(request)) return world.exchange(request);
    most = Math.max(most, ++underWay);
    await world.clock.sleep(100);
    const answer = await world.exchange(request);
    underWay--;
    return answer;
  };
  const run = async (names: readonly string[]) => {
    const rows = names.map((name, at) => `${name},L${at},${name}${at}@example.com,+1312555090${at}`);
    most = 0;
    const ran = await svc({ ...world, exchange }, ['contacts', 'create', '--from', '-'], {
      stdin: ['name,last_name,email,phone', ...rows].join('\n'),
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return most;
  };
  expect(await run(['Anna', 'anna', 'Anna'])).toBe(1);
  expect(await run(['Ben', 'Carl', 'Dora'])).toBeGreaterThan(1);
});

test('of two equal calls of one assistant, answered with one answer, one is done and one is not known', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const before = (await stateOf(world)).tickets?.length ?? 0;
  const { client, end } = await connected(repeating(world, false), ['--allow-write', '--settle', '1']);
  const create = () => client.callTool({ name: 'createTicket', arguments: { subject: 'Same' } });
  const answers = await Promise.all([create(), create()]);
  await end();
  expect(answers.filter(({ isError }) => isError)).toHaveLength(1);
  expect(JSON.stringify(answers)).toContain('may or may not have been created');
  expect((await stateOf(world)).tickets?.length).toBe(before + 1);
});

describe('notes that a service numbers in each ticket', () => {
  /** Ids as if the notes of each ticket began at 1; what is left of the limit goes down. */
  function numbered(world: SandboxWorld): SandboxWorld {
    const notes = new Map<string, number>();
    let left = 1000;
    return {
      ...world,
      async exchange(request) {
        const answer = (await world.exchange(request)) as HttpResponse;
        if (!request.url.endsWith('/notes')) return answer;
        const id = (notes.get(request.url) ?? 0) + 1;
        notes.set(request.url, id);
        const headers = { ...answer.headers, 'x-ratelimit-remaining': String(--left) };
        return { ...answer, headers, body: answer.body.replace(/"id":\d+/u, `"id":${id}`) };
      },
    };
  }
  const run = (world: SandboxWorld, stdin: string) =>
    svc(world, ['tickets', 'note', '--from', '-', '--yes'], { stdin });

  test('are done, in one file and in another', async () => {
    const world = numbered(sandboxWorld({ rateLimit: 'off', seed: few }));
    const first = await run(world, 'ticket,body\n8,Hi\n9,Hi\n8,Hi\n10,Hi\n');
    expect(first.exitCode, first.stderr).toBe(0);
    const second = await run(world, 'ticket,body\n7,Bye\n6,Hi\n');
    expect(second.exitCode, second.stderr).toBe(0);
  });
});

test.each([
  ['tickets', '8'],
  ['conversations', '1'],
])('%s reply: an answer with the id of an older message of the thread is not believed', async (group, id) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const argv = [group, 'reply', id, '--body', 'Hi', '--yes', '--settle', '1', '--json'];
  const exchange: typeof world.exchange = async (request) => {
    if (!isWrite(request)) return world.exchange(request);
    const message = { id: old, channel: 'email', direction: 'out', sender_type: 'operator', body: 'Hi' };
    return { status: 201, headers: {}, body: JSON.stringify({ message, handling_mode: 'human' }) };
  };
  const shown = await svc(world, [group, 'get', id, '--json']);
  const old = Math.min(...JSON.parse(shown.stdout).messages.map((one: { id: number }) => one.id));
  expect((await svc(world, argv)).exitCode).toBe(0);
  const ran = await svc({ ...world, exchange }, argv);
  expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([9, '']);
});
