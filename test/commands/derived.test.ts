import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

describe('records', () => {
  test('get prints the contact itself as JSON, unwrapped', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'get', '7', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ contact_id: 7 });
  });

  test('several ids are an array, in the order asked', async () => {
    const ran = await svc(sandboxWorld(), ['contact', 'get', '9', '8', '--json']);
    expect((JSON.parse(ran.stdout) as { contact_id: number }[]).map((c) => c.contact_id)).toEqual([9, 8]);
  });

  test('an unknown id is exit 3', async () => {
    const ran = await svc(sandboxWorld(), ['tickets', 'get', '99999']);
    expect(ran.exitCode).toBe(3);
    expect(ran.stdout).toBe('');
  });

  test.each(['contacts', 'tickets', 'conversations'])('of several ids each is read by itself: %s', async (group) => {
    const world = sandboxWorld();
    const mixed = await svc(world, [group, 'get', '3', '99999', '4', '--json']);
    expect(mixed.exitCode).toBe(8);
    expect(JSON.parse(mixed.stdout)).toHaveLength(2);
    expect(mixed.stderr).toContain('99999');
    expect(mixed.stderr).toContain('1 of 3 could not be read.');
    const none = await svc(world, [group, 'get', '99998', '99999']);
    expect(none).toMatchObject({ exitCode: 3, stdout: '' });
    expect(none.stderr).toContain('99998');
    expect(world.sent.filter((line) => line.includes('9999'))).toHaveLength(3);
  });

  test('of several ids one that all would end with ends them, and what was read is shown', async () => {
    const world = sandboxWorld();
    let asked = 0;
    const away: Exchange = async (request) => {
      if (request.url.includes('/contacts/') && ++asked > 1)
        return { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":"unauthorized"}' };
      return world.exchange(request);
    };
    const ran = await svc({ ...world, exchange: away }, ['contacts', 'get', '7', '8', '9', '--json']);
    expect(ran.exitCode).toBe(4);
    expect(JSON.parse(ran.stdout)).toHaveLength(1);
    expect(asked).toBe(2);
  });

  test.each([['lists', 'add', '1', '--contact', '7', '--contact', '99999']])(
    'of several ids the one that is not there is named: %j',
    async (...argv) => {
      const ran = await svc(sandboxWorld(), argv);
      expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
      expect(ran.stderr).toContain('99999: ');
      expect(ran.stderr).not.toContain('7: ');
    },
  );

  test('a table that was asked for in a pipe names its fields whole', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'get', '7', '--output', 'table']);
    expect(ran.stdout).toMatch(/^contact_id +7$/mu);
    expect(ran.stdout).not.toContain('…');
  });

  test('a batch that is one contact, not an array, is told what the file should hold', async () => {
    const world = sandboxWorld();
    const twice = await svc(world, ['contacts', 'create', '--file', '-'], { stdin: '[{"name":"Ada","name":"Bo"}]' });
    expect(twice).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has the key "name" twice') });
    const nul = await svc(world, ['contacts', 'create', '--file', '-'], { stdin: '[{"name":"A\\u0000"}]' });
    expect(nul).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('holds a NUL character') });
    const ran = await svc(world, ['contacts', 'create', '--file', '-'], { stdin: '{"name":"Ada"}' });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('standard input holds no array of contacts');
    expect(world.sent).toEqual([]);
  });

  test('an update sends only what was given', async () => {
    const world = sandboxWorld();
    const before = JSON.parse((await svc(world, ['contacts', 'get', '7', '--json'])).stdout);
    const ran = await svc(world, ['contacts', 'update', '7', '--company', 'Umbra', '--metadata', 'plan=pro', '--json']);
    const { updated_at: _, ...rest } = JSON.parse(ran.stdout);
    const { updated_at: __, ...old } = before;
    expect(rest).toEqual({ ...old, company: 'Umbra', metadata: { ...old.metadata, plan: 'pro' } });
  });

  test('an update without any field is exit 2 and nothing is sent', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'update', '7']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('--subject');
    expect(world.sent).toEqual([]);
  });

  test('--clear sends null, and contradicts the same flag', async () => {
    const world = sandboxWorld();
    await svc(world, ['tickets', 'update', '7', '--due-at', '2026-05-01T09:00:00Z']);
    const cleared = await svc(world, ['tickets', 'update', '7', '--clear', 'due_at', '--json']);
    expect(JSON.parse(cleared.stdout).due_at).toBeNull();
    const both = await svc(world, ['tickets', 'update', '7', '--clear', 'due_at', '--due-at', '2026-05-01']);
    expect(both.exitCode).toBe(2);
  });
});

describe('limits are judged before anything is sent', () => {
  test.each([
    [['tickets', 'create', '--subject', 'x'.repeat(256), '--description', 'd'], '--subject'],
    [['tickets', 'update', '7', '--priority', '5'], '--priority'],
    [['tickets', 'update', '7', '--due-at', 'soon'], '--due-at'],
    [['tickets', 'note', '7', '--body', 'x'.repeat(10_001)], '--body'],
    [['contacts', 'list', '--per-page', '101'], '--per-page'],
    [['branding', 'update', '--primary-color', 'red'], '--primary-color'],
    [['branding', 'update', '--social', 'x=http://x.test'], '--social'],
    [['contacts', 'get', '0'], 'ID'],
    [['contacts', 'get'], 'ID'],
    [['contacts', 'create', '--name', 'Ada'], '--email'],
    [['tickets', 'reply', '7'], '--body'],
  ])('case %#', async (argv, named) => {
    const world = sandboxWorld();
    const ran = await svc(world, argv);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(named);
    expect(world.sent).toEqual([]);
  });

  test('255 emoji are a valid subject', async () => {
    const subject = '🦉'.repeat(255);
    const ran = await svc(sandboxWorld(), ['tickets', 'create', '--subject', subject, '--description', 'd', '--json']);
    expect(JSON.parse(ran.stdout).subject).toBe(subject);
  });
});

describe('--editor in a pipe', () => {
  const note = ['tickets', 'note', '7', '--editor', '--json'];

  test('runs the editor that EDITOR names, which may be a script', async () => {
    const ran = await svc(sandboxWorld(), note, { env: { EDITOR: './write-note' }, answers: ['Called back.'] });
    expect(JSON.parse(ran.stdout)).toMatchObject({ body: 'Called back.' });
  });

  test.each([{}, { EDITOR: './write-note', CI: '1' }])('is exit 2 with %j', async (env) => {
    const world = sandboxWorld();
    const ran = await svc(world, note, { env });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('--body-file');
    expect(world.sent).toEqual([]);
  });
});

describe('lists', () => {
  test('a pipe gets whole tab-separated rows, and a note of how many there are', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'list', '--limit', '2']);
    const rows = ran.stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(2);
    expect(rows[0]?.split('\t')[0]).toMatch(/^\d+$/u);
    expect(ran.stderr).toMatch(/^Showing 2 of \d+\. For more: --limit N, or --all\.\n$/u);
  });

  test('--all is one JSON array in the order of the service', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'list', '--all', '--json']);
    const ids = (JSON.parse(ran.stdout) as { contact_id: number }[]).map((c) => c.contact_id);
    expect(ids.length).toBeGreaterThanOrEqual(250);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ran.stderr).toBe('');
  });

  test('a record that arrives while --all is read is shown at most once, and no other twice', async () => {
    const world = sandboxWorld();
    const { exchange } = world;
    let pages = 0;
    const busy = {
      ...world,
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const answer = await exchange(request);
        if (request.method === 'GET' && ++pages === 1) {
          await svc(world, [
            'contacts',
            'create',
            '--name',
            'New',
            '--last-name',
            'One',
            '--email',
            'n@example.com',
            '--phone',
            '+12025550199',
          ]);
        }
        return answer;
      },
    };
    const ran = await svc(busy, ['contacts', 'list', '--all', '--json']);
    const ids = (JSON.parse(ran.stdout) as { contact_id: number }[]).map((c) => c.contact_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(250);
  });

  test.each([
    ['--all', '--limit', '3'],
    ['--all', '--page', '2'],
    ['--limit', '3', '--page', '2'],
  ])('flags that contradict each other are exit 2, and both are named: %j', async (...flags) => {
    const ran = await svc(sandboxWorld(), ['contacts', 'list', ...flags]);
    expect(ran.exitCode).toBe(2);
    for (const flag of flags.filter((word) => word.startsWith('--'))) expect(ran.stderr).toContain(flag);
  });
});

describe('what was typed wrong', () => {
  test.each([
    [['contcts', 'list'], 'contacts'],
    [['contacts', 'lst'], 'list'],
    [['contacts', 'list', '--al'], '--all'],
  ])('%j is exit 2 and suggests %s', async (argv, suggestion) => {
    const ran = await svc(sandboxWorld(), argv);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(suggestion);
  });

  test.each([
    [['tickets', 'list', '--nonsense'], 'Run: svc tickets list --help'],
    [['auth', 'login', '--nonsense'], 'Run: svc auth login --help'],
    [['tickets', 'reply', '1', '2'], 'svc tickets reply takes one ID. For several: svc tickets reply --from FILE'],
    [['tickets', 'get'], 'Run: svc tickets get --help'],
    [['--nonsense'], 'Run: svc --help'],
  ])('%j is told what is missing, or sent to the help of the very command: %s', async (argv, hint) => {
    const ran = await svc(sandboxWorld(), argv);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr.split('\n')).toContain(hint);
  });

  test('with --json the mistake is machine-readable too', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'list', '--nonsense', '--json']);
    const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ error: { kind: 'usage', exit_code: 2 } });
  });

  test('a global flag may stand before or after the command', async () => {
    const world = sandboxWorld();
    const before = await svc(world, ['--json', 'contacts', 'get', '7']);
    const after = await svc(world, ['contacts', 'get', '7', '--json']);
    expect(before).toEqual(after);
  });
});

test('a destructive command asks on a terminal, and needs --yes in a pipe', async () => {
  const world = sandboxWorld();
  const piped = await svc(world, ['lists', 'delete', '1']);
  expect(piped.exitCode).toBe(2);
  expect(piped.stderr).toContain('--yes');
  const declined = await svc(world, ['lists', 'delete', '1'], { columns: 80, answers: [false] });
  expect(declined.exitCode).toBe(1);
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
  expect((await svc(world, ['lists', 'delete', '1', '--yes'])).exitCode).toBe(0);
});

test('svc api -i shows the status and headers beside --paginate too', async () => {
  const { stdout } = await svc(sandboxWorld(), ['api', 'contacts', '--paginate', '-i']);
  const [head = '', body = ''] = stdout.split('\n\n', 2);
  expect(head).toMatch(/^HTTP 200\n(?:[a-z-]+: .+\n?)+$/u);
  expect(JSON.parse(body).contacts.length).toBeGreaterThanOrEqual(250);
});
