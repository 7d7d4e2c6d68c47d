// Templates and views of one's own are deleted once somebody has agreed.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test.each([
  ['templates', 'thanks', 'Thank you, {{contact.name}}.'],
  ['views', 'urgent', "SELECT 'ticket' AS kind, id FROM tickets WHERE priority = 4"],
])('svc %s delete %s asks, and takes --yes in its place', async (group, name, text) => {
  const world = sandboxWorld();
  const run = (words: string[], options = {}) => svc(world, [group, ...words], options);
  const isThere = async () => (await run(['show', name])).exitCode === 0;
  await run(['edit', name, '--text', text]);
  const inPipe = await run(['delete', name]);
  expect(inPipe).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('Pass --yes.') });
  expect((await run(['delete', name], { columns: 80, answers: [false] })).exitCode).toBe(1);
  expect(await isThere()).toBe(true);
  const done = await run(['rm', name, '--yes']);
  expect(done).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining(`${name} is deleted: `) });
  expect(await isThere()).toBe(false);
  expect(await run(['delete', name, '--yes'])).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(`There is no ${group.slice(0, -1)} ${name}.`),
  });
  await run(['edit', name, '--text', text]);
  expect((await run(['delete', name], { columns: 80, answers: [true] })).exitCode).toBe(0);
  expect(await isThere()).toBe(false);
});

test('a view that svc brings, and a file elsewhere, are not deleted', async () => {
  const world = sandboxWorld();
  const brought = await svc(world, ['views', 'delete', 'waiting', '--yes']);
  expect(brought).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is a view that svc brings') });
  expect((await svc(world, ['templates', 'delete', '../config.json', '--yes'])).exitCode).toBe(3);
  expect((await svc(world, ['views', 'delete', '../x', '--yes'])).exitCode).toBe(2);
});

test.each([
  ['templates', 'md', 3],
  ['views', 'sql', 2],
])('a folder in the place of one is none of the %s, and stays', async (group, ending, exitCode) => {
  const world = sandboxWorld();
  const folder = join(world.folder, 'config', group, `dir.${ending}`);
  mkdirSync(folder, { recursive: true });
  const none = /There is no (?:template|view) dir\.|dir\.(?:sql|md) is a folder/u;
  const run = (...words: string[]) => svc(world, [group, ...words]);
  expect(await run('delete', 'dir', '--yes')).toMatchObject({ exitCode, stderr: expect.stringMatching(none) });
  expect(await run('show', 'dir')).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(none) });
  const text = "SELECT 'ticket' AS kind, id FROM tickets";
  expect(await run('edit', 'dir', '--text', text)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(none) });
  const list = await run('list');
  expect([list.exitCode, list.stdout]).toEqual([0, expect.not.stringContaining('dir')]);
  expect(existsSync(folder)).toBe(true);
});
