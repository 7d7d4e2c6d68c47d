import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AnyCommand, Param, TopGroup } from '../../src/command/command.ts';
import { entries } from '../../src/commands/index.ts';
import { zoneDoubt } from '../../src/text/own-zone.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const contactNamed = async (world: ReturnType<typeof sandboxWorld>, id: number) =>
  JSON.parse((await svc(world, ['contacts', 'get', String(id), '--json'])).stdout) as { email: string; phone: string };

describe('a ticket is taken by its number', () => {
  test.each(['T-1008', 't-1008'])('%s', async (number) => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'get', number, '--json']);
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ticket_number: 'T-1008' });
    expect(world.sent[0]).toContain('q=');
  });

  test.each([
    ['resolve'],
    ['close'],
    ['reopen'],
    ['update', '--priority', '2'],
    ['note', '--body', 'x'],
    ['reply', '--body', 'x'],
  ])('by tickets %s too', async (...words) => {
    const [name = '', ...flags] = words;
    const byNumber = await svc(sandboxWorld(), ['tickets', name, 'T-1008', ...flags, '--json']);
    expect(byNumber.exitCode).toBe(0);
  });

  test('T-10 is not T-1008: no match is exit 3 and nothing is changed', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'resolve', 'T-10']);
    expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ran.stderr).toContain('No ticket has the number T-10.');
    expect(ran.stderr).not.toContain('Nothing was done');
    expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  test('of several a number that nobody has is said before any of them is dealt with', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'resolve', 'T-1008', 'T-10490', '9']);
    expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ran.stderr).toContain('No ticket has the number T-10490. Nothing was done for any of the 3.');
    expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  test('what is neither an id nor a number is exit 2, and nothing is sent', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'get', 'seven']);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr:
        'Error: ID must be the id or number of a ticket, not "seven".\nTo look for it: svc tickets list --search seven\n',
    });
    expect((await svc(world, ['tickets', 'get', '-7'])).exitCode).toBe(2);
    expect(world.sent).toEqual([]);
  });

  test('another mistake is told before anything is asked of the service', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'update', 'T-1008', '--priority', '9']);
    expect(ran.exitCode).toBe(2);
    expect(world.sent).toEqual([]);
  });
});

describe('a contact is taken by its email', () => {
  test('whatever the case, as an argument and as a flag', async () => {
    const world = sandboxWorld();
    const { email } = await contactNamed(world, 7);
    const got = await svc(world, ['contacts', 'get', email.toUpperCase(), '--json']);
    expect(JSON.parse(got.stdout)).toMatchObject({ contact_id: 7 });
    const listed = await svc(world, ['tickets', 'list', '--contact', email, '--json']);
    expect(listed.exitCode).toBe(0);
    expect(world.sent.at(-1)).toContain('contact_id=7');
    const added = await svc(world, ['lists', 'add', '1', '--contact', email, '--contact', '8', '--json']);
    expect(added.exitCode).toBe(0);
    const created = await svc(world, ['tickets', 'create', '--subject', 'x', '--contact', email, '--json']);
    expect(JSON.parse(created.stdout)).toMatchObject({ contact: { contact_id: 7 } });
  });

  test('several with it are exit 2, and named', async () => {
    const world = sandboxWorld();
    for (const phone of ['+12025550123', '+12025550124']) {
      const flags = ['--name', 'Ann', '--last-name', 'B', '--email', 'ann@b.co', '--phone', phone];
      expect((await svc(world, ['contacts', 'create', ...flags])).exitCode).toBe(0);
    }
    const before = world.sent.length;
    const ran = await svc(world, ['contacts', 'update', 'ann@b.co', '--company', 'x']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(/2 contacts have the email ann@b\.co.*\n.*\d+ \(Ann B\), \d+ \(Ann B\)/u);
    expect(world.sent.slice(before).filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  test('none with it is exit 3', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'get', 'nobody@nowhere.test']);
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain('No contact has the email nobody@nowhere.test.');
    expect(ran.stderr).toContain('svc contacts find nobody');
  });
});

describe('contacts find', () => {
  const ids = async (text: string, ...flags: string[]) => {
    const ran = await svc(sandboxWorld(), ['contacts', 'find', text, '--json', ...flags]);
    expect(ran.exitCode).toBe(0);
    return (JSON.parse(ran.stdout) as { contact_id: number }[]).map(({ contact_id }) => contact_id);
  };

  test('finds by email, full name, company and phone as people write it', async () => {
    const one = await contactNamed(sandboxWorld(), 7);
    const { name, last_name, company, email, phone } = one as typeof one & Record<string, string>;
    for (const text of [email, `${name} ${last_name}`.toUpperCase(), company as string, phone]) {
      expect(await ids(text)).toContain(7);
    }
    const written = phone.replace(/^\+1(\d{3})(\d{3})(\d{4})$/u, '($1) $2-$3');
    expect(await ids(written)).toEqual([7]);
  });

  test('a page limit of the service hides nobody: the oldest is found too', async () => {
    const { email } = await contactNamed(sandboxWorld(), 1);
    expect(await ids(email)).toEqual([1]);
  });

  test('--limit ends the reading', async () => {
    expect(await ids('.test', '--limit', '3')).toHaveLength(3);
  });

  test('no match is an empty list and exit 0', async () => {
    expect(await ids('no such text')).toEqual([]);
    const seen = await svc(sandboxWorld(), ['contacts', 'find', 'no such text'], { columns: 80 });
    expect(seen).toMatchObject({ exitCode: 0, stderr: 'No contact matches.\n' });
  });

  test('csv has the columns of the list', async () => {
    const listed = await svc(sandboxWorld(), ['contacts', 'list', '--output', 'csv', '--limit', '1']);
    const found = await svc(sandboxWorld(), ['contacts', 'find', '.test', '--output', 'csv', '--limit', '1']);
    expect(found.stdout).toBe(listed.stdout);
  });
});

test('habits of other programs are understood: ls, view, show, new, rm', async () => {
  const world = sandboxWorld();
  const same = async (one: string[], other: string[]) => {
    expect(await svc(world, [...one, '--json'])).toEqual(await svc(world, [...other, '--json']));
  };
  await same(['contacts', 'ls'], ['contacts', 'list']);
  await same(['tickets', 'view', '7'], ['tickets', 'get', '7']);
  await same(['tickets', 'show', '7'], ['tickets', 'get', '7']);
  expect((await svc(world, ['lists', 'new', '--name', 'x', '--target-industry', 'y', '--notes', 'z'])).exitCode).toBe(
    0,
  );
  expect((await svc(world, ['lists', 'rm', '1', '--yes'])).exitCode).toBe(0);
  expect((await svc(world, ['api', 'ls'])).exitCode).toBe(0);
});

test('lists members takes --limit', async () => {
  const ran = await svc(sandboxWorld(), ['lists', 'members', '1', '--limit', '2', '--json']);
  expect(JSON.parse(ran.stdout)).toHaveLength(2);
});

describe('of a number that is no id', () => {
  const told = async (line: string) => {
    const world = sandboxWorld();
    const { exitCode, stderr } = await svc(world, line.split('_'));
    expect([exitCode, world.sent]).toEqual([2, []]);
    return /Did you mean (.+)\?\n/u.exec(stderr)?.[1];
  };

  test.each([
    ['tickets_close_12.5', undefined],
    ['tickets_close_8.05', undefined],
    ['tickets_close_8_12.5', undefined],
    ['contacts_get_0.0', undefined],
    ['contacts_get_"0"', undefined],
    ['contacts_get_1,234', undefined],
    ['contacts_get_2026-01-05', undefined],
    ['contacts_get_8, 9', undefined],
    ['contacts_get_--_-8', undefined],
    ['tickets_list_--contact_12.5', undefined],
    ['tickets_close_8.0', '8'],
    ['contacts_get_1.0', '1'],
    ['contacts_get_"7"', '7'],
    ['contacts_get_contact 7', '7'],
  ])('%s: the same record is named or none', async (line, meant) => {
    expect(await told(line)).toBe(meant);
  });
});

describe('statuses', () => {
  test.each([
    ['tickets list --status opne', 'open'],
    ['tickets list --status unresolvd', 'unresolved'],
    ['conversations list --status Resolved', 'resolved'],
    ['tickets update 7 --status close', 'closed'],
  ])('%s is a slip: exit 2 with the word that was meant', async (line, meant) => {
    const world = sandboxWorld();
    const ran = await svc(world, line.split(' '));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(`Did you mean ${meant}?`);
    expect(world.sent).toEqual([]);
  });

  const lists = ['tickets list', 'conversations list'];
  const writes = ['tickets update 7', 'tickets reply 7 --body Hi'];

  test('these flags leave a value to the service that the document does not name', async () => {
    const found: string[] = [];
    const walk = (node: TopGroup | AnyCommand, path: readonly string[]) => {
      if ('commands' in node) for (const child of node.commands) walk(child, [...path, child.name]);
      else if (Object.values<Param<unknown>>(node.flags).some(({ doubt }) => doubt && doubt !== zoneDoubt))
        found.push(path.join(' '));
    };
    for (const entry of entries) walk(await entry.load(), [entry.name]);
    expect(found.sort()).toEqual([...lists, ...writes].map((line) => line.replace(/ \d.*/u, '')).sort());
  });

  test.each([...lists, ...writes])('%s --status refuses several at once, with what there is', async (line) => {
    for (const several of ['open,pending', 'open pending', 'open, pending,on_hold']) {
      const world = sandboxWorld();
      const ran = await svc(world, [...line.split(' '), '--status', several]);
      const values = 'open, pending, resolved, closed';
      const hint = lists.includes(line)
        ? `Give one of ${values}, unresolved, all; unresolved is all that still need work.`
        : `Give one of ${values}.`;
      expect(ran).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `Error: --status takes one value, not "${several}".\n${hint}\n`,
      });
      expect(world.sent).toEqual([]);
    }
  });

  test('another that the service may know filters, with a warning', async () => {
    const two = await svc(sandboxWorld(), ['tickets', 'list', '--status', 'on hold', '--json']);
    expect(two).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    const slip = await svc(sandboxWorld(), ['tickets', 'list', '--status', 'opened']);
    expect(slip).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Did you mean open?') });
    const ran = await svc(sandboxWorld(), ['tickets', 'list', '--status', 'waiting-for-legal', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    const changelog = await svc(sandboxWorld(), ['changelog', 'list', '--status', 'bogus']);
    expect(changelog).toMatchObject({
      exitCode: 2,
      stderr: 'Error: --status must be one of draft, published, all, not "bogus".\n',
    });
    expect(ran.stderr).toContain('Warning: --status waiting-for-legal is not one of open, pending');
  });

  test('another is written as well, with a warning: the service decides', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'update', '7', '--status', 'on_hold']);
    expect(ran.stderr).toContain('Warning: --status on_hold is not one of open, pending, resolved, closed');
    expect(world.sent).toEqual(['PATCH /tickets/7']);
    // The sandbox knows the four alone.
    expect(ran.stderr).toContain('must be one of open, pending, resolved, closed');
    expect(ran.exitCode).toBe(6);
  });

  test('the word of the filter is no slip of a status', async () => {
    const world = sandboxWorld();
    const flag = await svc(world, ['tickets', 'update', '7', '--status', 'unresolved']);
    expect([flag.exitCode, flag.stderr]).toEqual([2, expect.stringContaining('unresolved is a filter of the list')]);
    const update = ['tickets', 'update', '--from', '-', '--yes'];
    const row = await svc(world, update, { stdin: 'id,status\n7,unresolved\n' });
    expect([row.exitCode, row.stdout]).toEqual([2, expect.stringContaining('unresolved is a filter of the list')]);
    expect(world.sent).toEqual([]);
  });

  test('changelog knows its two, and feedback passes its own slugs', async () => {
    expect((await svc(sandboxWorld(), ['changelog', 'list', '--status', 'bogus'])).exitCode).toBe(2);
    const own = await svc(sandboxWorld(), ['feedback', 'list', '--status', 'under_review', '--json']);
    expect(own).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('changelog says what scheduled is, which its list shows', async () => {
    const world = sandboxWorld();
    const listed = await svc(world, ['changelog', 'list', '--status', 'scheduled']);
    expect(listed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(listed.stderr).toContain('must be one of draft, published, all, not "scheduled".');
    const [, advice = ''] = /Those alone: --status published --all --jq '(.+)'\n/u.exec(listed.stderr) ?? [];
    const made = ['changelog', 'create', '--title', 'Dark mode', '--content', 'Soon.'];
    const wrong = await svc(world, [...made, '--status', 'scheduled']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--status published --published-at TIME'),
    ]);
    const alone = await svc(world, ['changelog', 'list', '--status', 'published', '--all', '--jq', advice]);
    expect(JSON.parse(alone.stdout)).toMatchObject([{ title: 'Webhooks, part 3', status: 'published' }]);
  });

  test('where no feedback has the status, the ones in use are named', async () => {
    const list = (...argv: string[]) => svc(sandboxWorld(), ['feedback', 'list', '--status', ...argv]);
    expect(await list('bogus', '--json')).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
      stderr: 'No post has the status bogus. Posts have: in_progress, planned, shipped, under_review.\n',
    });
    expect((await list('planned', '--search', 'nothing like it')).stderr).toBe('');
    expect((await list('bogus', '--quiet')).stderr).toBe('');
  });
});

test.each([
  ['2d', '2026-02-27T12:00:00Z'],
  ['12h', '2026-03-01T00:00:00Z'],
  ['30m', '2026-03-01T11:30:00Z'],
])('--updated-since %s is that long ago', async (text, time) => {
  const world = sandboxWorld();
  expect((await svc(world, ['tickets', 'list', '--updated-since', text])).exitCode).toBe(0);
  expect(decodeURIComponent(world.sent[0] ?? '')).toContain(`updated_since=${time}`);
});

test('--updated-since takes no nonsense', async () => {
  for (const text of ['2y', '-2d', 'd', '999999w', '2 days']) {
    expect((await svc(sandboxWorld(), ['tickets', 'list', '--updated-since', text])).exitCode).toBe(2);
  }
});

describe('ids as people paste them', () => {
  const run = (...argv: string[]) => svc(sandboxWorld(), argv);

  test('#T-1008 is T-1008, alone and in a file', async () => {
    expect(JSON.parse((await run('tickets', 'get', '#T-1008', '--json')).stdout)).toMatchObject({
      ticket_number: 'T-1008',
    });
    const ran = await svc(sandboxWorld(), 'tickets note --from - --yes --json'.split(' '), {
      stdin: 'ticket,body\n#T-1008,Seen\n',
    });
    expect(JSON.parse(ran.stdout)).toMatchObject({ done: 1 });
  });

  test.each([
    ['tickets', 'T1008', 'Did you mean: svc tickets get T-1008\n'],
    ['tickets', 'http://localhost:8080/tickets/T-1008', 'Did you mean: svc tickets get T-1008\n'],
    ['tickets', 'https://app.svc.example/tickets/8', 'Did you mean: svc tickets get 8\n'],
    ['tickets', 'https://app.svc.example/tickets/8?page=2', 'Did you mean: svc tickets get 8\n'],
    ['tickets', '#8', 'Did you mean: svc tickets get 8\n'],
    ['tickets', '"T-1008",', 'Did you mean T-1008?\n'],
    ['contacts', 'https://app.svc.example/contacts/7', 'Did you mean 7?\n'],
    ['contacts', 'Yara Kim <yara.kim@x.example>', 'Did you mean: svc contacts get yara.kim@x.example\n'],
    ['contacts', '"yara.kim@x.example"', 'Did you mean: svc contacts get yara.kim@x.example\n'],
    ['contacts', 'https://app.svc.example/contacts/5?x=me@y.example', 'Did you mean: svc contacts get 5\n'],
    ['contacts', '+12125550106', 'To find it by phone: svc contacts find +12125550106\n'],
    ['contacts', '+1 212 555 0106', "To find it by phone: svc contacts find '+1 212 555 0106'\n"],
  ])('svc %s get %s', async (group, text, hint) => {
    const { exitCode, stderr } = await run(group, 'get', text);
    expect([2, 3]).toContain(exitCode);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('--search');
  });

  test.each([
    ['contacts', "o'mina@x.example", ' mina@x.example'],
    ['tickets', 'acme-report-2', 'tickets get 2'],
  ])('svc %s get %s names nobody else', async (group, text, other) => {
    const { exitCode, stderr } = await run(group, 'get', text);
    expect(exitCode).toBe(3);
    expect(stderr).not.toContain(other);
  });

  test('of a flag, what is neither is told what it takes', async () => {
    expect((await run('tickets', 'list', '--contact', 'yara')).stderr).toContain(
      '--contact must be the id or email of a contact, not "yara".\nTo look for it: svc contacts find yara\n',
    );
  });

  test('another command is told what it takes, without what else belongs to it', async () => {
    const { stderr } = await run('tickets', 'reply', 'T1008', '--body', 'x', '--yes');
    expect(stderr).toContain('Did you mean T-1008?');
  });
});

test('contacts find takes a phone as it is dialled within its country', { tags: ['long'] }, async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'one.csv');
  writeFileSync(file, 'name,email,phone\nNina,nina@x.example,+491714000055\n');
  expect((await svc(world, ['contacts', 'sync', file])).exitCode).toBe(0);
  const found = async (text: string) => JSON.parse((await svc(world, ['contacts', 'find', text, '--json'])).stdout);
  for (const pulled of [false, true]) {
    if (pulled) expect((await svc(world, ['mirror', 'pull'])).exitCode).toBe(0);
    for (const text of ['0171 4000055', '01714000055'])
      expect(await found(text)).toMatchObject([{ email: 'nina@x.example' }]);
    expect(await found('0171 400')).toEqual([]);
  }
});

describe('an id behind a #, as people and svc write it', () => {
  test.each([
    ['conversations get #3', '"id": 3'],
    ['conversations resolve #3', '"id": 3'],
    ['changelog get #1', '"id": 1'],
    ['contacts get #7', '"contact_id": 7'],
    ['lists members #1', '"contact_id"'],
  ])('svc %s is that record', async (line, shown) => {
    const ran = await svc(sandboxWorld(), [...line.split(' '), '--json']);
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain(shown);
  });

  test.each([
    ['tickets get #1008', 'Did you mean: svc tickets get T-1008'],
    ['tickets close #1008', 'Did you mean T-1008?'],
    ['tickets close 9 #1008', 'Did you mean T-1008?'],
    ['tickets get #8', 'Did you mean: svc tickets get 8'],
  ])('svc %s is told with the number that is meant, and nothing is changed', async (line, hint) => {
    const world = sandboxWorld();
    const ran = await svc(world, line.split(' '));
    expect(ran.stderr).toContain(hint);
    expect(world.sent.filter((sent) => !sent.startsWith('GET'))).toEqual([]);
  });
});
