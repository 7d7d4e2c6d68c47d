import { describe, expect, test } from 'vitest';
import type { AnyCommand, Group, TopGroup } from '../../src/command/command.ts';
import { entries, loadEntry } from '../../src/commands/index.ts';
import { manPages } from '../../src/program/man.ts';
import { topicTexts } from '../../src/program/topic-texts.ts';
import { topics } from '../../src/program/topics.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** The words that lead to each group and command, in the order of the tree. */
async function paths(): Promise<string[][]> {
  const found: string[][] = [];
  const walk = (node: TopGroup | AnyCommand, path: string[]) => {
    found.push(path);
    if ('commands' in node) for (const child of node.commands) walk(child, [...path, child.name]);
  };
  for (const entry of entries) walk(await entry.load(), [entry.name]);
  return found;
}

/** `npx vitest run test/commands/help.test.ts -u` writes it anew. */
test('the whole help is as it was last read by a person', async () => {
  const world = sandboxWorld();
  const sections = [(await svc(world, ['--help'])).stdout, ...Object.values(topicTexts).map((text) => text())];
  for (const path of await paths()) {
    const ran = await svc(world, [...path, '--help']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    sections.push(`── svc ${path.join(' ')} ──\n\n${ran.stdout}`);
  }
  await expect(sections.join('\n')).toMatchFileSnapshot('help.txt');
});

test('help is the same however it is asked for', async () => {
  const world = sandboxWorld();
  const asked = await svc(world, ['contacts', 'sync', '--help']);
  expect(await svc(world, ['help', 'contacts', 'sync'])).toEqual(asked);
  expect((await svc(world, ['contacts', '--help'])).stdout).toBe((await svc(world, ['contacts'])).stdout);
});

test.each([60, 80, 120, 200])(
  'at %i columns no help and no topic has a line that the terminal would break',
  async (columns) => {
    const world = sandboxWorld();
    const texts = new Map<string, readonly string[]>(topics.map(({ name }) => [name, ['help', name]]));
    for (const path of [[], ...(await paths())]) texts.set(path.join(' '), [...path, '--help']);
    for (const [name, argv] of texts) {
      const { stdout } = await svc(world, argv, { columns });
      // A word alone may be longer than a line, and so may a quoted one of an example.
      const words = (line: string) => line.match(/"(?:\\.|[^"])*"|'[^']*'|\S+/gu) ?? [];
      const isOneWord = (line: string) => words(line.replace(/^ *\$? /u, '')).length < 3;
      // What is to be copied from a table is a line, whatever its length.
      const isToCopy = (line: string) => installs.includes(line.trim());
      const broken = stdout.split('\n').filter((line) => line.length > columns && !isOneWord(line) && !isToCopy(line));
      expect([name, broken]).toEqual([name, []]);
    }
  },
);

/** How each shell is told of the completions. */
const installs = [
  "echo 'source <(svc completion bash)' >> ~/.bashrc",
  "echo 'source <(svc completion zsh)' >> ~/.zshrc",
  'mkdir -p ~/.config/fish/completions && svc completion fish > ~/.config/fish/completions/svc.fish',
  "Add-Content $PROFILE 'iex (svc completion powershell | Out-String)'",
];

test.each([40, 60, 80, 120, undefined])(
  'at %s columns a line to copy from a table in a help is a line',
  async (columns) => {
    const { stdout } = await svc(sandboxWorld(), ['completion', '--help'], { ...(columns && { columns }) });
    const lines = stdout.split('\n');
    for (const install of installs) {
      const [line = ''] = lines.filter((one) => one.endsWith(install));
      expect(line).toMatch(/^ {2}(?:(?:bash|zsh|fish|PowerShell) +| {2}).*$/u);
      expect(line.slice(0, -install.length).trim().split(' ')).toHaveLength(1);
    }
    const page = (await manPages('2026-01-31')).get('svc-completion.1') ?? '';
    for (const install of installs)
      expect(page.replaceAll(/\\(?=-)/gu, '').split('\n')).toContainEqual(expect.stringMatching(endingIn(install)));
  },
);

const endingIn = (text: string) => new RegExp(`${text.replaceAll(/[$()[\]|.^?*+]/gu, '\\$&')}$`, 'u');

test('a long example stays one command that can be pasted', async () => {
  const world = sandboxWorld();
  const { stdout } = await svc(world, ['contacts', 'create', '--help'], { columns: 60 });
  const [, example = ''] = /Examples:\n {2}\$ ([\s\S]*)$/u.exec(stdout) ?? [];
  expect(example.replaceAll(/ \\\n +/gu, ' ').trim()).toBe(
    'svc contacts create --name Ada --last-name Byron --email ada@example.com --phone +12025550123',
  );
});

describe('help', () => {
  test.each([
    [
      ['contacts', 'help'],
      ['contacts', '--help'],
    ],
    [
      ['contacts', 'help', 'sync'],
      ['contacts', 'sync', '--help'],
    ],
    [
      ['webhooks', 'inbox', 'help'],
      ['webhooks', 'inbox', '--help'],
    ],
    [
      ['mcp', 'help'],
      ['mcp', '--help'],
    ],
    [
      ['contacts', 'ls', '--help'],
      ['contacts', 'list', '--help'],
    ],
  ])('%j is %j', async (one, other) => {
    const world = sandboxWorld();
    const asked = await svc(world, other);
    expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(asked.stdout).not.toBe('');
    expect(await svc(world, one)).toEqual(asked);
  });

  test.each([
    ['nonsense --help', 'Run: svc --help'],
    ['contacts nonsense --help', 'Run: svc contacts --help'],
    ['contacts nonsense -p x', 'Run: svc contacts --help'],
    ['webhooks inbox nonsense --help', 'Run: svc webhooks inbox --help'],
    ['open', 'Run: svc --help'],
    ['contcats list', 'Did you mean: svc contacts'],
    ['tickets resovle 7', 'Did you mean: svc tickets resolve'],
    ['contacts help nonsense', 'Run: svc contacts --help'],
  ])('svc %s: there is no such command, exit 2', async (line, hint) => {
    const ran = await svc(sandboxWorld(), line.split(' '));
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain("Unknown command '");
    expect(ran.stderr).toContain(hint);
  });
});

test('set is never proposed to whoever typed get', async () => {
  const ran = await svc(sandboxWorld(), ['lists', 'get', '1']);
  expect(ran).toMatchObject({
    exitCode: 2,
    stderr: "Error: Unknown command 'get'.\nDid you mean: svc lists members\n",
  });
});

test('what a command does is a phrase in a list, and a sentence on its own page', async () => {
  const world = sandboxWorld();
  const nodes: (readonly [words: string[], summary: string])[] = [];
  const walk = (node: Group | AnyCommand, path: string[]) => {
    nodes.push([path, node.summary]);
    if ('commands' in node) for (const child of node.commands) walk(child, [...path, child.name]);
  };
  for (const entry of entries) walk(await loadEntry(entry), [entry.name]);
  for (const [words, summary] of nodes) {
    expect([words, summary]).toEqual([words, expect.not.stringMatching(/[.;:]$/u)]);
    const { stdout } = await svc(world, [...words, '--help'], { columns: 200 });
    expect([words, stdout.replaceAll('\n', ' ').includes(`${summary}.`)]).toEqual([words, true]);
  }
});

test('what overwrites a text says so', async () => {
  const { stdout } = await svc(sandboxWorld(), ['tickets', 'update', '--help'], { columns: 200 });
  expect(stdout).toMatch(/--body-file <FILE> +Replace the description by the text of a file/u);
});
