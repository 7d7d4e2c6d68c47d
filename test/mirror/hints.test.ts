/** What is advised about a copy acts on that copy, and on no other one. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnyCommand, TopGroup } from '../../src/command/command.ts';
import { entries } from '../../src/commands/index.ts';
import { typeable } from '../../src/config/advice.ts';
import { copyCommands } from '../../src/config/command-names.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';

async function commandsWithDb(): Promise<string[]> {
  const found: string[] = [];
  const walk = (node: TopGroup | AnyCommand, path: string) => {
    if ('commands' in node) for (const child of node.commands) walk(child, `${path} ${child.name}`);
    else if ('db' in node.flags) found.push(path);
  };
  for (const entry of entries) walk(await entry.load(), entry.name);
  return found.sort();
}

test('every command that takes --db is known where hints are made', async () => {
  expect(await commandsWithDb()).toEqual(copyCommands);
});

test.each([
  ['Make one with: svc mirror pull', "Make one with: svc mirror pull --db 'my copy.db'"],
  [
    'To see that: svc mirror pull --full --only contacts, or svc contacts find x --live',
    "To see that: svc mirror pull --db 'my copy.db' --full --only contacts, or svc contacts find x --live",
  ],
  ['To see it: svc inbox mine', "To see it: svc inbox --db 'my copy.db' mine"],
  ['To delete it: svc mirror forget --db other.db', 'To delete it: svc mirror forget --db other.db'],
  ['Run: svc mirror sql --help', 'Run: svc mirror sql --help'],
])('%s', (hint, told) => {
  expect(typeable(hint, { db: 'my copy.db' })).toBe(told);
});

test.each([
  ['postgres://ada@localhost:5432/copy', 'Run: svc report --db postgres://ada@localhost:5432/copy --since 2d'],
  ['postgres://ada:geheim@localhost/copy', 'Run: svc report --since 2d'],
  ['postgresql://localhost/copy?user=ada&password=geheim', 'Run: svc report --since 2d'],
])('of --db %s no password is repeated', (db, told) => {
  expect(typeable('Run: svc report --since 2d', { db })).toBe(told);
});

const lines: readonly (readonly string[])[] = [
  ['mirror', 'status'],
  ['mirror', 'sql', 'SELECT 1'],
  ['mirror', 'search', 'refund'],
  ['mirror', 'changes'],
  ['mirror', 'forget', '--yes'],
  ['report'],
  ['tickets', 'waiting'],
  ['contacts', 'duplicates'],
  ['contacts', 'history', '999999'],
  ['inbox', 'open'],
];

/** The head says that svc made it; the rest is gone. */
function spoil(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x2e, 100));
}

/** Each command about a copy that standard error names. */
const advisedIn = (text: string): string[] =>
  [...text.matchAll(/\bsvc (?=(?:-\S+ \S+ )*mirror )(?:(?!\bsvc |[.,;] |\n).)*/gu)].map(([whole]) => whole);

test('with --db each command that is advised about a missing, a half or a damaged copy names that file', async () => {
  const one = sandboxWorld({ rateLimit: 'off', seed: few });
  await ok(one, 'mirror pull --only lists');
  const states = ['missing', 'half', 'damaged'];
  const fileOf = (state: string) => join(one.folder, `${state} copy.db`);
  await ok(one, ['mirror', 'pull', '--only', 'lists', '--db', fileOf('half')]);
  await ok(one, ['mirror', 'pull', '--only', 'lists', '--db', fileOf('damaged')]);
  spoil(fileOf('damaged'));
  const damaged = readFileSync(fileOf('damaged'));
  let advised = 0;
  for (const state of states) {
    for (const line of lines) {
      if (state === 'half' && line[1] === 'forget') continue;
      if (state === 'damaged') writeFileSync(fileOf(state), damaged);
      const { stderr } = await svc(one, [...line, '--db', fileOf(state)]);
      for (const command of advisedIn(stderr)) {
        advised++;
        expect([state, line.join(' '), command]).toEqual([
          state,
          line.join(' '),
          expect.stringContaining(`--db '${fileOf(state)}'`),
        ]);
      }
    }
  }
  expect(advised).toBeGreaterThan(20);
});

test('what is advised for a damaged copy leaves the healthy one where it is', async () => {
  const one = sandboxWorld({ rateLimit: 'off', seed: few });
  await ok(one, 'mirror pull --only lists');
  const file = join(one.folder, 'dmg.db');
  await ok(one, ['mirror', 'pull', '--only', 'lists', '--db', file]);
  spoil(file);
  const { stderr } = await svc(one, ['mirror', 'status', '--db', file]);
  const [, forget = '', pull = ''] = /: svc (mirror forget .*), then svc (mirror pull .*)/u.exec(stderr) ?? [];
  expect([forget, pull]).toEqual([`mirror forget --db ${file}`, `mirror pull --db ${file}`]);
  await ok(one, [...forget.split(' '), '--yes']);
  await ok(one, 'mirror status');
  await ok(one, [...pull.split(' '), '--only', 'lists']);
  await ok(one, ['mirror', 'status', '--db', file]);
});

test('a damaged copy of its own place is named too where it is advised to delete it', async () => {
  const one = sandboxWorld({ rateLimit: 'off', seed: few });
  await ok(one, 'mirror pull --only lists');
  const file = join(one.folder, 'state', 'mirror.db');
  spoil(file);
  const { stderr } = await svc(one, ['mirror', 'status']);
  expect(stderr).toContain(`svc mirror forget --db ${file}, then svc mirror pull\n`);
});

test.each(['a text', 'nothing'])(
  'where a link in its own place leads to %s, that stays, and what is advised helps',
  async (there) => {
    const one = sandboxWorld({ rateLimit: 'off', seed: few });
    const [link, other] = [join(one.folder, 'state', 'mirror.db'), join(one.folder, 'notes.txt')];
    mkdirSync(join(one.folder, 'state'));
    if (there === 'a text') writeFileSync(other, 'My notes. '.repeat(30));
    symlinkSync(other, link);
    const forget = there === 'a text' ? ['forget --yes', `forget --yes --db ${link}`] : [];
    for (const argv of ['status', 'pull', ...forget]) {
      const ran = await svc(one, ['mirror', ...argv.split(' ')]);
      expect([argv, ran.exitCode, ran.stderr]).toEqual([
        argv,
        2,
        expect.stringContaining(`Remove the link ${link}, or let it lead to a copy that svc made.`),
      ]);
    }
    expect(existsSync(other) && readFileSync(other, 'utf8')).toBe(there === 'a text' && 'My notes. '.repeat(30));
    unlinkSync(link);
    await ok(one, 'mirror pull --only lists');
    await ok(one, 'mirror status');
  },
);
