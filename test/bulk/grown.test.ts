// Rows that hold what was sent before, and more: an export with one more column.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });

async function from(
  world: SandboxWorld,
  [name, text]: readonly [name: string, text: string],
  flags: readonly string[] = [],
  words: readonly string[] = ['tickets', 'create'],
) {
  const file = join(world.folder, name);
  writeFileSync(file, text);
  world.sent.length = 0;
  const ran = await svc(world, [...words, '--from', file, '--json', ...flags]);
  const writes = world.sent.filter((line) => !line.startsWith('GET')).length;
  return { ...ran, writes, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

const plain = ['a.csv', 'subject\nRow 1\nRow 2\n'] as const;

test.each([
  ['that is sent', 'subject,priority\nRow 1,3\nRow 2,1\n'],
  ['of a JSON file', '{"subject":"Row 1","priority":3}\n{"subject":"Row 2","priority":3}\n'],
])('with one more filled column %s are refused before the first row, whatever --yes says', async (_, text) => {
  const world = fresh();
  expect((await from(world, plain)).report).toMatchObject({ done: 2 });
  for (const flags of [[], ['--yes']]) {
    const ran = await from(world, ['b.csv', text], flags);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', writes: 0 });
    expect(ran.stderr).toMatch(/2 rows of b\.csv hold what was sent before, at .* from a\.csv, and more/u);
    expect(ran.stderr).toContain('--again');
  }
  expect((await from(world, ['b.csv', text], ['--again', '--yes'])).report).toMatchObject({ done: 2 });
});

test('in the same file, with --yes as a script passes it: a customer hears nothing twice', async () => {
  const world = fresh();
  const reply = ['tickets', 'reply'];
  await from(world, ['r.csv', 'id,body\n1,Hello\n'], ['--yes'], reply);
  const ran = await from(world, ['r.csv', 'id,body,template_note\n1,Hello,x\n2,Hello,x\n'], ['--yes'], reply);
  expect(ran.writes).toBe(1);
  const other = await from(world, ['s.csv', 'id,body,sent on\n1,Hello,Monday\n'], ['--yes'], reply);
  expect(other).toMatchObject({ exitCode: 0, writes: 0 });
});

test('in which a cell is filled that was empty', async () => {
  const world = fresh();
  await from(world, ['a.csv', 'subject,priority\nRow 1,\nRow 2,2\n']);
  const ran = await from(world, ['b.csv', 'subject,priority\nRow 1,3\nRow 2,2\n']);
  expect(ran).toMatchObject({ exitCode: 2, writes: 0 });
  expect(ran.stderr).toContain('1 row of b.csv holds what was sent before');
  expect(ran.stderr).toContain('line 2');
});

test('of a run that is not finished are refused too', async () => {
  const world = fresh();
  await from(world, plain, ['--max-sends', '1']);
  const ran = await from(world, ['b.csv', 'subject,priority\nRow 1,3\nRow 2,1\n']);
  expect(ran).toMatchObject({ exitCode: 2, writes: 0 });
  expect(ran.stderr).toContain('1 row of b.csv holds');
});

test.each([
  ['an added column that is empty changes no row', 'subject,priority\nRow 1,\nRow 2,\n', 0],
  ['other values are other rows', 'subject,priority\nRow 3,1\nRow 4,2\n', 2],
  ['a row beside the one that was sent is one more', 'subject,priority\nRow 1,\nRow 1,3\nRow 2,\n', 1],
  ['fewer columns are other rows', 'priority,subject,description\n,New,\n', 1],
])('%s', async (_, text, writes) => {
  const world = fresh();
  await from(world, plain);
  expect(await from(world, ['b.csv', text])).toMatchObject({ exitCode: 0, writes });
});

test('what was rejected may come again with what it lacked', async () => {
  const world = fresh();
  const first = await from(world, ['a.csv', 'subject,description\nRow 1,D\n,Only this\n']);
  expect(first.report).toMatchObject({ done: 1, rejected: 1 });
  expect(await from(world, ['b.csv', 'subject,description\nRow 2,Only this\n'])).toMatchObject({ writes: 1 });
});

test('where twice is once, one more column is one more change', async () => {
  const world = fresh();
  const words = ['tickets', 'update'];
  await from(world, ['a.csv', 'id,priority\n1,3\n'], [], words);
  expect(await from(world, ['b.csv', 'id,priority,subject\n1,3,New\n'], [], words)).toMatchObject({ writes: 1 });
});

test('a column that --map says to ignore is none that came since', async () => {
  const world = fresh();
  await from(world, ['a.csv', 'subject,text\nRow 1,D\nRow 2,D\n'], ['--map', 'text=description']);
  const text = 'subject,text,grp\nRow 1,D,x\nRow 2,D,y\nRow 2,D,z\n';
  expect(await from(world, ['b.csv', text])).toMatchObject({ exitCode: 2, writes: 0 });
  // Without the column they are the rows of then; the last one is one more.
  for (const writes of [1, 0]) {
    const ran = await from(world, ['b.csv', text], ['--map', 'text=description', '--map', 'grp=ignore']);
    expect(ran).toMatchObject({ exitCode: 0, writes });
    expect(ran.report).toMatchObject({ rows: 3, done: 3 });
  }
  const more = ['c.csv', 'subject,text,grp,priority\nRow 1,D,x,3\n'] as const;
  expect(await from(world, more, ['--map', 'grp=ignore'])).toMatchObject({ exitCode: 2, writes: 0 });
});

const withNew = ['b.csv', 'subject,contact\nRow 1,new@zd.example\n'] as const;

test('are refused before --create-contacts makes anybody', async () => {
  const world = fresh();
  await from(world, plain);
  const ran = await from(world, withNew, ['--create-contacts']);
  expect(ran).toMatchObject({ exitCode: 2, writes: 0 });
  expect(ran.stderr).toContain('Nothing was sent now');
});

test('a "no" to --again comes before --create-contacts makes anybody, and the question comes once', async () => {
  const world = fresh();
  await from(world, plain);
  const known = ['b.csv', 'subject,contact\nRow 1,\nRow 3,new@zd.example\n'] as const;
  expect(await from(world, known, ['--create-contacts', '--again'])).toMatchObject({ exitCode: 2, writes: 0 });
  const file = join(world.folder, 'b.csv');
  const argv = ['tickets', 'create', '--from', file, '--create-contacts', '--again'];
  world.sent.length = 0;
  await svc(world, argv, { columns: 80, answers: [false] });
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
  const agreed = await svc(world, argv, { columns: 80, answers: [true] });
  expect(agreed, agreed.stderr).toMatchObject({ exitCode: 0 });
  expect(world.sent.filter((line) => line === 'POST /tickets')).toHaveLength(2);
  expect(world.sent.filter((line) => line.endsWith('/account'))).toHaveLength(2);
});

test('contacts that were made before the file changed are told, and nothing says that nothing was sent', async () => {
  const world = fresh();
  const exchange: SandboxWorld['exchange'] = (request) => {
    if (request.url.endsWith('/contacts/sync')) writeFileSync(join(world.folder, 'b.csv'), 'subject\nOther\n');
    return world.exchange(request);
  };
  const ran = await from({ ...world, exchange }, withNew, ['--create-contacts']);
  expect(ran).toMatchObject({ writes: 1 });
  expect(ran.exitCode).not.toBe(0);
  expect(ran.stderr).not.toContain('Nothing was sent');
  expect(ran.stderr).toMatch(/contacts? w\w+ /u);
});
