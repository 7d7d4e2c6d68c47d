// What was sent for a row stays sent, in whatever form of the rows a later run asks for it, and whatever went for the row since.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, writesOf } from './drafting.ts';

const texts = {
  'a.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  'copy.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  'third.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  // These have a row of their own, too: a run that sends nothing leaves nothing.
  'other.csv': 'id,body\n12,Hello Cy\n9,Hello Bob\n8,Hello Ann\n11,Hello Di\n',
  'map.csv': 'id,text\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n11,Hello Ed\n',
  'name.csv': 'id,name\n8,Ann\n9,Bob\n12,Cy\n11,Flo\n',
  'both.csv': 'id,body,more\n8,Hello Ann,Bye\n9,Hello Bob,Bye\n12,Hello Cy,Bye\n',
  'hello.md': 'Hello {{name}}',
} as const;

function files() {
  const at = desk();
  const put = (name: string, text: string) => writeFileSync(join(at.world.folder, name), text);
  for (const [name, text] of Object.entries(texts)) put(name, text);
  const of = (name: string): readonly string[] => {
    if (name === 'map.csv') return ['--map', 'text=body'];
    return name === 'name.csv' ? ['--template', join(at.world.folder, 'hello.md')] : [];
  };
  const line = (name: string, ...flags: readonly string[]) => [
    'tickets',
    'reply',
    '--from',
    join(at.world.folder, name),
    ...of(name),
    '--yes',
    '--json',
    ...flags,
  ];
  const sent = () => writesOf(at.world).length;
  return { ...at, put, line, sent };
}

test('what was sent before the row went as another request stays sent', async () => {
  const { ok, line, sent } = files();
  const [hello, bye] = [
    ['--map', 'more=ignore'],
    ['--map', 'body=ignore', '--map', 'more=body'],
  ];
  await ok(line('both.csv', ...hello));
  await ok(line('both.csv', ...bye, '--again'));
  expect(sent()).toBe(6);
  await ok(line('a.csv'));
  for (const flags of [hello, bye]) await ok(line('both.csv', ...flags));
  expect(sent()).toBe(6);
});

test('a row that the service refused in one file, and that is a draft or sent from another, is what it is there', async () => {
  for (const more of [['--draft'], []]) {
    const { world, ok, run, json, line, sent } = files();
    await world.control('POST', 'faults', {
      method: 'POST',
      path: '/tickets/9/',
      action: 'status',
      status: 422,
      times: 1,
    });
    expect((await run(line('a.csv'))).exitCode).toBe(8);
    expect(sent()).toBe(3);
    await ok(line('name.csv', ...more));
    expect(sent()).toBe(more.length === 0 ? 5 : 3);
    const { stdout } = await ok(line('a.csv'));
    expect(JSON.parse(stdout)).toMatchObject({ done: 3, rejected: 0, ...(more.length > 0 && { drafted: 1 }) });
    if (more.length > 0) expect(await json('drafts list')).toHaveLength(2);
  }
});
