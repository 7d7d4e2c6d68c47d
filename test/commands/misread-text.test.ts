// Bytes that are no UTF-8 come from the system as U+FFFD: no customer is to read that in place of what was written.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const misread = 'Gr\uFFFD\uFFFDe';

test.each([
  [['tickets', 'reply', '8', '--body', misread, '--yes'], '--body', true],
  [['tickets', 'note', '8', '--body', misread], '--body', true],
  [['tickets', 'create', '--subject', misread, '--description', 'It fails.'], '--subject', false],
  [['contacts', 'create', '--name', misread], '--name', false],
  [['lists', 'create', '--name', misread], '--name', false],
  [['drafts', 'reject', '1', '--reason', misread], '--reason', false],
  [['templates', 'edit', 'thanks', '--text', misread], '--text', false],
  [['api', '/contacts', '--raw-field', `first_name=${misread}`], '--raw-field', false],
] as const)('%j is refused before anything is sent', async (argv, flag, hasFile) => {
  const world = sandboxWorld();
  const ran = await svc(world, argv);
  expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(`${flag} holds the sign \uFFFD`)]);
  expect(ran.stderr.includes('--body-file FILE')).toBe(hasFile);
});

test('a text that really has that sign comes from a file', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'text');
  await writeFile(file, misread);
  const ran = await svc(world, ['tickets', 'note', '8', '--body-file', file, '--json']);
  expect([ran.exitCode, ran.stdout]).toEqual([0, expect.stringContaining(misread)]);
});

test('whoever looks for that sign may', async () => {
  const ran = await svc(sandboxWorld(), ['tickets', 'list', '--search', misread]);
  expect([ran.exitCode, ran.stdout]).toEqual([0, '']);
});

test('a column whose header really has that sign is named by it', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'rows.csv');
  await writeFile(file, `email,Pr\uFFFDnom\na@example.com,Ann\n`);
  for (const argv of [
    ['contacts', 'sync', file, '--map', 'Pr\uFFFDnom=name'],
    ['contacts', 'sync', file, '--map', 'Pr\uFFFDnom=name', '--skip', 'Pr\uFFFDnom=Ben'],
    ['contacts', 'create', '--from', file, '--map', 'Pr\uFFFDnom=name', '--map-value', 'Pr\uFFFDnom:Ann=Anna'],
  ])
    expect((await svc(world, [...argv, '--dry-run'])).stderr).not.toContain('holds the sign');
});
