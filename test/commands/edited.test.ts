// What somebody has written in the editor is never lost, and a template is the one that its name says.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const keptIn = async (world: SandboxWorld) => {
  const folder = join(world.folder, 'state', 'unsent');
  const [name = ''] = await readdir(folder);
  return readFile(join(folder, name), 'utf8');
};

test('a query that the copy refuses is kept in a file', { tags: ['long'] }, async () => {
  const world = sandboxWorld();
  await svc(world, ['mirror', 'pull', '--only', 'contacts']);
  const ran = await svc(world, ['views', 'edit', 'urgent'], {
    columns: 80,
    answers: ["SELECT 'ticket' AS kind FROM nowhere"],
  });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('What you wrote is kept in');
  expect(await keptIn(world)).toBe("SELECT 'ticket' AS kind FROM nowhere\n");
});

test.each([
  ['a text that is no template', async () => {}, 'Hello {{'],
  ['a folder that takes no file', (folder: string) => writeFile(join(folder, 'templates'), ''), 'Hello'],
])('%s is kept in a file', async (_, spoil, text) => {
  const world = sandboxWorld();
  await mkdir(join(world.folder, 'config'), { recursive: true });
  await spoil(join(world.folder, 'config'));
  const ran = await svc(world, ['templates', 'edit', 'thanks'], { columns: 80, answers: [text] });
  expect(ran.exitCode).not.toBe(0);
  expect(ran.stderr).toContain('What you wrote is kept in');
  expect(await keptIn(world)).toBe(`${text}\n`);
});

test('a file in the folder that svc is started in does not stand in for the template of that name', async () => {
  const world = sandboxWorld();
  const name = `thanks-${process.pid}`;
  await svc(world, ['templates', 'edit', name, '--text', 'The kept one']);
  await writeFile(name, 'The planted one');
  try {
    const shown = async (named: string) =>
      (await svc(world, ['tickets', 'reply', '8', '--template', named, '--dry-run'])).stdout;
    expect(await shown(name)).toContain('The kept one');
    expect(await shown(`./${name}`)).toContain('The planted one');
  } finally {
    await rm(name);
  }
});

test('a view with a blank in its name is advised as it is typed', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['views', 'edit', 'a b', '--text', "SELECT 'ticket' AS kind, 1 AS id"]);
  expect(ran.stderr).toMatch(/To see it: svc inbox 'a b'$/mu);
});
