// A mistake that everybody makes is answered with what to do next.

import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const toldBy = async (line: string): Promise<string> => {
  const ran = await svc(sandboxWorld(), line.split(' ').filter(Boolean));
  expect({ line, code: ran.exitCode, stdout: ran.stdout }).toEqual({ line, code: 2, stdout: '' });
  return ran.stderr;
};

test.each([
  ['completion', 'svc completion bash'],
  ['sandbox exec', 'svc sandbox exec -- svc contacts list'],
  ['webhooks trigger', 'svc webhooks trigger ticket.created --to'],
  ['mirror search', 'svc mirror search export rows'],
  ['config set', 'svc config set output json'],
])('svc %s without its arguments shows an example', async (line, example) => {
  expect(await toldBy(line)).toMatch(new RegExp(`required\\.\n(?:.*\n)*For example: .*${example}`, 'u'));
});

test('svc mirror sql without a query shows an example', async () => {
  const line = ['mirror', 'sql', '--no-input'];
  const ran = await svc(sandboxWorld(), line, { columns: 80 });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('For example:') });
});

test('a text that is missing names the flags that its command has', async () => {
  expect(await toldBy('changelog create --title News')).toContain('Give --content TEXT or --content-file FILE.\n');
});

test('an argument that a list has is not shown by an example: it would be of another account', async () => {
  expect(await toldBy('tickets get')).not.toContain('For example');
});

test.each([
  ['drafts show x', 'svc drafts list'],
  ['drafts edit x --body y', 'svc drafts list'],
  ['drafts approve x', 'svc drafts list'],
  ['drafts reject x', 'svc drafts list'],
  ['audit show x', 'svc audit list'],
])('svc %s names the list that has the ids', async (line, list) => {
  expect(await toldBy(line)).toContain(`To see the ids: ${list}`);
});

test('a file that is not there is answered with the one of nearly that name, or with where svc looked', async () => {
  const { folder } = sandboxWorld();
  writeFileSync(join(folder, 'contacts.csv'), 'email\na@example.com\n');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'broken.sql'));
  const sync = (name: string) => toldBy(`contacts sync ${join(folder, name)}`);
  expect(await sync('contcts.csv')).toContain(`Did you mean ${join(folder, 'contacts.csv')}?\n`);
  expect(await sync('people.csv')).toContain(`Check the name: svc looked in ${folder}\n`);
  expect(await sync('none/contacts.csv')).toContain(`Check the path: svc cannot look into ${join(folder, 'none')}\n`);
  expect(await toldBy(`mirror sql --file ${join(folder, 'broken.sql')}`)).toContain('Check the name');
  const here = basename(import.meta.filename);
  expect(await toldBy(`mirror sql --file test/commands/${here.replace('what', 'waht')}`)).toContain(
    `Did you mean test/commands/${here}?`,
  );
});

test.each([
  ['', 'x.csv is empty.'],
  ['email\n', 'x.csv has a header but no rows.'],
])('a file without rows says what it needs: %j', async (content, fact) => {
  const file = join(sandboxWorld().folder, 'x.csv');
  writeFileSync(file, content);
  expect(await toldBy(`contacts sync ${file}`)).toContain(
    `${fact}\nCheck what made the file: it needs a row for each record.\n`,
  );
});

test('a name that cannot be typed as it is shown is not proposed', async () => {
  const { folder } = sandboxWorld();
  for (const name of [
    'contacts\n.csv',
    'contacts\x1b.csv',
    'contacts\u202e.csv',
    Buffer.from('contacts\xff.csv', 'latin1'),
  ])
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]), '');
  expect(await toldBy(`contacts sync ${join(folder, 'contacts.csv')}`)).toContain('Check the name');
});

test('a seed that is not there is answered with all that --seed takes', async () => {
  expect(await toldBy('sandbox exec --seed mirorr -- true')).toContain(
    'Did you mean mirror? --seed takes demo, empty, mirror (the copy of your account), or a JSON file.',
  );
});

test('an empty record of writes is told apart from one in which nothing fits', async () => {
  const world = sandboxWorld();
  const list = async (...flags: string[]) => (await svc(world, ['audit', 'list', ...flags], { columns: 80 })).stderr;
  expect(await list()).toContain('Nothing is recorded yet.');
  await svc(world, ['tickets', 'close', '8', '--yes']);
  expect(await list('--outcome', 'unknown')).toContain('No such write is recorded.');
});
