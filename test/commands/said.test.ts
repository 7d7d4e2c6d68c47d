// What commands say beside what they print.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pulledWorld } from '../mirror/engines.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('a title begins no line of its own, which a build might take for a command', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['changelog', 'create', '--title', 'One\n::error::two', '--content', 'Text']);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(ran.stderr).toContain('::error::two');
  expect(ran.stderr).not.toMatch(/^::error/mu);
});

test('lists add says of a contact without a name that it needs one, and sends nothing', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'people.csv');
  writeFileSync(file, 'email\nnameless@fieldnote.test\n');
  expect((await svc(world, ['contacts', 'sync', file, '--yes'])).exitCode).toBe(0);
  world.sent.length = 0;
  const ran = await svc(world, ['lists', 'add', '1', '--contact', 'nameless@fieldnote.test', '--yes']);
  expect(ran).toMatchObject({ exitCode: 6, stdout: '' });
  expect(ran.stderr).toContain('has no name. Adding to a list needs one.');
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
});

test.each([
  ['report.json', [], /tabs between the cells.*--output json/u],
  ['report.txt', [], undefined],
  ['report.json', ['--output', 'json'], undefined],
] as const)('report --out %s %j', async (name, flags, note) => {
  const world = await pulledWorld();
  const out = join(world.folder, name);
  const ran = await svc(world, ['report', '--out', out, ...flags]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(readFileSync(out, 'utf8').startsWith('{')).toBe(flags.length > 0);
  expect(ran.stderr).toContain(`Wrote ${out}.\n`);
  if (note) expect(ran.stderr).toMatch(note);
  else expect(ran.stderr).not.toContain('tabs');
});
