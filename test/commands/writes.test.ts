import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const terminal = { columns: 80, env: { NO_COLOR: '1' } };

/** Each write, and all that a terminal shows of it. */
const lines: readonly (readonly [argv: readonly string[], line: string])[] = [
  [
    ['tickets', 'create', '--subject', 'Export fails', '--description', 'It stops.'],
    '✓ Ticket T-1048 is created: Export fails',
  ],
  [
    ['tickets', 'update', '7', '--priority', '4', '--clear', 'due_at'],
    '✓ Ticket T-1007 is changed: priority is 4, due at is cleared.',
  ],
  [['tickets', 'resolve', '9'], '✓ Ticket T-1009 is resolved.'],
  [['tickets', 'close', '9'], '✓ Ticket T-1009 is closed.'],
  [['tickets', 'reopen', '9'], '✓ Ticket T-1009 is open again.'],
  [
    ['tickets', 'note', '7', '--body', 'Called them.'],
    '✓ The note is in the history of ticket 7; the customer does not see it.',
  ],
  [['tickets', 'reply', '8', '--body', 'Fixed.'], '✓ Sent on ticket 8 by email.'],
  [['tickets', 'reply', 'T-1008', '--body', 'Fixed.'], '✓ Sent on ticket T-1008 by email.'],
  [
    ['tickets', 'note', 'T-1008', '--body', 'Hi.'],
    '✓ The note is in the history of ticket T-1008; the customer does not see it.',
  ],
  [['conversations', 'reply', '3', '--body', 'Hello.'], '✓ Sent in conversation 3, now handled by: human.'],
  [['conversations', 'resolve', '3'], '✓ Conversation 3 is resolved.'],
  [
    [
      'contacts',
      'create',
      '--name',
      'Ada',
      '--last-name',
      'Byron',
      '--email',
      'ada@example.com',
      '--phone',
      '+12025550123',
    ],
    '✓ Contact 277 (Ada Byron) is created.',
  ],
  [
    ['contacts', 'update', '7', '--company', 'Acme GmbH', '--metadata', 'plan=pro'],
    'is changed: company is Acme GmbH, metadata is plan=pro.',
  ],
  [
    ['lists', 'create', '--name', 'Beta', '--target-industry', 'Software', '--notes', 'x'],
    '✓ Contact list 5 (Beta) is created.',
  ],
  [['lists', 'update', '1', '--target-industry', 'Health'], '✓ Contact list 1 is changed: target industry is Health.'],
  [['lists', 'add', '1', '--contact', '249'], '✓ Contact 249 is in list 1 now.'],
  [['lists', 'add', '1', '--contact', '249', '--contact', '7'], '✓ These 2 contacts are in list 1 now.'],
  [
    ['lists', 'remove', '1', '--contact', '218'],
    '✓ List 1: 1 contact was taken off the list. Contact 218 is not in it now.',
  ],
  [['lists', 'set', '3', '--contact', '7', '--yes'], '✓ List 3 holds exactly 1 contact.'],
  [['lists', 'delete', '3', '--yes'], '✓ Contact list 3 is deleted; its contacts stay.'],
  [
    ['changelog', 'update', '1', '--title', 'Faster exports'],
    '✓ Entry 1 (Faster exports) is changed: title is Faster exports.',
  ],
  [['branding', 'update', '--from-name', 'Acme Support'], '✓ The branding is changed: from name is Acme Support.'],
  [['events', 'send', 'order_create', '--contact-name', 'Ada', '--email', 'a@example.com'], '✓ Sent order_create.'],
];

describe('a write on a terminal says one line', () => {
  test.each(lines)('svc %j: %s', async (argv, line) => {
    const world = sandboxWorld();
    const ran = await svc(world, argv, terminal);
    expect(ran.exitCode).toBe(0);
    const said = ran.stdout.trimEnd().replaceAll(/\n {2}(?=\S)/gu, ' ');
    expect(said).toContain(line);
    expect(said).not.toContain('\n');
    // And not a second time.
    expect(ran.stderr).not.toContain(line.slice(2, 20));
  });

  test('with the record where a format or fields are asked for, and in a pipe', async () => {
    for (const wish of [['--json'], ['--output', 'table'], ['--fields', 'status'], ['--jq', '.status']]) {
      const ran = await svc(sandboxWorld(), ['tickets', 'resolve', '9', ...wish], terminal);
      expect(ran.stdout).toContain('resolved');
      expect(ran.stdout).not.toContain('✓');
      expect(ran.stderr).toBe('Ticket T-1009 is resolved.\n');
    }
    const piped = await svc(sandboxWorld(), ['tickets', 'resolve', '9']);
    expect(piped.stdout).toContain('ticket_number\tT-1009\n');
  });
});

describe('an entry', () => {
  const create = ['changelog', 'create', '--title', 'Dark mode', '--content', 'It is here.'];
  const future = '2030-01-31T09:00:00Z';

  test('is a draft, and on a narrow terminal the command that publishes it is in one line', async () => {
    const drafted = await svc(sandboxWorld(), create, { columns: 60 });
    expect(drafted.stdout).toContain('is a draft. To publish it:\n  svc changelog publish 34\n');
  });

  test('that is published later is scheduled in messages and lists', async () => {
    const world = sandboxWorld();
    const drafted = await svc(world, create, terminal);
    expect(drafted.stdout).toBe('✓ Entry 34 (Dark mode) is a draft. To publish it: svc changelog publish 34\n');
    const later = await svc(world, ['changelog', 'publish', '34', '--at', future], terminal);
    expect(later.stdout).toBe('✓ Entry 34 (Dark mode) is scheduled for 2030-01-31 09:00.\n');
    const listed = await svc(world, ['changelog', 'list'], { columns: 120 });
    expect(listed.stdout.split('\n').find((line) => line.includes('Dark mode'))).toContain('scheduled');
    // A pipe keeps what the service says.
    expect((await svc(world, ['changelog', 'list'])).stdout).toContain('Dark mode\tpublished\t');
  });

  test('that is published is told so once, and an update of it is an update', async () => {
    const world = sandboxWorld();
    const now = await svc(world, [...create, '--status', 'published'], terminal);
    expect(now.stdout).toBe('✓ Entry 34 (Dark mode) is published.\n');
    const changed = await svc(world, ['changelog', 'update', '34', '--label', 'new'], terminal);
    expect(changed.stdout + changed.stderr).toBe('✓ Entry 34 (Dark mode) is changed: label is new.\n');
  });

  test('whose time is taken away is live, and says so; a draft keeps no time, and says so', async () => {
    const world = sandboxWorld();
    const wide = { ...terminal, columns: 200 };
    const drafted = await svc(world, [...create, '--published-at', future], wide);
    expect(drafted.stdout).toBe(
      `✓ Entry 34 (Dark mode) is a draft, which keeps no time. To publish it: svc changelog publish 34 --at ${future}\n`,
    );
    const changed = await svc(world, ['changelog', 'update', '34', '--published-at', future], wide);
    expect(changed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('a draft, which keeps no time.') });
    await svc(world, ['changelog', 'publish', '34', '--at', future], wide);
    const cleared = await svc(world, ['changelog', 'update', '34', '--clear', 'published_at'], wide);
    expect(cleared.stdout).toBe('✓ Entry 34 (Dark mode) is changed: published at is cleared. It is published.\n');
  });

  test('published again and again, by itself or by the same file, is published once', async () => {
    const world = sandboxWorld({ allowHttpTargets: true });
    const { access_token: token } = (await world.control('POST', 'tokens', {
      ...{ account_id: 1, scopes: ['webhooks:manage'] },
    })) as { access_token: string };
    // Nothing listens on that port: what is delivered is counted where it leaves.
    await svc(world, ['webhooks', 'create', 'changelog.published', 'http://127.0.0.1:9/'], {
      env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: token },
    });
    await svc(world, create, terminal);
    const file = join(world.folder, 'ids.csv');
    writeFileSync(file, 'id\n34\n');
    const text = join(world.folder, 'notes.md');
    writeFileSync(text, 'It is here.');
    const published = async () => JSON.parse((await svc(world, ['changelog', 'get', '34', '--json'])).stdout);
    expect((await svc(world, ['changelog', 'publish', '34'])).exitCode).toBe(0);
    const { published_at: first } = await published();
    for (const more of [['34'], ['34', '--body-file', text], ['--from', file, '--yes'], ['--from', file, '--yes']]) {
      world.clock.advance(60_000);
      expect((await svc(world, ['changelog', 'publish', ...more])).exitCode).toBe(0);
    }
    expect((await published()).published_at).toBe(first);
    const { deliveries } = (await world.control('GET', 'state')) as { deliveries: unknown[] };
    expect(deliveries).toHaveLength(1);
  });

  test('is read as its readers see it', async () => {
    const world = sandboxWorld();
    const content = '# Dark mode\n\nIt is **here**, [read on](https://example.com/a).\n\n- one & two\n- `three`\n';
    await svc(
      world,
      ['changelog', 'create', '--title', 'Dark mode', '--content', content, '--version', '2.0.0'],
      terminal,
    );
    const shown = await svc(world, ['changelog', 'get', '34'], { ...terminal, env: { NO_COLOR: '1' } });
    expect(shown.stdout).toBe(
      'Dark mode\ndraft · #34 · 2.0.0\n\nDark mode\n\nIt is here, read on (https://example.com/a).\n\n- one & two\n- three\n',
    );
    expect((await svc(world, ['changelog', 'get', '34'])).stdout).toContain('content_html\t<h1>Dark mode</h1>');
  });
});

test('taking somebody out of a list who is not in it says one thing', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['lists', 'remove', '1', '--contact', '249'], terminal);
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout + ran.stderr).toBe('✓ List 1: 0 contacts were taken off the list. Contact 249 is not in it now.\n');
});

test('one contact is one contact, and thousands have their comma', async () => {
  const world = sandboxWorld();
  expect((await svc(world, ['lists', 'set', '3', '--contact', '7', '--yes'])).stderr).toContain('exactly 1 contact.');
  const batch = JSON.stringify([{ name: 'A', last_name: 'B', email: 'ab@example.com', phone: '+12025550123' }]);
  const made = await svc(world, ['contacts', 'create', '--file', '-'], { stdin: batch });
  expect(made.stderr).toBe('Created 1 contact.\n');
});

test('an entry that is shown without a title is named by its id', async () => {
  const world = sandboxWorld();
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method !== 'PATCH' || !('body' in answer)) return answer;
    const { title: _, ...entry } = JSON.parse(answer.body).entry;
    return { ...answer, body: JSON.stringify({ entry }) };
  };
  const { stderr } = await svc({ ...world, exchange }, ['changelog', 'update', '30', '--version', '2.0']);
  expect(stderr).toContain('Entry 30 is changed');
});
