import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const blanks = ['', '   ', '\n\n', ' \t\r\n ', '\u00a0\u2003', '\u200b\ufeff\u2060'];
const texts: readonly [string, string[], string][] = [
  ['a note', ['tickets', 'note', '7'], '--body'],
  ['a reply by mail', ['tickets', 'reply', '7'], '--body'],
  ['a chat message', ['conversations', 'reply', '1'], '--body'],
  ['a new entry', ['changelog', 'create', '--title', 'News'], '--content'],
  ['an entry', ['changelog', 'update', '1', '--title', 'News'], '--content'],
  ['an entry to publish', ['changelog', 'publish', '1'], '--content'],
];

describe.each(texts)('%s that is blank sends nothing, exit 2', (_, argv, flag) => {
  test.each(blanks)(`as ${flag} %j`, async (blank) => {
    const world = sandboxWorld();
    const ran = await svc(world, [...argv, flag, blank]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(/empty|blank/u);
    expect(world.sent).toEqual([]);
  });

  test.each(blanks)('in a file and on standard input: %j', async (blank) => {
    const world = sandboxWorld();
    const file = join(world.folder, 'text.md');
    writeFileSync(file, blank);
    expect((await svc(world, [...argv, '--body-file', file])).exitCode).toBe(2);
    expect((await svc(world, [...argv, '--body-file', '-'], { stdin: blank })).exitCode).toBe(2);
    expect(world.sent).toEqual([]);
  });

  test.each(blanks)('in the editor: %j', async (blank) => {
    const world = sandboxWorld();
    const ran = await svc(world, [...argv, '--editor'], { answers: [blank], columns: 100 });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(
      /The text is empty\. Nothing was sent\.\nWrite .* and save it, or give --\w+ TEXT or --\w+-file FILE\./u,
    );
    expect(world.sent.filter((line) => !line.startsWith('GET '))).toEqual([]);
  });
});

test('an editor that opens by itself and is left empty sends nothing either', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'create', '--subject', 'Printer'], { answers: [''], columns: 80 });
  expect(ran.exitCode).toBe(2);
  expect(world.sent).toEqual([]);
});

test('an optional text may be empty: that is what it becomes', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'update', '7', '--description', '', '--json']);
  expect(ran.exitCode).toBe(0);
  expect(world.sent).toEqual(['PATCH /tickets/7']);
});

test('space around a text stays as it was given', async () => {
  const ran = await svc(sandboxWorld(), ['tickets', 'note', '7', '--body', '  indented\n', '--json']);
  expect(JSON.parse(ran.stdout)).toMatchObject({ body: '  indented\n' });
});

test('on a terminal svc says that it reads the text from there, and how to end it', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'note', '7', '--body-file', '-'], { columns: 80, typed: 'Called them.\n' });
  expect(ran.exitCode).toBe(0);
  expect(ran.stderr).toMatch(/^Type the text\. Ctrl-D on an empty line ends it\.\n/u);
  const piped = await svc(world, ['tickets', 'note', '7', '--body-file', '-'], { stdin: 'Called them.\n' });
  expect(piped.stderr).not.toContain('Ctrl-D');
});
