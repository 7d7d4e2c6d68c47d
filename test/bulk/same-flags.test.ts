// What the command line says for every row is the same however it is spelled, as a cell is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

function setUp(words: readonly string[], rows: string) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const put = (name: string, text: string) => {
    writeFileSync(join(world.folder, name), text);
    return join(world.folder, name);
  };
  const file = put('f.csv', rows);
  const run = async (...flags: string[]) => {
    world.sent.length = 0;
    const ran = await svc(world, [...words, '--from', file, '--yes', '--json', ...flags]);
    return { ...ran, writes: world.sent.filter((line) => !line.startsWith('GET')).length };
  };
  return { put, run };
}

const first = 'Hello {{name}},\nticket {{ id }} is done.\n';

test.each([
  ['CR LF at the end of each line', first.replaceAll('\n', '\r\n')],
  ['no spaces in its braces', first.replace('{{ id }}', '{{id}}')],
  ['more spaces in its braces, and a line more', `${first.replace('{{name}}', '{{  name }}')}\n`],
])('a template with %s sends no reply twice', async (_, text) => {
  const { put, run } = setUp(['tickets', 'reply'], 'id,name\n8,Ada\n9,Bo\n');
  expect(await run('--template', put('t.md', first))).toMatchObject({ exitCode: 0, writes: 2 });
  expect(await run('--template', put('t.md', text))).toMatchObject({ exitCode: 0, writes: 0 });
  expect(await run('--template', put('t.md', `${text}Bye.`))).toMatchObject({ exitCode: 0, writes: 2 });
});

test('a --set that fills nothing in changes nothing', async () => {
  const { put, run } = setUp(['tickets', 'reply'], 'id\n8\n');
  const template = put('t.md', 'Hello {{who}}');
  expect((await run('--template', template, '--set', 'who=Ada')).writes).toBe(1);
  expect((await run('--template', template, '--set', 'who=Ada', '--set', 'y=2')).writes).toBe(0);
  expect((await run('--template', template, '--set', 'who=Bo')).writes).toBe(1);
});

test('spaces around the text of a flag make no new ticket', { tags: ['long'] }, async () => {
  const { run } = setUp(['tickets', 'create'], 'subject\nOne\n');
  expect((await run('--description', 'Hello')).writes).toBe(1);
  for (const text of ['Hello ', 'Hello\n', ' Hello']) expect((await run('--description', text)).writes).toBe(0);
  expect((await run('--description', 'Hello!')).writes).toBe(1);
});
