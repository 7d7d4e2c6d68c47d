import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

describe('a template on a terminal', () => {
  const withTemplate = () => {
    const world = sandboxWorld();
    mkdirSync(join(world.folder, 'config/templates'), { recursive: true });
    writeFileSync(join(world.folder, 'config/templates/refund.md'), 'Dear {{contact.name}}, it is paid back.\n');
    writeFileSync(join(world.folder, 'config/templates/news.md'), 'It is {{title}}.\n');
    return world;
  };

  test.each([
    ['tickets reply T-1042 --template refund', 'POST /tickets/42/replies'],
    ['conversations reply 1 --template refund', 'POST /conversations/1/messages'],
    ['changelog update 1 --template news', 'PATCH /changelog/1'],
  ])('svc %s shows the text and asks; no means that nothing is sent', async (line, request) => {
    const world = withTemplate();
    const ran = await svc(world, line.split(' '), { columns: 80, answers: [false] });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/(?:it is paid back|It is .+)\./u);
    if (line.includes('reply')) expect(ran.stderr).toMatch(/^To: .*<\S+>, by \w+\nAbout: \S.*\n\nDear/mu);
    expect(world.sent).not.toContain(request);
    expect((await svc(world, line.split(' '), { columns: 80, answers: [true] })).exitCode).toBe(0);
    expect(world.sent.filter((one) => one === request)).toHaveLength(1);
  });

  test('with --yes, and in a pipe, nothing is asked', async () => {
    const world = withTemplate();
    const line = ['tickets', 'reply', '8', '--template', 'refund'];
    expect((await svc(world, [...line, '--yes'], { columns: 80 })).exitCode).toBe(0);
    expect((await svc(world, line)).exitCode).toBe(0);
  });

  test.each([
    ['tickets reply 8 --template refund --editor', 'POST /tickets/8/replies', /^Dear \w+, it is paid back\.\n# -/u],
    ['changelog update 1 --template news --editor', 'PATCH /changelog/1', /^It is .+\.$/u],
  ])('svc %s opens the filled template', async (line, request, expected) => {
    const world = withTemplate();
    let opened = '';
    const edit = (initial: string) => {
      opened = initial;
      return `Hello. ${initial}`;
    };
    expect((await svc(world, line.split(' '), { columns: 80, edit })).exitCode).toBe(0);
    expect(opened).toMatch(expected);
    expect(world.sent).toContain(request);
  });

  test('an editor that leaves it as it was is asked about, and in a pipe sends nothing', async () => {
    const world = withTemplate();
    const line = ['tickets', 'reply', '8', '--template', 'refund', '--editor'];
    const edit = (initial: string) => initial;
    expect((await svc(world, line, { columns: 80, edit, answers: [false] })).exitCode).toBe(1);
    const piped = await svc(world, line, { edit, env: { EDITOR: 'true' } });
    expect(piped).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('leave out --editor') });
    expect(world.sent).not.toContain('POST /tickets/8/replies');
  });

  test('that is not there is answered with what writes it', async () => {
    const ran = await svc(sandboxWorld(), ['tickets', 'reply', '8', '--template', 'fix', '--yes']);
    expect(ran.stderr).toBe(
      'Error: There is no template fix.\nName a file, or write the template: svc templates edit fix\n',
    );
  });

  test('another text beside it is named by its own flag', async () => {
    const ran = await svc(withTemplate(), ['tickets', 'reply', '8', '--template', 'refund', '--body-file', 'x']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: 'Error: Give only one of --body-file and --template.\n' });
  });
});

describe('hints', () => {
  test('the line of a write carries the profile', async () => {
    const world = sandboxWorld();
    const create = ['-p', 'third', 'changelog', 'create', '--title', 'Title', '--content', 'Content'];
    for (const columns of [80, undefined]) {
      const ran = await svc(world, create, columns === undefined ? {} : { columns });
      expect(ran.stdout + ran.stderr).toContain('To publish it: svc -p third changelog publish');
      expect((ran.stdout + ran.stderr).match(/To publish it/gu)).toHaveLength(1);
    }
  });

  test.each(['glob', 'default'])('-p %s whoami names that profile, not another that is saved', async (profile) => {
    const world = sandboxWorld();
    const env = { SVC_API_KEY: undefined };
    await svc(world, ['login', '--with-api-key', '-p', 'other'], { stdin: 'key_acme\n', env });
    const ran = await svc(world, ['-p', profile, 'whoami'], { env });
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toContain(`svc -p ${profile} login`);
    expect(ran.stderr).not.toContain('svc -p other');
  });

  test('no record without its id', async () => {
    const world = sandboxWorld();
    for (const [line, words] of [
      ['tickets get 99999', 'Ticket 99999'],
      ['tickets note 99999 --body x', 'Ticket 99999'],
      ['contacts update 99999 --company x', 'Contact 99999'],
      ['changelog publish 99999', 'Changelog entry 99999'],
      ['tickets close 99999', 'Ticket 99999'],
    ] as const) {
      const ran = await svc(world, line.split(' '));
      expect([line, ran.exitCode]).toEqual([line, 3]);
      expect(ran.stderr).toContain(words);
    }
  });
});

describe('lists', () => {
  test('conversations know the statuses that their records have', async () => {
    const ran = await svc(sandboxWorld(), ['conversations', 'list', '--status', 'open', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)[0].status).toBe('open');
  });

  test('a pipe has both names of a person, as a terminal does', async () => {
    const world = sandboxWorld();
    const [ticket] = JSON.parse((await svc(world, ['tickets', 'list', '--json', '--limit', '1'])).stdout);
    const person = `${ticket.contact.name} ${ticket.contact.last_name}`;
    expect((await svc(world, ['tickets', 'list', '--limit', '1'])).stdout).toContain(`\t${person}\t`);
    expect((await svc(world, ['tickets', 'list', '--limit', '1'], { columns: 200 })).stdout).toContain(person);
    const asked = await svc(world, ['tickets', 'list', '--limit', '1', '--fields', 'contact.name']);
    expect(asked.stdout).toBe(`${ticket.contact.name}\n`);
  });

  test('at 80 columns tickets keep the priority before the id', async () => {
    const { stdout } = await svc(sandboxWorld(), ['tickets', 'list'], { columns: 80 });
    const [header = ''] = stdout.split('\n');
    expect(header).toContain('Priority');
    expect(header).not.toMatch(/\bID\b/u);
  });

  test.each([
    'mirror changes',
    'tickets waiting',
    'contacts find',
    'contacts duplicates',
    'lists list',
    'lists members',
    'webhooks dead list',
  ])('the help of svc %s has both flags that are named where it leaves something out', async (command) => {
    const { stdout } = await svc(sandboxWorld(), [...command.split(' '), '--help']);
    expect(stdout).toMatch(/^ +--limit <N>/mu);
    expect(stdout).toMatch(/^ +--all /mu);
  });

  test.each([['lists members 1 --limit 1'], ['lists list --limit 1']])(
    'svc %s says how much it leaves out',
    async (line) => {
      const ran = await svc(sandboxWorld(), line.split(' '));
      expect(ran.stderr).toMatch(/^Showing 1 of \d+\. For more: --limit N, or --all\.\n$/u);
    },
  );
});

describe('a ticket that is so already', () => {
  test.each([
    ['resolve', 'resolved'],
    ['close', 'closed'],
    ['reopen', 'open'],
  ])('svc tickets %s sends nothing the second time', async (name, status) => {
    const world = sandboxWorld();
    await svc(world, ['tickets', 'update', '7', '--status', status]);
    const before = JSON.parse((await svc(world, ['tickets', 'get', '7', '--json'])).stdout);
    world.clock.advance(60_000);
    const already = world.sent.length;
    const ran = await svc(world, ['tickets', name, 'T-1007']);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain(`Ticket T-1007 is ${status} already. Nothing was sent.`);
    const dry = await svc(world, ['tickets', name, 'T-1007', '--dry-run']);
    expect(dry).toMatchObject({ exitCode: 0, stderr: `Ticket T-1007 is ${status} already.\nNothing was sent.\n` });
    expect(world.sent.slice(already).filter((one) => one.startsWith('PATCH'))).toEqual([]);
    expect(JSON.parse((await svc(world, ['tickets', 'get', '7', '--json'])).stdout).resolved_at).toBe(
      before.resolved_at,
    );
  });
});

test('a dry run counts what --max-sends lets through', async () => {
  const world = sandboxWorld();
  const stdin = Array.from({ length: 9 }, (_, at) => `${at + 1}\n`).join('');
  const line = ['tickets', 'close', '--from', '-', '--dry-run', '--max-sends', '3'];
  const ran = await svc(world, [...line, '--json'], { stdin });
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 9, would_send: 3, minutes: 1 });
  const told = await svc(world, line, { stdin, columns: 80 });
  expect(told.stdout.replaceAll('\n', ' ')).toContain('3 of 9 rows would be sent, because of --max-sends');
});

test('a login that is asked for a client id hears where one comes from', async () => {
  const ran = await svc(sandboxWorld(), ['login'], {
    columns: 80,
    answers: [''],
    env: { SVC_API_KEY: undefined },
  });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('An API key needs none: svc login --with-api-key');
});

describe('skill print', () => {
  test('with --json is JSON, else the Markdown', async () => {
    const { stdout } = await svc(sandboxWorld(), ['skill', 'print']);
    expect(stdout).toMatch(/^---\nname: svc\n/u);
    for (const words of ['svc mirror', '--from', 'svc watch']) expect(stdout).toContain(words);
    const ran = await svc(sandboxWorld(), ['skill', 'print', '--json']);
    expect(JSON.parse(ran.stdout)).toEqual({ name: 'svc', markdown: stdout });
  });
});

describe('what a new user reads first', () => {
  const terminal = { columns: 80, env: { NO_COLOR: '1' } };

  test('doctor says that no profile is saved, without a tick', async () => {
    const { stdout } = await svc(sandboxWorld(), ['doctor'], terminal);
    expect(stdout).toMatch(/^- config +No profile is saved yet; the next login saves default\.$/mu);
    const { checks } = JSON.parse((await svc(sandboxWorld(), ['doctor', '--json'])).stdout);
    expect(checks.find(({ name }: { name: string }) => name === 'config')).toEqual({
      ...{ name: 'config', ok: true, fix: null },
      message: 'No profile is saved yet; the next login saves default.',
    });
  });

  test('every flag that takes a contact says that an email will do', async () => {
    const help = readFileSync(join(import.meta.dirname, 'help.txt'), 'utf8');
    const flags = help.match(/^ {2}--contact <ID> +.*(?:\n {10,}.*)*/gmu) ?? [];
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((flag) => !flag.replaceAll(/\s+/gu, ' ').toLowerCase().includes('id or email'))).toEqual([]);
  });

  test('a choice that its description explains is not listed a second time', async () => {
    const { stdout } = await svc(sandboxWorld(), ['mcp', 'install', '--help']);
    expect(stdout.match(/vscode/gu)).toHaveLength(1);
  });

  test('config set tells each setting with its values', async () => {
    const { stdout } = await svc(sandboxWorld(), ['config', 'set', '--help']);
    expect(stdout).toMatch(/^ {2}color +When to use colour: auto, always, never$/mu);
    expect(stdout).toMatch(/^ {2}output +How data is printed: table, json, jsonl, csv, yaml$/mu);
    expect(stdout).toMatch(/^ {2}pager {2}/mu);
  });

  test('a cell that is none of the choices is shown, with the flag that gives it a meaning', async () => {
    const world = sandboxWorld();
    const file = join(world.folder, 'tickets.csv');
    writeFileSync(file, 'subject,description,Status\nA,B,On hold\nC,D,open\n');
    const ran = await svc(world, ['tickets', 'create', '--from', file, '--dry-run', '--json']);
    const [{ error }] = JSON.parse(ran.stdout).errors;
    expect(error).toBe(
      'Status must be open or pending or resolved or closed, not "On hold" (to read it: --map-value "Status:On hold=pending")',
    );
    const read = await svc(world, [
      'tickets',
      'create',
      '--from',
      file,
      '--dry-run',
      '--map-value',
      'Status:On hold=open',
    ]);
    expect(read.exitCode).toBe(0);
  });
});

describe('a refusal', () => {
  const world = () => sandboxWorld();

  test('says what is wrong with a field once', async () => {
    const ran = await svc(world(), ['contacts', 'update', '7', '--phone', '123']);
    expect(ran.stderr.match(/is not a phone number/gu)).toHaveLength(1);
    const json = await svc(world(), ['contacts', 'update', '7', '--phone', '123', '--json']);
    expect(JSON.parse(json.stderr.trim().split('\n').at(-1) ?? '').error.fields).toEqual({
      phone: ['is not a phone number'],
    });
  });

  test('of a reply to nobody, or that fails to go out, is a sentence', async () => {
    const there = world();
    const { stdout: id } = await svc(there, ['tickets', 'create', '--subject', 'x', '--json', '--jq', '.id']);
    const refused = async (of: string) => (await svc(there, ['tickets', 'reply', of.trim(), '--body', 'x'])).stderr;
    expect(await refused(id)).toBe(
      'Error: The requester has no email address.\n' +
        'A requester without an email needs one: svc contacts update CONTACT_ID --email ADDRESS\n' +
        `To see who it is, if anybody: svc tickets get ${id}`,
    );
    await there.control('POST', 'act', { kind: 'sends_fail', account_id: 1, value: true });
    expect(await refused('8')).toContain('Error: The message could not be sent.\n');
    const chat = await svc(there, ['conversations', 'reply', '2', '--body', 'x']);
    expect(chat).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/--email ADDRESS\n.*conversations get 2\n$/u),
    });
  });

  test('of an id of a record without another name says where the ids are', async () => {
    const { stderr, exitCode } = await svc(world(), ['lists', 'members', 'Beta']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'Error: ID must be a whole number from 1, not "Beta".\nTo see the ids: svc lists list\n',
    });
    expect((await svc(world(), ['conversations', 'get', 'x'])).stderr).toContain(
      'To see the ids: svc conversations list',
    );
  });

  test('of a ticket that is not there tells how a number is typed', async () => {
    expect((await svc(world(), ['tickets', 'get', '1008'])).stderr).toContain(
      'such as T-1008.\nTo see the ids: svc tickets list\n',
    );
    expect((await svc(world(), ['contacts', 'get', '99999'])).stderr).not.toContain('T-1008');
  });
});

test.each(['tickets', 'conversations', 'feedback', 'changelog'])(
  '%s list --status all is the list without a filter, as in other programs',
  async (group) => {
    const world = sandboxWorld();
    const every = await svc(world, [group, 'list', '--all', '--json']);
    const ran = await svc(world, [group, 'list', '--all', '--json', '--status', 'all']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: every.stdout, stderr: every.stderr });
    expect(JSON.parse(ran.stdout).length).toBeGreaterThan(0);
  },
);

test('mirror changes without a time tells of the last day, and says so', { tags: ['long'] }, async () => {
  const world = sandboxWorld();
  await svc(world, ['mirror', 'pull', '--only', 'tickets']);
  const ran = await svc(world, ['mirror', 'changes', '--json']);
  expect(ran).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  expect(ran.stderr).toContain('Changes of the last day. For others: --since TIME');
  expect((await svc(world, ['mirror', 'changes', '--since', '2d', '--json'])).stderr).not.toContain('last day');
});

test.each([40, 60, 80])('at %i columns a difference keeps the column of its marks', async (columns) => {
  const world = sandboxWorld();
  const file = join(world.folder, 'CHANGELOG.md');
  const words = 'A sentence that is long enough to be broken more than once on a terminal that is not a wide one. ';
  writeFileSync(file, `# Changelog\n\n## 1.0.0\n\n- ${words.repeat(2)}\n`);
  const ran = await svc(world, ['changelog', 'release', '1.0.0', '--from', file, '--dry-run'], {
    columns,
    env: { NO_COLOR: '1' },
  });
  const lines = ran.stdout.trimEnd().split('\n');
  expect(lines.filter((line) => line.length > columns && line.trim().includes(' '))).toEqual([]);
  const first = lines.findIndex((line) => line.startsWith('    + '));
  expect(first).toBeGreaterThan(0);
  expect(lines[first + 1]).toMatch(/^ {6}\S/u);
});

test('lists delete names the list before it asks, and asks nothing of one that is not there', async () => {
  const world = sandboxWorld();
  const [first] = JSON.parse((await svc(world, ['lists', 'list', '--json'])).stdout);
  const id = String(first.contacts_list_id);
  const declined = await svc(world, ['lists', 'delete', id], { columns: 80, answers: [false] });
  expect(declined).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`Contact list ${id}: ${first.name}`) });
  expect((await svc(world, ['lists', 'delete', '999'], { columns: 80 })).exitCode).toBe(3);
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
});

test('short flags in one word before a command: what is not understood is no success', async () => {
  const world = sandboxWorld();
  for (const line of ['-yp default logout', '-yp default doctor', '-yo json whoami'])
    expect((await svc(world, line.split(' '))).exitCode, line).not.toBe(0);
});
