// @module-tag long
// What is sent for a row is what it is known by, whatever the file looks like that it stands in.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const words = ['tickets', 'note'];

async function from(world: SandboxWorld, [name, text]: readonly [string, string], flags: readonly string[] = []) {
  const file = join(world.folder, name);
  writeFileSync(file, text);
  world.sent.length = 0;
  const ran = await svc(world, [...words, '--from', file, '--json', ...flags]);
  return { ...ran, writes: world.sent.filter((line) => !line.startsWith('GET')).length };
}

const first = ['f.csv', 'id,body\n8,Café one\n9,Two\n'] as const;
const none: readonly string[] = [];

test.each([
  ['one more column that is not sent', 'g.csv', 'id,body,exported_at\n8,Café one,Monday\n9,Two,Monday\n', none],
  ['another column that is not sent', 'g.csv', 'exported_at,id,body\nMonday,8,Café one\nFriday,9,Two\n', none],
  ['spaces around ids and texts', 'g.csv', 'id,body\n8 ,Café one \n 9, Two\n', none],
  ['numbers of tickets', 'g.csv', 'id,body\nT-1008,Café one\nT-1009,Two\n', none],
  ['ids with a zero or a sign before them', 'g.csv', 'id,body\n08,Café one\n+9,Two\n', none],
  ['another Unicode form', 'g.csv', 'id,body\n8,Cafe\u0301 one\n9,Two\n', none],
  ['a line end in a text', 'g.csv', 'id,body\n8,"Café one\r\n"\n9,"Two\n"\n', none],
  ['other headers', 'g.csv', 'ticket,text\n8,Café one\n9,Two\n', ['--map', 'ticket=id', '--map', 'text=body']],
  ['no header', 'g.csv', '8,Café one\n9,Two\n', ['--no-header', '--map', '#1=id', '--map', '#2=body']],
  ['JSON Lines', 'g.jsonl', '{"id":8,"body":"Café one","x":1}\n{"id":"9","body":"Two","x":2}\n', none],
])('an export with %s sends nothing again, after a whole run and after a part of it', async (_, name, text, flags) => {
  for (const most of [[], ['--max-sends', '1']]) {
    const world = sandboxWorld({ rateLimit: 'off' });
    await from(world, first, most);
    const ran = await from(world, [name, text], flags);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0, writes: most.length > 0 ? 1 : 0 });
    expect(ran.stderr).toMatch(/sent before|sent already|goes on|begun|began|was done/u);
    // And again under its first name.
    expect(await from(world, first)).toMatchObject({ exitCode: 0, writes: 0 });
  }
});

test('rows that send the same count as often as they were sent, whatever else stands in them', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  expect(await from(world, ['f.csv', 'id,body,day\n8,Called,Mon\n8,Called,Tue\n'])).toMatchObject({ writes: 2 });
  expect(await from(world, ['g.csv', 'id,body,week\n8,Called,1\n8,Called,2\n8,Called,3\n'])).toMatchObject({
    writes: 1,
  });
  expect(await from(world, ['h.csv', 'id,body\n8,Called\n8,Called\n8,Called\n'])).toMatchObject({ writes: 0 });
  expect(await from(world, ['h.csv', 'id,body\n8,Called\n9,Called\n'], ['--yes'])).toMatchObject({ writes: 1 });
});

test('--again sends them', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await from(world, first);
  const text = 'id,body,exported_at\n8,Café one,Monday\n9,Two,Monday\n';
  expect(await from(world, ['g.csv', text], ['--again', '--yes'])).toMatchObject({ exitCode: 0, writes: 2 });
  expect(await from(world, ['g.csv', text])).toMatchObject({ exitCode: 0, writes: 0 });
  expect(await from(world, first)).toMatchObject({ exitCode: 0, writes: 0 });
});
