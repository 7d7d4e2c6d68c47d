import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';

test('what sandbox exec --diff tells a terminal breaks no word', { tags: ['long'] }, async () => {
  const world = createWorld(async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Nobody is asked.' }));
  const update = `fetch(process.env.SVC_BASE_URL + '/contacts/7', {
    method: 'PATCH',
    headers: { authorization: 'Bearer ' + process.env.SVC_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ company: 'Wonderland and the other side of the looking glass' }),
  }).then(({ ok }) => process.exit(ok ? 0 : 9))`;
  const ran = await svc(world, ['sandbox', 'exec', '--diff', '--', process.execPath, '-e', update], { columns: 40 });
  expect(ran.exitCode).toBe(0);
  expect(ran.stderr.split('\n').filter((line) => line.length > 40)).toEqual([]);
  expect(ran.stderr.replace(/\s+/gu, ' ')).toContain('→ Wonderland and the other side of the looking glass');
});

describe('a program that is not there', () => {
  const world = () =>
    createWorld(async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Nobody is asked.' }));

  test('is all that is told: no difference, and no file', async () => {
    const there = world();
    const out = join(there.folder, 'diff.json');
    const ran = await svc(there, ['sandbox', 'exec', '--diff', '--diff-out', out, '--', 'no-such-program', 'x']);
    expect(ran).toEqual({ exitCode: 127, stdout: '', stderr: 'no-such-program: command not found\n' });
    expect(existsSync(out)).toBe(false);
  });

  test('and is a command of svc is answered with the line that has svc before it', async () => {
    const ran = await svc(world(), ['sandbox', 'exec', '--seed', 'empty', '--diff', '--', 'tickets', 'note', "it's"]);
    expect(ran.exitCode).toBe(127);
    expect(ran.stderr).toBe(
      `tickets: command not found\nDid you mean: svc sandbox exec --seed empty --diff -- svc tickets note 'it'\\''s'\n`,
    );
  });

  test('behind rehearse, too', { tags: ['long'] }, async () => {
    const there = sandboxWorld();
    expect((await svc(there, ['mirror', 'pull', '--only', 'tickets'])).exitCode).toBe(0);
    const ran = await svc(there, ['rehearse', 'tickets', 'close', '8']);
    expect(ran.exitCode).toBe(127);
    expect(ran.stderr).toMatch(/tickets: command not found\nDid you mean: svc rehearse -- svc tickets close 8\n$/u);
    expect(ran.stderr).not.toMatch(/changed|webhook/iu);
  });
});

test.each([
  ['rehearse', '--json'],
  ['sandbox exec --diff', '--json'],
  ['sandbox exec', '-o csv'],
])('%s %s is refused, with where it belongs', async (command, form) => {
  const there = createWorld(async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Nobody is asked.' }));
  const ran = await svc(there, [...command.split(' '), ...form.split(' '), '--', process.execPath, '--version']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stdout).toBe('');
  expect(ran.stderr).toContain(`svc sandbox exec has no ${form}; nothing was begun.`);
  expect(ran.stderr).toContain(`put ${form} behind the command. For what it changed, as JSON: --diff-out FILE`);
});

test('a rehearsal of a question to the copy is answered with the question as it is typed', async () => {
  const there = sandboxWorld();
  const ran = await svc(there, ['rehearse', '--', 'svc', 'mirror', 'search', 'late refund']);
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ran.stderr).toContain("Run it as it is: svc mirror search 'late refund'\n");
  const none = await svc(there, ['rehearse', '--', 'svc', 'tickets', 'close', '8']);
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Make one with: svc mirror pull') });
});

describe('many changes', () => {
  const create = `fetch(process.env.SVC_BASE_URL + '/platform/contacts/sync', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.SVC_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ contacts: Array.from({ length: 25 }, (_, i) => ({ email: 'n' + i + '@example.org' })) }),
  }).then(({ ok }) => process.exit(ok ? 0 : 9))`;
  const argv = ['sandbox', 'exec', '--diff', '--', process.execPath, '-e', create];
  const records = (text: string) => text.split('\n').filter((line) => line.startsWith('+ contacts'));

  test('a screen shows the first ones, and where the others can be had', { tags: ['long'] }, async () => {
    const { stderr } = await svc(sandboxWorld(), argv, { columns: 100 });
    expect(records(stderr)).toHaveLength(20);
    expect(stderr).toContain('… and 5 more; --diff-out FILE has them all\n25 contacts created.');
  });

  test('a pipe gets all of them', { tags: ['long'] }, async () => {
    const { stderr } = await svc(sandboxWorld(), argv);
    expect(records(stderr)).toHaveLength(25);
    expect(stderr).not.toContain('--diff-out');
  });
});

test('a rehearsal says so before the command says what it has done', { tags: ['long'] }, async () => {
  const there = sandboxWorld();
  expect((await svc(there, ['mirror', 'pull', '--only', 'tickets'])).exitCode).toBe(0);
  const ran = await svc(there, ['rehearse', '--', process.execPath, '-e', '0']);
  expect(ran.stderr).toMatch(/^A rehearsal, on the copy: the account is not touched\.\nNothing changed\.$/mu);
  const quiet = await svc(there, ['rehearse', '--quiet', '--', process.execPath, '-e', '0']);
  expect(quiet.stderr).not.toContain('A rehearsal');
  const other = await svc(there, ['sandbox', 'exec', '--diff', '--', process.execPath, '-e', '0']);
  expect(other.stderr).not.toContain('A rehearsal');
});

test('of how another program ended svc says nothing of its own', { tags: ['long'] }, async () => {
  const ran = await svc(sandboxWorld(), ['sandbox', 'exec', '--', process.execPath, '-e', 'process.exit(8)']);
  expect(ran).toEqual({ exitCode: 8, stdout: '', stderr: '' });
});

describe('a rehearsal knows what the user has', () => {
  const prepared = async () => {
    const world = sandboxWorld();
    expect((await svc(world, ['mirror', 'pull', '--only', 'tickets'])).exitCode).toBe(0);
    mkdirSync(join(world.folder, 'config/templates'), { recursive: true });
    writeFileSync(join(world.folder, 'config/templates/fix.md'), 'Fixed.');
    expect((await svc(world, ['alias', 'set', 'tl', 'tickets list'])).exitCode).toBe(0);
    return world;
  };
  const look = `const { readFileSync } = require('node:fs');
    const read = (name) => readFileSync(process.env.SVC_CONFIG_DIR + '/' + name, 'utf8');
    const { aliases, profiles } = JSON.parse(read('config.json'));
    process.exit(read('templates/fix.md') === 'Fixed.' && aliases.tl === 'tickets list' && !profiles ? 0 : 9)`;

  test('aliases and templates, but no profile', { tags: ['long'] }, async () => {
    const ran = await svc(await prepared(), ['rehearse', '--', process.execPath, '-e', look]);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).not.toContain('sent before');
  });

  test('not which rows were sent before, and says so where rows are sent', { tags: ['long'] }, async () => {
    const command = [process.execPath, '-e', '', '--', 'tickets', 'create', '--from', 'x.csv'];
    const ran = await svc(await prepared(), ['rehearse', '--', ...command]);
    expect(ran.stderr).toContain('does not know which rows were sent before: --dry-run does');
    const sync = await svc(await prepared(), [
      'rehearse',
      '--',
      process.execPath,
      '-e',
      '',
      '--',
      'contacts',
      'sync',
      'x.csv',
    ]);
    expect(sync.stderr).toContain('It begins at the first row');
    expect(sync.stderr).not.toContain('--dry-run');
  });

  test('a sandbox of its own stays apart', { tags: ['long'] }, async () => {
    const ran = await svc(await prepared(), ['sandbox', 'exec', '--', process.execPath, '-e', look]);
    expect(ran.exitCode).toBe(1);
  });
});
