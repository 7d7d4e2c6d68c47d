import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { likenesses } from '../../src/answers/duplicates.ts';
import { completionScripts, shells } from '../../src/command/completion-scripts.ts';
import { colors } from '../../src/config/settings.ts';
import { complete } from '../../src/program/complete.ts';
import { answerTab } from '../../src/program/completion.ts';
import { type Branch, completionTree } from '../../src/program/completion-tree.ts';

let tree: Branch;
beforeAll(async () => {
  tree = await completionTree();
});

const own = {
  profiles: async () => ['default', 'old', 'work'],
  logins: async () => ['default', 'work'],
  aliases: async () => ['mine'],
  templates: async () => ['thanks'],
  views: async () => ['waiting', 'urgent'],
};

const offered = async (...words: string[]) =>
  (await complete(tree, words, own))
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]);

describe('a Tab', () => {
  test('offers commands with what they do', async () => {
    expect(await complete(tree, ['tick'], own)).toBe('tickets\tSupport tickets\n');
    expect(await offered('')).toEqual(expect.arrayContaining(['contacts', 'webhooks', 'completion', 'help']));
    expect(await offered('no-such')).toEqual([]);
  });

  test.each([
    [
      ['tickets', 're'],
      ['resolve', 'reopen', 'reply'],
    ],
    [['ticket', 'res'], ['resolve']],
    [['--profile', 'work', 'tickets', 'res'], ['resolve']],
    [['-o', 'json', 'tickets', 'res'], ['resolve']],
    [['-ojson', 'tickets', 'res'], ['resolve']],
    [['--json', 'tickets', 'res'], ['resolve']],
    [['tickets', 'list', '--stat'], ['--status']],
    [['tickets', 'list', '--status', 'open', '--stat'], []],
    [
      ['tickets', 'list', '--output', ''],
      ['table', 'json', 'jsonl', 'csv', 'yaml'],
    ],
    [
      ['tickets', 'list', '-o', 'js'],
      ['json', 'jsonl'],
    ],
    [
      ['tickets', 'list', '--output=js'],
      ['--output=json', '--output=jsonl'],
    ],
    [
      ['--profile', ''],
      ['default', 'old', 'work'],
    ],
    [
      ['auth', 'switch', ''],
      ['default', 'work'],
    ],
    [
      ['report', '-o', ''],
      ['table', 'json', 'jsonl', 'csv', 'yaml', 'md', 'html'],
    ],
    [['tickets', 'list', '-o', 'm'], []],
    [['-p', 'w'], ['work']],
    [['--profile=w'], ['--profile=work']],
    [['tickets', 'reply', '7', '--body-file', ''], [':files']],
    [['tickets', 'reply', '7', '--body-file=x'], [':files']],
    [['tickets', 'get', ''], []],
    [['completion', ''], [...shells]],
    [['completion', 'bash', ''], []],
    [['help', 'exit'], ['exit-codes']],
    [
      ['auth', 'login', '--scope', 'tickets:'],
      ['tickets:read', 'tickets:write'],
    ],
    [['webhooks', 'listen', '--events', 'ticket.created,ch'], ['ticket.created,changelog.published']],
    [['tickets', 'list', '--search', 'tickets', '--stat'], ['--status']],
    [
      ['inbox', ''],
      ['waiting', 'urgent'],
    ],
    [['views', 'show', 'ur'], ['urgent']],
    [['templates', 'show', ''], ['thanks']],
    [['alias', 'rm', ''], ['mine']],
    [
      ['tickets', 'update', '--priority', ''],
      ['none', 'low', 'normal', 'high', 'urgent'],
    ],
    [['each', '--profiles', 'default,w'], ['default,work']],
    [['config', 'set', 'color', ''], [...colors]],
    [['config', 'set', 'output', 'ya'], ['yaml']],
    [
      ['config', 'set', 'default_profile', ''],
      ['default', 'old', 'work'],
    ],
    [['config', 'set', 'pager', ''], []],
    [['tickets', 'list', '--sort', 'pri'], ['priority']],
    [['tickets', 'list', '--sort', '-pri'], ['-priority']],
    [['contacts', 'duplicates', '--by', ''], [...likenesses]],
    [['mcp', '--toolsets', 'tickets,cont'], ['tickets,contacts']],
    [['mirror', 'pull', '--only', 'tick'], ['tickets']],
    [
      ['sandbox', 'start', '--seed', ''],
      ['demo', 'empty', 'mirror', ':files'],
    ],
    [
      ['sandbox', 'exec', '--', ''],
      ['svc', ':files'],
    ],
    [['sandbox', 'exec', '--', 'svc', 'tickets', 'res'], ['resolve']],
    [['sandbox', 'exec', '--', 'make', ''], [':files']],
    [['sandbox', 'exec', '--diff', 'svc', 'tick'], ['tickets']],
    [['rehearse', '--', 'svc', 'tick'], ['tickets']],
    [['rehearse', 'svc', 'tickets', 'res'], ['resolve']],
    [
      ['rehearse', '--', ''],
      ['svc', ':files'],
    ],
    [['each', '--all', '--', 'tick'], ['tickets']],
    [['each', '--all', '--', 'svc', 'tick'], ['tickets']],
    [['each', '--all', '--', 'tickets', 'res'], ['resolve']],
    [['each', '--profiles', 'work', 'tickets', 'res'], ['resolve']],
    [['""'], null],
  ])('behind svc %j', async (words, answer) => {
    expect(await offered(...words)).toEqual(answer ?? (await offered('')));
  });

  test('offers the commands of svc behind the -- of each', async () => {
    expect(await offered('each', '--all', '--', '')).toEqual(await offered(''));
  });

  test('offers a flag again only where it may be repeated', async () => {
    expect(await offered('contacts', 'create', '--metadata', 'a=b', '--meta')).toEqual(['--metadata']);
    expect(await offered('--json', '--js')).toEqual([]);
  });

  test('never offers what is not a key of its own', async () => {
    expect(await offered('constructor', '')).toEqual(await offered(''));
    expect(await offered('tickets', 'list', '--constructor=')).toEqual([]);
  });

  test('reads the profiles of the configuration, and is silent where it cannot', async () => {
    expect(await answerTab(['--profile', ''], { SVC_CONFIG_DIR: '/nowhere' })).toBe('');
  });
});

test('every flag of the tree belongs to a command, and every choice is a word', () => {
  const check = ({ children = {}, flags = {} }: Branch): void => {
    for (const [name, { choices = [] }] of Object.entries(flags)) {
      expect(name).toMatch(/^[a-z][a-z0-9-]*$/u);
      for (const choice of choices) expect(choice).toMatch(/^\S+$/u);
    }
    for (const child of Object.values(children)) check(child);
  };
  check(tree);
});

const leaves = { bash: 'svc.bash', zsh: '_svc', fish: 'svc.fish', powershell: 'svc.ps1' } as const;

test.each(shells)('the packaged script for %s is what svc completion prints', async (shell) => {
  const path = join(import.meta.dirname, '..', '..', 'completions', leaves[shell]);
  expect(await readFile(path, 'utf8')).toBe(completionScripts[shell]);
});

test('names of the user’s own are offered, and stand for their command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-tab-'));
  const aliases = { mine: 'tickets list --status open', loud: 'mine' };
  await writeFile(join(folder, 'config.json'), JSON.stringify({ aliases }));
  const tab = (...words: string[]) => answerTab(words, { SVC_CONFIG_DIR: folder });
  expect(await tab('min')).toBe('mine\tsvc tickets list --status open\n');
  expect(await tab('mine', '--sea')).toContain('--search\t');
  // It takes the place of the one within.
  expect(await tab('mine', '--st')).toContain('--status\t');
  expect(await tab('mine', '--status', 'open', '--st')).toBe('');
  expect(await tab('-p', 'x', 'mine', '--status=un')).toBe('--status=unresolved\n');
  await mkdir(join(folder, 'templates'));
  await mkdir(join(folder, 'views'));
  await writeFile(join(folder, 'templates', 'thanks.md'), 'Thank you.');
  await writeFile(join(folder, 'views', 'urgent.sql'), 'SELECT 1');
  expect(await tab('templates', 'show', '')).toBe('thanks\n');
  expect(await tab('views', 'show', 'u')).toBe('unknown\nurgent\n');
  expect(await answerTab(['templates', 'show', ''], { SVC_CONFIG_DIR: '/nowhere' })).toBe('');
  expect(await tab('alias', 'delete', '')).toBe('mine\nloud\n');
  expect(await tab('tickets', 'ls', '--status', 're')).toBe('resolved\n');
  const secrets = { 'profile/b/oauth': {}, 'profile/a/api_key': {}, 'profile/gone/client': {}, 'doctor/probe': {} };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, secrets }));
  expect(await tab('auth', 'switch', '')).toBe('a\nb\n');
  expect(await answerTab(['auth', 'switch', ''], { SVC_CONFIG_DIR: '/nowhere' })).toBe('');
});
