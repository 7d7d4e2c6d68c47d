// A flag that fills blank cells says nothing to a row that has its own: that row is the one that was sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

function setUp(words: readonly string[], text: string, name = 'f.csv') {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const put = (file: string, content: string) => {
    writeFileSync(join(world.folder, file), content);
    return join(world.folder, file);
  };
  put(name, text);
  const run = async (...flags: string[]) => {
    world.sent.length = 0;
    const ran = await svc(world, [...words, '--from', join(world.folder, name), '--yes', '--json', ...flags]);
    return { ...ran, writes: world.sent.filter((line) => !line.startsWith('GET')).length };
  };
  return { put, run };
}

const create = ['tickets', 'create'];

test.each([
  ['f.jsonl', '{"id":8,"nosuch":1}', 'nosuch is no field of this command'],
  [
    'f.jsonl',
    '{"id":8,"subjct":"a","nosuch":1}',
    'subjct, nosuch are no fields of this command; did you mean subject?',
  ],
  ['f.jsonl', '{"id":8}', 'no field of it has a value'],
  ['f.csv', 'id,subject,nosuch\n8,,1', 'subject is empty'],
  ['f.csv', 'id,subject,nosuch\n8,,', 'every cell is empty'],
])('a row of %s that changes nothing says why: %j', async (name, text, why) => {
  const { run } = setUp(
    ['tickets', 'update'],
    `${text}\n${name === 'f.csv' ? '9,Good,' : '{"id":9,"subject":"Good"}'}\n`,
    name,
  );
  const ran = await run();
  expect(ran).toMatchObject({ exitCode: 8, writes: 1 });
  expect(JSON.parse(ran.stdout).errors).toMatchObject([{ error: `changes nothing: ${why}` }]);
});

test.each([
  ['tickets', create, 'subject,description\nOne,d1\n,d2\n', ['--subject', '(none)']],
  ['replies', ['tickets', 'reply'], 'id,body\n8,Hello\n9,\n', ['--body', 'default']],
  ['notes', ['tickets', 'note'], 'id,body\n8,Hello\n9,\n', ['--body', 'default']],
])('%s: the row that was rejected goes out alone, then none', async (_, words, text, flags) => {
  const { run } = setUp(words, text);
  expect(await run()).toMatchObject({ exitCode: 8, writes: 1 });
  const ran = await run(...flags);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, writes: 1 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 2, resumed_rows: 1 });
  expect(ran.stderr).toMatch(/1 row was sent before/u);
  expect(await run(...flags)).toMatchObject({ exitCode: 0, writes: 0 });
  expect(await run()).toMatchObject({ writes: 0 });
});

test.each([
  [
    'a template whose --set a row does not need',
    ['--template', 'T', '--set', 'who=you'],
    ['--template', 'T', '--set', 'who=all'],
  ],
  ['a flag that each row overrides', ['--body', 'one'], ['--body', 'two']],
])('%s', async (name, first, second) => {
  const isTemplate = name.startsWith('a template');
  const { put, run } = setUp(['tickets', 'reply'], isTemplate ? 'id,who\n8,Ada\n9,\n' : 'id,body\n8,Hello\n9,\n');
  const template = put('t.md', 'Hello {{who}}');
  const withFile = (flags: readonly string[]) => flags.map((flag) => (flag === 'T' ? template : flag));
  expect(await run(...withFile(first))).toMatchObject({ exitCode: 0, writes: 2 });
  // The other one gets another text: that is other work.
  expect(await run(...withFile(second))).toMatchObject({ exitCode: 0, writes: 1 });
});

test('rows of JSON, beside --clear-empty and --map-value', async () => {
  const rows = '{"subject":"A","priority":3,"d":"x"}\n{"description":"b"}\n';
  const { run } = setUp(create, rows, 'f.jsonl');
  expect(await run()).toMatchObject({ exitCode: 8, writes: 1 });
  const flags = ['--subject', 'None', '--priority', '1', '--clear-empty', '--map-value', 'd:y=z'];
  expect(await run(...flags)).toMatchObject({ exitCode: 0, writes: 1 });
});

test('another map beside such a flag makes another request of a row that was sent: none goes out', async () => {
  const { run } = setUp(create, 'subject,prio\nOne,3\n,2\n');
  expect(await run('--map', 'prio=ignore')).toMatchObject({ exitCode: 8, writes: 1 });
  const ran = await run('--subject', '(none)', '--map', 'prio=priority');
  expect(ran).toMatchObject({ exitCode: 2, writes: 0 });
  expect(ran.stderr).toContain('as another request: line 2');
});

test('a row with one more cell is not taken for a new one beside such a flag', async () => {
  const { put, run } = setUp(create, 'subject,description\nOne,\n,d2\n');
  expect(await run()).toMatchObject({ exitCode: 8, writes: 1 });
  put('f.csv', 'subject,description\nOne,now filled\n,d2\n');
  const ran = await run('--subject', '(none)');
  expect(ran).toMatchObject({ exitCode: 2, writes: 0 });
  expect(ran.stderr).toContain('holds what was sent before');
});

test('--again sends what this file has not sent, --restart all of it, once', { tags: ['long'] }, async () => {
  for (const [flag, writes] of [
    ['--again', 1],
    ['--restart', 2],
  ] as const) {
    const { run } = setUp(create, 'subject,description\nOne,d1\n,d2\n');
    await run();
    expect(await run('--subject', '(none)', flag)).toMatchObject({ exitCode: 0, writes });
    expect(await run('--subject', '(none)')).toMatchObject({ exitCode: 0, writes: 0 });
    expect(await run()).toMatchObject({ writes: 0 });
  }
});

test('a run with --restart that was stopped goes on with the rows that the flag says nothing to', async () => {
  const { run } = setUp(create, 'subject\nOne\nTwo\n');
  expect(await run()).toMatchObject({ exitCode: 0, writes: 2 });
  expect(await run('--subject', 'x', '--restart', '--max-sends', '1')).toMatchObject({ exitCode: 8, writes: 1 });
  expect(await run('--subject', 'x')).toMatchObject({ exitCode: 0, writes: 1 });
});

test('rows that are known by what they send count once, also after they have moved to another file', async () => {
  const { put, run } = setUp(create, 'subject,day\nOne,Mon\n');
  expect(await run()).toMatchObject({ writes: 1 });
  put('f.csv', 'subject,week\nOne,1\n');
  expect(await run('--subject', 'x')).toMatchObject({ exitCode: 0, writes: 0 });
  put('f.csv', 'subject,week\nOne,1\nOne,2\n');
  expect(await run('--subject', 'x')).toMatchObject({ exitCode: 0, writes: 1 });
  expect(await run()).toMatchObject({ exitCode: 0, writes: 0 });
});
