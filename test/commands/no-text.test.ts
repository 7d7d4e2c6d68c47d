import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AnyCommand, Param, TopGroup } from '../../src/command/command.ts';
import { flagName } from '../../src/command/param.ts';
import { entries } from '../../src/commands/index.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** Every flag for a text that people read, with its command and how its text can come from a file. */
const flags = [
  'lists create --notes',
  'tickets create --subject',
  'tickets create --description, --body-file',
  'tickets update --subject',
  'tickets update --description, --body-file',
  'tickets note --body, --body-file',
  'tickets reply --body, --body-file',
  'tickets reply --note',
  'conversations reply --body, --body-file',
  'drafts edit --body, --body-file',
  'drafts reject --reason',
  'changelog create --title',
  'changelog create --content, --body-file',
  'changelog update --title',
  'changelog update --content, --body-file',
  'changelog publish --content, --body-file',
  'changelog release --title',
  'branding update --brand-voice',
  'templates edit --text',
];

const commands: [path: string, command: AnyCommand][] = [];
function walk(node: TopGroup | AnyCommand, path: readonly string[]) {
  if (!('commands' in node)) commands.push([path.join(' '), node]);
  else for (const child of node.commands) walk(child, [...path, child.name]);
}
for (const entry of entries) walk(await entry.load(), [entry.name]);

const prose = commands.flatMap(([path, command]) =>
  Object.entries<Param<unknown>>(command.flags).flatMap(([key, flag]) =>
    flag.prose ? [{ path, name: flagName(key, flag) }] : [],
  ),
);

describe('a text that is only - or @FILE', () => {
  test('is judged for these flags', () => {
    expect(prose.map(({ path, name }) => `${path} --${name}`).sort()).toEqual(
      flags.map((line) => line.replace(/,.*/u, '')).sort(),
    );
  });

  test.each(flags)('%s', async (line) => {
    const [before = '', twin] = line.split(', ');
    const world = sandboxWorld();
    const file = join(world.folder, 'answer.txt');
    writeFileSync(file, 'Hi');
    for (const [text, from] of [
      ['-', '-'],
      ['@-', '-'],
      [`@${file}`, file],
    ] as const) {
      const ran = await svc(world, [...before.split(' '), text], { stdin: 'Hi' });
      expect(ran.exitCode).toBe(2);
      expect(ran.stderr).toContain(`"${text}"`);
      if (twin) expect(ran.stderr).toContain(`${twin} ${from}\n`);
      else expect(ran.stderr).not.toContain('--body-file');
    }
    expect(world.sent).toEqual([]);
  });
});

test('what only begins like that is a text', async () => {
  const world = sandboxWorld();
  mkdirSync(join(world.folder, 'team'));
  for (const text of ['@anna', '- done', '--', `@${world.folder}/team`, `@${'long'.repeat(200)}`]) {
    const ran = await svc(world, ['tickets', 'note', '8', `--body=${text}`, '--json']);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ body: text });
  }
});

test('the flags that are named read it, and the rows of a file are as they are', async () => {
  const world = sandboxWorld();
  const line = ['tickets', 'note', '8', '--json'];
  const read = await svc(world, [...line, '--body-file', '-'], { stdin: 'Hi\n' });
  expect(JSON.parse(read.stdout)).toMatchObject({ body: 'Hi' });
  writeFileSync(join(world.folder, 'rows.csv'), 'id,body\n9,-\n');
  const rows = await svc(world, ['tickets', 'note', '--from', join(world.folder, 'rows.csv'), '--yes']);
  expect(rows).toMatchObject({ exitCode: 0 });
});
