import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('an alias is its command with what is typed behind it', async () => {
  const world = sandboxWorld();
  const set = await svc(world, ['alias', 'set', 'mine', "tickets list --status unresolved --jq '.[].id'"]);
  expect(set).toMatchObject({ exitCode: 0, stdout: '' });
  expect(set.stderr).toBe("svc mine is now: svc tickets list --status unresolved --jq '.[].id'\n");
  const whole = ['tickets', 'list', '--status', 'unresolved', '--jq', '.[].id', '--limit', '3'];
  expect(await svc(world, ['mine', '--limit', '3'])).toEqual(await svc(world, whole));
  // Global flags may stand in front.
  expect(await svc(world, ['--quiet', 'mine', '--limit', '3'])).toEqual(await svc(world, ['--quiet', ...whole]));
  expect((await svc(world, ['mine', '--help'])).stdout).toContain('Usage: svc tickets list');
  expect((await svc(world, ['help', 'mine'])).stdout).toContain('Usage: svc tickets list');
});

test('aliases are listed, deleted and kept beside everything else in the configuration', async () => {
  const world = sandboxWorld();
  await svc(world, ['config', 'set', 'output', 'json']);
  await svc(world, ['alias', 'set', 'b', 'svc contacts list']);
  await svc(world, ['alias', 'set', 'a', 'b', '--limit', '1']).then(({ exitCode }) => expect(exitCode).toBe(2));
  await svc(world, ['alias', 'set', 'a', 'b --limit 1']);
  expect(JSON.parse((await svc(world, ['alias', 'list'])).stdout)).toEqual([
    { name: 'a', command: 'b --limit 1' },
    { name: 'b', command: 'svc contacts list' },
  ]);
  expect(JSON.parse((await svc(world, ['a'])).stdout)).toHaveLength(1);
  expect((await svc(world, ['alias', 'rm', 'a'])).exitCode).toBe(0);
  expect((await svc(world, ['alias', 'delete', 'a'])).exitCode).toBe(3);
  expect(JSON.parse(readFileSync(join(world.folder, 'config/config.json'), 'utf8'))).toEqual({
    output: 'json',
    aliases: { b: 'svc contacts list' },
  });
});

test('an alias that takes the place of another tells what that was', async () => {
  const world = sandboxWorld();
  await svc(world, ['alias', 'set', 'mine', 'tickets list --limit 1']);
  const again = await svc(world, ['alias', 'set', 'mine', 'svc tickets list --limit 1']);
  expect(again).toMatchObject({ exitCode: 0, stderr: 'svc mine is now: svc tickets list --limit 1\n' });
  const other = await svc(world, ['alias', 'set', 'mine', "tickets note 8 --body 'It is $5'"]);
  expect(other.exitCode).toBe(0);
  expect(other.stderr).toContain('Before, it was: svc tickets list --limit 1\n');
});

test.each([
  [['tickets', 'contacts list'], 'tickets is a command of svc'],
  [['ticket', 'contacts list'], 'ticket is a command of svc'],
  [['help', 'contacts list'], 'help is a command of svc'],
  [['-x', 'contacts list'], 'unknown option'],
  [['a b', 'contacts list'], 'is not a name'],
  [['__proto__', 'contacts list'], 'is not a name'],
  [['mine', ''], 'COMMAND is empty'],
  [['mine', 'nonsense --x'], 'names no command of svc'],
  [['mine', 'tickts list'], 'Did you mean tickets?'],
  [['who', 'contacts get $1'], 'holds $1, and an alias has no places for arguments'],
  [['who', 'tickets list --contact=$2 --limit 1'], 'goes to the end: leave it out'],
  [['who', 'contacts find "$@"'], 'holds $@'],
  [['mine', 'nonsense contacts list'], 'names no command of svc'],
  [['mine', 'tickets', 'list', '--status', 'open'], "Run: svc alias set mine 'tickets list --status open'\n"],
])('svc alias set %j is exit 2', async (argv, message) => {
  const ran = await svc(sandboxWorld(), ['alias', 'set', ...argv]);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr.toLowerCase()).toContain(message.toLowerCase());
});

test.each([
  `tickets list "`,
  "contacts find Ann's",
  `tickets list --search 'a`,
  String.raw`tickets list --jq "split(\" \")"`,
])('a quote that does not close is refused: %s', async (line) => {
  const world = sandboxWorld();
  expect(await svc(world, ['alias', 'set', 'mine', line])).toMatchObject({
    exitCode: 2,
    stderr: 'Error: COMMAND holds a quote that does not close, or one behind a backslash.\nRun: svc help aliases\n',
  });
  expect((await svc(world, ['alias', 'set', 'mine', `contacts find "Ann's"`])).exitCode).toBe(0);
});

test('an alias that leads to itself ends with exit 2', async () => {
  const world = sandboxWorld();
  await svc(world, ['alias', 'set', 'a', 'contacts list']);
  await svc(world, ['alias', 'set', 'b', 'a']);
  await svc(world, ['alias', 'set', 'a', 'b']);
  const ran = await svc(world, ['a']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('The alias a leads to itself: a, b, a.');
});

test('a word that is no alias is an unknown command', async () => {
  expect((await svc(sandboxWorld(), ['constructor'])).stderr).toContain("Unknown command 'constructor'.");
});

test('a command of svc wins over an alias that an earlier version took under its name', async () => {
  const world = sandboxWorld();
  await svc(world, ['alias', 'set', 'mine', 'contacts list']);
  const path = join(world.folder, 'config/config.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"mine"', '"tickets"'));
  const [first] = JSON.parse((await svc(world, ['tickets', 'list', '--json'])).stdout);
  expect(first).toHaveProperty('ticket_number');
});

test.each([
  ['api get /platform/account', 'svc api takes only PATH, and 2 words stand behind it.'],
  ['tickets lst', 'svc tickets has no command "lst".'],
  ['tickets list --nonsense', 'svc tickets list has no flag --nonsense.'],
  ['whoami nobody', 'svc whoami takes no words'],
])('an alias of what can never run is refused: %s', async (line, message) => {
  const world = sandboxWorld();
  const ran = await svc(world, ['alias', 'set', 'z', line]);
  expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(JSON.parse((await svc(world, ['alias', 'list', '--json'])).stdout)).toEqual([]);
});

test.each([
  'tickets reply',
  'tickets list --search',
  'contacts',
  'mirror',
  'each --all --',
  'sandbox exec -- sh -c',
  'mcp',
  'each -- whoami',
  'api /platform/account',
])('an alias of what may run with words behind it is taken: %s', async (line) => {
  const ran = await svc(sandboxWorld(), ['alias', 'set', 'z', line]);
  expect([ran.exitCode, ran.stdout]).toEqual([0, '']);
});
