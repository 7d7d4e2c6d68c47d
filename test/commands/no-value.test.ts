import { describe, expect, test } from 'vitest';
import type { AnyCommand, Group, Param } from '../../src/command/command.ts';
import { globalFlags } from '../../src/command/global-flags.ts';
import { argName, flagName } from '../../src/command/param.ts';
import { entries, loadEntry } from '../../src/commands/index.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Leaf = readonly [words: readonly string[], command: AnyCommand];

const leaves = (node: Group | AnyCommand, words: readonly string[]): readonly Leaf[] => {
  if (!('commands' in node)) return [[words, node]];
  const own: readonly Leaf[] = node.itself ? [[words, node.itself]] : [];
  return [...own, ...node.commands.flatMap((child) => leaves(child, [...words, child.name]))];
};

const commands = (await Promise.all(entries.map(async (entry) => leaves(await loadEntry(entry), [entry.name])))).flat();

const empties = 'the field of the record is made empty';
const without = 'the record is made without it';

/** What says something all the same, and why. */
const takesEmpty: Readonly<Record<string, string>> = {
  'contacts update --last-name': empties,
  'contacts update --company': empties,
  'contacts update --website': empties,
  'contacts update --country': empties,
  'tickets create --description': without,
  'events send --currency': without,
  'events send --value': without,
  'events send --svc-ad': without,
  'events send --gclid': without,
  'events send --fbclid': without,
  'events send --utm-term': without,
  'events send --utm-content': without,
  'events send --utm-campaign': without,
  'events send --utm-medium': without,
  'events send --utm-source': without,
  'events send --contact-last-name': without,
  'contacts create --country': without,
  'contacts create --website': without,
  'contacts create --company': without,
  'events send --external-ref': without,
  'tickets update --description': empties,
  'lists update --target-industry': empties,
  'changelog create --version': without,
  'changelog update --version': empties,
  'branding update --from-name': empties,
  'branding update --brand-voice': empties,
  'branding update --font-family': empties,
  'config set VALUE': 'the setting is unset, as its help says',
};

/** It separates: a blank or a tab may be what stands between cells or tags. */
const takesBlanks = / --(?:delimiter|tag-separator)$/u;

/** `label`: what it is called, whichever of its names is typed. */
type Case = {
  readonly name: string;
  readonly label: string;
  readonly argv: (text: string) => readonly string[];
  readonly param?: Param<unknown>;
};

const ofGlobals = globalFlags.flatMap(([term]): Case[] => {
  const label = /--[\w-]+(?= <)/u.exec(term)?.[0];
  return label === undefined ? [] : [{ name: label, label, argv: (text) => ['tickets', 'list', label, text] }];
});

const cases = commands.flatMap(([words, command]): Case[] => {
  const path = words.join(' ');
  const args = Object.entries<Param<unknown>>(command.args);
  const flags = Object.entries<Param<unknown>>(command.flags).filter(
    ([, { placeholder }]) => placeholder !== undefined,
  );
  return [
    ...flags.flatMap(([key, flag]): Case[] =>
      [flagName(key, flag), ...(flag.aliases ?? [])].map((typed) => {
        const label = `--${flagName(key, flag)}`;
        return { name: `${path} ${label}`, label, param: flag, argv: (text) => [...words, `--${typed}`, text] };
      }),
    ),
    ...args.map(([key, arg], at) => {
      const label = argName(key, arg);
      const before = args.slice(0, at).map(() => '8');
      return { name: `${path} ${label}`, label, param: arg, argv: (text: string) => [...words, '--', ...before, text] };
    }),
  ];
});

describe('what a variable leaves that is not set', () => {
  test.each(['', ' '])(
    '%j in any argument and flag is exit 2, named, before any request',
    { tags: ['long'] },
    async (text) => {
      const taken = new Set<string>();
      for (const { name, label, argv } of [...ofGlobals, ...cases]) {
        if (text === '' ? name in takesEmpty : takesBlanks.test(name)) {
          taken.add(name);
          continue;
        }
        const world = sandboxWorld();
        const ran = await svc(world, argv(text), { stdin: '' });
        expect({ name, code: ran.exitCode, sent: world.sent, said: ran.stderr.split('\n').slice(0, 2) }).toEqual({
          ...{ name, code: 2, sent: [] },
          said: [`Error: ${label} is empty.`, 'If a variable stands there, it has no value.'],
        });
      }
      if (text === '') expect([...taken].sort()).toEqual(Object.keys(takesEmpty).sort());
      else expect([...taken].some((name) => name.startsWith('tickets create '))).toBe(true);
    },
  );

  test.each([',', ' , ,'])(
    '%j in any flag and argument that takes several words, or one of some, is exit 2, before any request',
    { tags: ['long'] },
    async (text) => {
      const lists = cases.filter(
        ({ label, param: { isLine, many, commas, choices } = {} }) =>
          !isLine && (many || commas || choices || label === '--status'),
      );
      const names = lists.map(({ name }) => name);
      for (const name of ['tickets list --status', 'feedback list --status', 'contacts sync --tag', 'login --scope'])
        expect(names).toContain(name);
      for (const { name, label, argv } of lists) {
        const world = sandboxWorld();
        const ran = await svc(world, argv(text), { stdin: '' });
        expect({ name, code: ran.exitCode, sent: world.sent, said: ran.stderr.split('\n').slice(0, 2) }).toEqual({
          ...{ name, code: 2, sent: [] },
          said: [`Error: ${label} holds nothing but commas.`, 'If a variable stands there, it has no value.'],
        });
      }
    },
  );

  test.each([
    ['tickets list --status open,,closed', '--status takes one value'],
    ['tickets list --fields id,,status', '--fields takes names separated by commas'],
    ['contacts duplicates --by email,,phone', 'contacts cannot be compared by ""'],
    ['mirror pull --only contacts,,tickets', 'there is no kind ""'],
    ['mirror export --to x --only contacts,', 'there is no kind ""'],
    ['webhooks listen --events ,ticket.created', 'there is no event ""'],
    ['webhooks catch-up --events ticket.created,', 'there is no event ""'],
  ])('an empty word in a list is exit 2: %s', async (line, said) => {
    const world = sandboxWorld();
    const { exitCode, stderr } = await svc(world, line.split(' '), { stdin: '' });
    expect({ exitCode, sent: world.sent, stderr }).toEqual({
      exitCode: 2,
      sent: [],
      stderr: expect.stringContaining(said),
    });
  });

  test('an update still empties a field by it, and a setting is unset', async () => {
    const world = sandboxWorld();
    const lines = [
      ['contacts', 'update', '7', '--website', ''],
      ['contacts', 'update', '7', '--company='],
      ['lists', 'update', '1', '--target-industry', ''],
      ['branding', 'update', '--from-name', ''],
      ['config', 'set', 'pager', ''],
    ];
    for (const line of lines) expect([line, (await svc(world, line)).exitCode]).toEqual([line, 0]);
    const { stdout } = await svc(world, ['contacts', 'get', '7', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ website: '', company: '' });
  });

  test.each([
    ['tickets update 8 --due-at', '--due-at', 'To empty the field: --clear due_at'],
    ['contacts sync rows.csv --tag-separator', '--tag-separator', 'It also takes none.'],
    ['tickets list --limit 2 --jq', '--jq', ''],
  ])('%s names what there is instead', async (line, label, way) => {
    const { exitCode, stderr } = await svc(sandboxWorld(), [...line.split(' '), '']);
    const said = [`Error: ${label} is empty.`, 'If a variable stands there, it has no value.', way].filter(Boolean);
    expect([exitCode, stderr.trim().split('\n')]).toEqual([2, said]);
  });

  test('the words of another command line may be empty, but for the first', async () => {
    const world = sandboxWorld();
    expect(await svc(world, ['sandbox', 'exec', '--', '', 'x'])).toMatchObject({ exitCode: 2 });
    expect(await svc(world, ['alias', 'set', 'bare', "contacts update 7 --company ''"])).toMatchObject({
      exitCode: 0,
    });
    expect(await svc(world, ['bare'])).toMatchObject({ exitCode: 0 });
    expect(
      (
        await svc(world, [
          'sandbox',
          'exec',
          '--',
          process.execPath,
          '-e',
          'process.exit(process.argv.length + 40)',
          '',
          ' ',
        ])
      ).exitCode,
    ).toBe(43);
  });
});
