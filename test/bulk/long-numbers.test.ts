// Numbers of JSON that a number cannot carry: nothing rounded is sent, and ids of other systems keep their digits.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off' });

const put = (world: SandboxWorld, name: string, text: string): string => {
  writeFileSync(join(world.folder, name), text);
  return join(world.folder, name);
};

const writes = ({ sent }: SandboxWorld) => sent.filter((line) => !line.startsWith('GET'));

const event = (order: string) =>
  `{"event_type":"purchase","event_id":"e1","contact":{"email":"a@b.example"},"metadata":{"order":${order},"list":[1]}}\n`;

test.each([
  ['events send --from', event('12345678901234567890'), 'metadata.order', '12345678901234567890'],
  ['contacts update --from', '{"id":7,"metadata":{"ids":[1,9007199254740993]}}\n', 'metadata.ids', '9007199254740993'],
  ['contacts update --from', 'id,metadata\n7,"{""a"":9007199254740993}"\n', 'metadata', '9007199254740993'],
  ['contacts update --from', '{"id":7,"metadata":{"a":9007199254740993.5}}\n', 'metadata.a', '9007199254740993.5'],
  ['contacts sync', 'email,metadata\na@b.example,"{""a"":9007199254740993}"\n', 'metadata', '9007199254740993'],
] as const)('%s refuses %j before anything is sent, with its place', async (words, text, place, number) => {
  const world = fresh();
  const ran = await svc(world, [...words.split(' '), put(world, 'rows', text), '--json']);
  expect(ran.exitCode, ran.stderr).toBe(2);
  expect(ran.stdout).toContain(
    `${place} holds ${number}, and a number keeps no more than 16 digits: write it in quotes`,
  );
  expect(writes(world)).toEqual([]);
});

test('in quotes it is sent as it stands', async () => {
  const world = fresh();
  const bodies: string[] = [];
  const exchange: typeof world.exchange = (request) => {
    if (request.method !== 'GET') bodies.push(String(request.body));
    return world.exchange(request);
  };
  const file = put(world, 'rows', '{"id":7,"metadata":{"order":"12345678901234567890","n":1700000000000000000}}\n');
  const ran = await svc({ ...world, exchange }, ['contacts', 'update', '--from', file]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(bodies).toEqual(['{"metadata":{"order":"12345678901234567890","n":1700000000000000000}}']);
});

test.each(['r.jsonl', 'r.csv'])(
  'ids of the other system keep their digits in %s, and lead to their own record',
  async (name) => {
    const world = fresh();
    const [one, two] = ['9007199254740993', '9007199254740992'];
    const results = join(world.folder, name);
    const tickets = put(world, 't.jsonl', `{"old":${one},"subject":"One"}\n{"old":${two},"subject":"Two"}\n`);
    expect((await svc(world, ['tickets', 'create', '--from', tickets, '--results', results])).exitCode).toBe(0);
    const text = readFileSync(results, 'utf8');
    const idOf = (old: string) => {
      const line = text.split(/\r?\n/u).find((each) => each.includes(old)) ?? '';
      return Number(name.endsWith('.csv') ? line.split(',')[4] : JSON.parse(line).svc_id);
    };
    world.sent.length = 0;
    const map = ['--map', 'ticket=id', '--id-map', `${results}:old`];
    for (const [old, notes] of [
      [one, `{"ticket":${one},"body":"For one"}\n`],
      [two, `ticket,body\n${two},For two\n`],
    ] as const) {
      const ran = await svc(world, ['tickets', 'note', '--from', put(world, 'n', notes), ...map]);
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(writes(world).at(-1)).toBe(`POST /tickets/${idOf(old)}/notes`);
    }
  },
);

test('rows that differ in such an id alone are two rows, in whichever form it stands', async () => {
  const world = fresh();
  const create = (text: string) => svc(world, ['tickets', 'create', '--from', put(world, 't', text), '--json']);
  await create('{"old":9007199254740993,"subject":"One"}\n');
  expect(JSON.parse((await create('{"old":"9007199254740993","subject":"One"}\n')).stdout)).toMatchObject({
    resumed_rows: 1,
  });
  expect(writes(world)).toHaveLength(1);
});

test('a cell of a table that is too large for a number is no number', async () => {
  const world = fresh();
  const file = put(world, 't.csv', 'subject,contact_id\nOne,9007199254740993\n');
  const ran = await svc(world, ['tickets', 'create', '--from', file, '--json']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stdout).toContain('must be a smaller number than 9007199254740993');
});

test('svc api -F and contacts create --file send no rounded number', async () => {
  const world = fresh();
  const ran = await svc(world, ['api', '/tickets', '-f', 'subject=One', '-F', 'metadata[k]=12345678901234567890']);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('-f') });
  const file = put(world, 'c.json', '{"contacts":[{"email":"a@b.example","metadata":{"k":9007199254740993}}]}');
  const batch = await svc(world, ['contacts', 'create', '--file', file]);
  expect(batch).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('write it in quotes') });
  expect(writes(world)).toEqual([]);
  expect((await svc(world, ['api', '/tickets', '-f', 'subject=One', '-F', 'priority=2'])).exitCode).toBe(0);
});
