import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  expect(ran.stderr).toContain(`${form} before the command that svc is to run means nothing; nothing was begun.`);
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
  there.clock.advance(11 * 60_000);
  const later = await svc(there, ['rehearse', '--', process.execPath, '-e', '0']);
  expect(later.stderr).toContain('The copy is 11 min old. To bring it up to date: svc mirror pull\n');
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

describe('what the user has set for sends holds in a rehearsal', () => {
  /** Rehearses a command that writes down what of it reaches it. */
  async function rehearsed(set: (world: ReturnType<typeof sandboxWorld>) => Promise<unknown> | undefined) {
    const world = sandboxWorld();
    expect((await svc(world, ['mirror', 'pull', '--only', 'tickets'])).exitCode).toBe(0);
    mkdirSync(join(world.folder, 'config'), { recursive: true });
    await set(world);
    const out = join(world.folder, 'seen.json');
    const look = `const { existsSync, readFileSync, writeFileSync } = require('node:fs');
      const { SVC_SENDS: mode, SVC_POLICY: path, SVC_CONFIG_DIR: own } = process.env;
      const text = (file) => file && existsSync(file) ? readFileSync(file, 'utf8') : null;
      const { hold = null } = JSON.parse(text(own + '/config.json'));
      const seen = { mode: mode ?? null, path: path ?? null, policy: text(path), other: text(own + '/policy.yaml'), hold };
      writeFileSync(process.argv[1], JSON.stringify(seen));`;
    const ran = await svc(world, ['rehearse', '--', process.execPath, '-e', look, out]);
    expect(ran.exitCode).toBe(0);
    return { seen: JSON.parse(readFileSync(out, 'utf8')), stderr: ran.stderr, config: join(world.folder, 'config') };
  }
  const nothing = { mode: null, path: null, policy: null, other: null, hold: null };
  const write = (world: ReturnType<typeof sandboxWorld>, text: string) =>
    writeFileSync(join(world.folder, 'config/policy.yaml'), text);

  test('the mode draft, which is said, and no wait', { tags: ['long'] }, async () => {
    const { seen, stderr } = await rehearsed(async (world) => {
      expect((await svc(world, ['config', 'set', 'sends', 'draft'])).exitCode).toBe(0);
      expect((await svc(world, ['config', 'set', 'hold', '30'])).exitCode).toBe(0);
    });
    expect(seen).toEqual({ ...nothing, mode: 'draft' });
    expect(stderr).toContain('Each send becomes a draft (sends is draft); those of the rehearsal go away with it.');
  });

  test('the policy, by the path that a refusal names', { tags: ['long'] }, async () => {
    const text = 'sends:\n  deny: "true"\n';
    const { seen, stderr, config } = await rehearsed((world) => void write(world, text));
    expect(seen).toEqual({ ...nothing, path: join(config, 'policy.yaml'), policy: text });
    expect(stderr).not.toContain('sends is');
    expect(stderr).not.toContain('goes away with the rehearsal');
  });

  test('both policies where there are two, and of ask only what else they say', { tags: ['long'] }, async () => {
    const { seen, stderr } = await rehearsed((world) => {
      write(world, 'sends:\n  max_per_hour: 5\n');
      const team = join(world.folder, 'team.yaml');
      writeFileSync(team, 'sends:\n  mode: ask\n  deny: "true"\n');
      Object.assign(world.env, { SVC_POLICY: team, SVC_SENDS: 'ask' });
      return undefined;
    });
    expect(seen).toMatchObject({
      mode: null,
      policy: '{"sends":{"deny":"true"}}',
      other: 'sends:\n  max_per_hour: 5\n',
    });
    expect(stderr).toContain('For real a person is asked before each send (sends is ask); here that counts as agreed.');
    expect(stderr).toMatch(
      /which goes away with the rehearsal: the rule stands in \S+policy\.yaml or \S+team\.yaml\./u,
    );
  });

  test('a policy that cannot be used stays one that forbids', { tags: ['long'] }, async () => {
    const { seen } = await rehearsed((world) => void write(world, 'sends: {}\n'));
    expect(seen).toMatchObject({ policy: 'sends: {}\n' });
  });
});
