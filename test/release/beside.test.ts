// Links and images of an entry that lead to files which the portal does not have.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBeside } from '../../src/release/beside.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test.each([
  ['![Shot](images/shot.png) and [more](../docs/more.md#part)', ['images/shot.png', '../docs/more.md#part']],
  ['[one][a] and ![two][a]\n\n[a]: ./a.png', ['./a.png']],
  ['<img alt="x" src="b.gif"> <a href=\'c.md\'>c</a>', ['b.gif', 'c.md']],
  ['[site](https://example.com/a.png), <mailto:a@example.com>, a@example.com, www.example.com', []],
  ['[here](#part), [portal](/changelog/1), [cdn](//cdn.example.com/a.png), [query](?a=1), [none]()', []],
  ['`[code](a.md)` and\n\n    <img src="a.png">', []],
])('of %s svc names those that lie beside the text', (text, files) => {
  expect(filesBeside(text)).toEqual(files);
});

test('a text that cannot be read as Markdown names none', () => {
  expect(filesBeside(`${'a*'.repeat(30_000)} [x](a.md)`)).toEqual([]);
});

test('a release and an entry from a file say so, once and before anything is sent', async () => {
  const world = sandboxWorld({ seed: 'empty' });
  const text = 'See ![Shot](images/shot.png), [a](a.md), [b](b.md), [c](c.md) and [a](a.md).';
  writeFileSync(join(world.folder, 'CHANGELOG.md'), `# Changelog\n\n## 1.0.0\n\n${text}\n`);
  writeFileSync(join(world.folder, 'notes.md'), `${text}\n`);
  const told =
    'The portal has no images/shot.png, a.md, b.md, and 1 more: a link or an image there needs its whole address (https://…).\n';
  const inFolder = (name: string) => join(world.folder, name);
  for (const argv of [
    ['release', '--from', inFolder('CHANGELOG.md'), '--dry-run'],
    ['release', '2.0.0', '--notes-file', inFolder('notes.md')],
    ['create', '--title', 'Faster', '--body-file', inFolder('notes.md')],
    ['update', '2', '--body-file', inFolder('notes.md')],
  ]) {
    const ran = await svc(world, ['changelog', ...argv]);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(ran.stderr).toContain(told);
    expect(ran.stderr.split('The portal has no')).toHaveLength(2);
  }
});

test('of a text that is refused for its length nothing more is said', async () => {
  const world = sandboxWorld({ seed: 'empty' });
  const path = join(world.folder, 'long.md');
  writeFileSync(path, `[a](a.md) ${'x'.repeat(60_000)}`);
  const ran = await svc(world, ['changelog', 'create', '--title', 'Faster', '--body-file', path]);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('may have at most 60000 characters');
  expect(ran.stderr).not.toContain('The portal has no');
});
