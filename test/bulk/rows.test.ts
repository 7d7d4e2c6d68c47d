import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });
const put = (world: SandboxWorld, name: string, text: string | Uint8Array): string => {
  const path = join(world.folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** Runs a command on a file of that text. */
async function from(text: string | Uint8Array, words: string, flags: readonly string[] = [], options: RunOptions = {}) {
  const world = fresh();
  const path = put(world, 'rows.csv', text);
  const ran = await svc(world, [...words.split(' '), '--from', path, '--json', ...flags], options);
  const report = ran.stdout === '' ? {} : JSON.parse(ran.stdout);
  const writes = world.sent.filter((line) => !line.startsWith('GET'));
  return { world, path, ran, report, writes };
}

const unused = (flag: string, column: string) =>
  `${flag} is not used: every row has its own ${column}. To use ${flag}: --map "${column}=ignore"`;

type State = {
  readonly tickets: readonly { readonly id: number; readonly subject: string; readonly priority: number }[];
};
const stateOf = async (world: SandboxWorld) => (await world.control('GET', 'state')) as State;

test('an address with a control character is none in a file, in a flag and for the service', async () => {
  const email = 'ada\x1a@example.com';
  const { world, ran, report, writes } = await from(`id,email\n7,${email}\n`, 'contacts update', ['--yes']);
  expect(ran.exitCode).toBe(2);
  expect(report.errors).toEqual([expect.objectContaining({ error: 'email must be an email address' })]);
  expect(writes).toEqual([]);
  expect(await svc(world, ['contacts', 'update', '7', '--email', email])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('email must be an email address'),
  });
  const raw = await svc(world, ['api', '/contacts/7', '-X', 'PATCH', '-f', `email=${email}`, '--include']);
  expect(raw.stdout).toContain('HTTP 422');
});

describe('a file', () => {
  test('a --map that names two columns is refused, and both are named', async () => {
    const text = 'Subject,Note,Note\na,b,c\n';
    const { ran, writes } = await from(text, 'tickets create', ['--map', 'Note=description']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(/2 columns.*Note.*#2.*#3/su);
    expect(writes).toEqual([]);
  });

  test.each([
    ['UTF-16', Buffer.from('\ufeffsubject;priority\nÜber;3\n', 'utf16le')],
    ['gzip', gzipSync('subject,priority\nÜber,3\n')],
    ['tab-separated CSV with a quoted line end', 'priority\tsubject\n3\t"Über"\n'],
    ['JSON as jq writes it', '{\n  "subject": "Über",\n  "priority": 3\n}\n'],
    ['an array on one line', '[{"subject":"Über","priority":3}]'],
  ])('is read as %s', async (_, text) => {
    const { world, ran } = await from(text, 'tickets create');
    expect(ran.exitCode).toBe(0);
    expect((await stateOf(world)).tickets.at(-1)).toMatchObject({ subject: 'Über', priority: 3 });
  });

  test.each([
    ['empty', '', /is empty/u],
    ['blank', ' \n\n', /only blank lines\.\nCheck what made the file/u],
    ['a header without rows', 'subject\n', /holds no rows/u],
    [
      'two columns for one field',
      'subject,Subject\na,b\n',
      /"subject" and "Subject" both fill subject.*--map "#1=ignore"/su,
    ],
    ['no id', 'body\nHello\n', /no column id/u],
  ])('that is %s is refused, and nothing is sent', async (_, text, said) => {
    const { ran, writes } = await from(text, /id/u.test(String(said)) ? 'tickets note' : 'tickets create');
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(said);
    expect(writes).toEqual([]);
  });

  test('that is not there, or standard input of a terminal, is refused', async () => {
    expect(await svc(fresh(), ['tickets', 'create', '--from', '/nowhere.csv'])).toMatchObject({ exitCode: 2 });
    const ran = await svc(fresh(), ['tickets', 'create', '--from', '-'], { columns: 80 });
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Standard input is a terminal') });
  });

  test('of bare ids is enough for a command that needs no more', async () => {
    const { ran, writes } = await from('7\n\n8\nx\n', 'tickets close');
    expect(ran.exitCode).toBe(8);
    expect(writes).toEqual(['PATCH /tickets/7', 'PATCH /tickets/8']);
    expect(JSON.parse(ran.stdout).errors).toEqual([{ line: 4, error: 'id must be a number, not "x"' }]);
  });

  test('of ids in JSON too', async () => {
    expect((await from('[7, 8]', 'tickets close')).writes).toEqual(['PATCH /tickets/7', 'PATCH /tickets/8']);
  });
});

describe('rows', () => {
  test('that the service would refuse are named by line and column, and never go out', async () => {
    const long = 'x'.repeat(256);
    const { report, ran, writes } = await from(
      `Subject,Priority,Due at\nGood,1,2030-01-01\n,1,\nBad,9,\nBad,hihg,\n${long},,\nBad,,soon\nBad,1,,extra\n`,
      'tickets create',
    );
    expect(ran.exitCode).toBe(8);
    expect(writes).toHaveLength(1);
    expect(report).toMatchObject({ rows: 7, done: 1, rejected: 6, unknown: 0, unsent: 0 });
    expect(report.errors).toEqual([
      { line: 3, error: 'Subject is required' },
      { line: 4, error: 'Priority must be a whole number from 0 to 4' },
      { line: 5, error: expect.stringMatching(/^Priority must be 0 to 4, or none, .*, not "hihg" \(/u) },
      { line: 6, error: 'Subject may have at most 255 characters, this has 256' },
      { line: 7, error: expect.stringContaining('Due at must be a time like') },
      { line: 8, error: 'has 4 cells, the header has 3' },
    ]);
  });

  test('with --strict: one bad row and nothing is sent', async () => {
    const { ran, writes } = await from('subject,priority\nGood,1\nBad,9\n', 'tickets create', ['--strict']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('1 row of rows.csv is bad') });
    expect(writes).toEqual([]);
  });

  test('none of which can be sent are exit 2', async () => {
    expect((await from('subject,priority\nBad,9\n', 'tickets create')).ran.exitCode).toBe(2);
  });

  test('of which one is no JSON do not stop the others', async () => {
    const { report, ran } = await from('{"id":7}\n{"id": 8,\n"x"\n{"id":9}\n', 'tickets close');
    expect(ran.exitCode).toBe(8);
    expect(report).toMatchObject({
      done: 2,
      errors: [
        { line: 2, error: 'is not valid JSON' },
        { line: 3, error: 'is not a JSON object' },
      ],
    });
  });

  test.each([
    ['JSON', '{"id":7,"metadata":{"a":1}}\n{"id":8,"company":"A","company":"B"}\n', 'has the key "company" twice'],
    ['JSON in a cell', 'id,metadata\n7,"{""a"":1}"\n8,"{""a"":1,""a"":2}"\n', 'metadata has the key "a" twice'],
    ['JSON', '{"id":7,"company":"a\\\\u0000b"}\n{"id":8,"company":"a\\u0000b"}\n', 'holds a NUL character (\\u0000)'],
    [
      'JSON in a cell',
      'id,metadata\n7,"{""a"":1}"\n8,"{""a"":""\\u0000""}"\n',
      'metadata holds a NUL character (\\u0000)',
    ],
  ])('of which one has a key twice or a NUL, in %s, are sent without that one', async (_, rows, error) => {
    const { report, ran } = await from(rows, 'contacts update');
    expect(ran.exitCode).toBe(8);
    expect(report).toMatchObject({ done: 1, errors: [{ error }] });
  });

  test('none of which can be read as JSON name no column that is not sent', async () => {
    const { ran } = await from('{"subject":"a"\n', 'tickets create');
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).not.toContain('Columns that are not sent');
  });

  test('about a record of another account are rejected, and the rest goes on', async () => {
    const { report, ran } = await from('id,body\n7,One\n99999,Two\n8,Three\n', 'tickets note');
    expect(ran.exitCode).toBe(8);
    expect(report).toMatchObject({ done: 2, rejected: 1, errors: [{ line: 3 }] });
  });

  test('about one record keep their order, also at 8 in flight', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${7 + (i % 2)},${i % 5}`);
    const { world } = await from(`id,priority\n${lines.join('\n')}\n`, 'tickets update', ['--concurrency', '8']);
    const log = (await world.control('GET', 'log')) as { path: string; body?: { priority: number } }[];
    for (const id of [7, 8]) {
      const sent = log.filter(({ path }) => path === `/tickets/${id}`).map(({ body }) => body?.priority);
      expect(sent).toEqual(lines.filter((line) => line.startsWith(`${id},`)).map((line) => Number(line.split(',')[1])));
    }
  });

  test('take the flags of the command line, and their own cell wins', async () => {
    const { world } = await from('subject,priority\nA,\nB,4\n', 'tickets create', [
      '--priority',
      '2',
      '--description',
      'D',
    ]);
    expect((await stateOf(world)).tickets.slice(-2)).toMatchObject([
      { subject: 'A', priority: 2, description: 'D' },
      { subject: 'B', priority: 4, description: 'D' },
    ]);
  });

  test.each<[words: string, text: string, flags: readonly string[], said: readonly string[]]>([
    ['tickets update', 'id,Priority\n7,1\n8,2\n', ['--priority', '3'], [unused('--priority', 'Priority')]],
    ['tickets update', '{"id":7,"priority":1}\n', ['--priority=3'], [unused('--priority', 'priority')]],
    ['tickets update', 'id,priority\n7,1\n8,\n', ['--priority', '3'], []],
    ['tickets update', 'id,priority\n7,1\nx,\n', ['--priority', '3'], [unused('--priority', 'priority')]],
    ['tickets update', 'id,priority\n7,1\n', ['--priority', '3', '--map', 'priority=ignore'], []],
    ['tickets update', 'id,due_at\n7,2030-01-31\n', ['--clear', 'due_at'], [unused('--clear due_at', 'due_at')]],
    [
      'tickets create',
      'subject,contact\nA,7\n',
      ['--contact', '8', '--description=D'],
      [unused('--contact', 'contact')],
    ],
    [
      'contacts update',
      'id,metadata.plan\n7,pro\n',
      ['--metadata', 'plan=free'],
      [unused('--metadata', 'metadata.plan')],
    ],
    ['contacts update', 'id,metadata.plan\n7,pro\n', ['--metadata', 'seats=2'], []],
    [
      'contacts update',
      'id,metadata.a,metadata.plan\n7,x,pro\n',
      ['--metadata', 'plan=free', '--metadata', 'b=y'],
      [unused('--metadata', 'metadata.plan')],
    ],
    [
      'events send',
      'trigger,contact.name,contact.email\nx,Ada,a@example.com\n',
      ['--email', 'b@example.com'],
      [unused('--email', 'contact.email')],
    ],
  ])('%s on %j beside %j says which flags no row takes', async (words, text, flags, said) => {
    for (const more of [['--dry-run'], []]) {
      const { ran } = await from(text, words, [...flags, ...more, '--yes']);
      expect(ran.stderr.split('\n').filter((line) => line.includes('is not used'))).toEqual(said);
    }
  });

  test('say that no row takes a flag before anybody is asked', async () => {
    const world = fresh();
    const path = put(world, 'rows.csv', 'id,body,note\n7,Hello,Mine\n');
    put(world, 'config/templates/dear.md', 'Dear {{name}}');
    const line = ['tickets', 'reply', '--from', path, '--note', 'Other'];
    const ran = await svc(world, line, { columns: 80, answers: [false] });
    expect(ran.stderr).toMatch(/--note is not used: every row has its own note[\s\S]*They go to 1 ticket/u);
    expect(world.sent.filter((sent) => sent.startsWith('POST'))).toEqual([]);
    const names = put(world, 'names.csv', 'id,name\n7,Ada\n');
    const filled = ['tickets', 'reply', '--from', names, '--template', 'dear', '--set', 'name=you', '--dry-run'];
    expect((await svc(world, filled)).stderr).toContain('--set name is not used: every row has its own name.\n');
    const blank = put(world, 'blank.csv', 'id,name\n7,Ada\n8,\n');
    expect((await svc(world, filled.with(3, blank))).stderr).not.toContain('is not used');
  });

  test('name what is not sent, and --map sends it', async () => {
    const text = 'Nr,Betreff\n1,Hallo\n';
    const { ran } = await from(text, 'tickets create', ['--map', 'Betreff=subject']);
    expect(ran).toMatchObject({
      exitCode: 0,
      stderr: 'Columns that are not sent: Nr.\n',
    });
    expect((await from(text, 'tickets create', ['--map', '#2=subject'])).ran.exitCode).toBe(0);
    const wrong = await from(text, 'tickets create', ['--map', 'Betreff=sujet']);
    expect(wrong.ran.stderr).toMatch(/no field "sujet"[\s\S]*Fields: subject, description/u);
  });

  test('leave a field as it is where a cell is empty; --clear-empty empties it, null is null', async () => {
    const due = { due_at: '2030-01-01T00:00:00.000Z' };
    const set = async (text: string, flags: readonly string[] = []) => {
      const world = fresh();
      await svc(world, ['tickets', 'update', '7', '--due-at', due.due_at]);
      const ran = await svc(world, ['tickets', 'update', '--from', put(world, 'r', text), ...flags]);
      const { tickets } = (await world.control('GET', 'state')) as { tickets: { id: number; due_at: string | null }[] };
      return [ran.exitCode, tickets.find(({ id }) => id === 7)?.due_at];
    };
    expect(await set('id,priority,due_at\n7,1,\n')).toEqual([0, due.due_at]);
    expect(await set('id,priority,due_at\n7,1,\n', ['--clear-empty'])).toEqual([0, null]);
    expect(await set('{"id":7,"due_at":null}')).toEqual([0, null]);
    expect(await set('id,priority\n7,\n')).toEqual([2, due.due_at]);
  });

  test('split lists at --tag-separator', async () => {
    const sample = async (flags: readonly string[]) => {
      const { report } = await from('title,content,labels\nTitle,Text,a;b|c\n', 'changelog create', [
        '--dry-run',
        ...flags,
      ]);
      return report.sample[0].body.labels;
    };
    expect(await sample([])).toEqual(['a', 'b|c']);
    expect(await sample(['--tag-separator', '|'])).toEqual(['a;b', 'c']);
    expect(await sample(['--tag-separator', 'none'])).toEqual(['a;b|c']);
  });

  test('rejected lists of JSON are written as --tag-separator reads them', async () => {
    const world = fresh();
    const file = put(world, 'rows.jsonl', '{"title":"","content":"x","labels":["a;b","c"]}\n');
    const rejects = join(world.folder, 'rejects.csv');
    const argv = ['changelog', 'create', '--from', file, '--rejects', rejects, '--tag-separator', '|'];
    expect((await svc(world, argv)).exitCode).not.toBe(0);
    expect(readFileSync(rejects, 'utf8')).toContain(',a;b|c,');
  });
});

test('a dry run shows the first requests whole and how long the limit makes it last, and sends nothing', async () => {
  const rows = Array.from({ length: 130 }, (_, i) => `${i + 1},Hello`).join('\n');
  const { report, writes, ran } = await from(`id,body\n${rows}\n`, 'tickets reply', ['--dry-run']);
  expect(ran.exitCode).toBe(0);
  expect(report).toMatchObject({ rows: 130, unsent: 130, requests: 0, minutes: 5 });
  expect(report.sample[0]).toEqual({ line: 2, method: 'POST', path: '/tickets/1/replies', body: { body: 'Hello' } });
  expect(writes).toEqual([]);
});

describe('before customers hear anything, or something is deleted', () => {
  const text = 'id,body\n8,Hello\n9,Hello\n';
  test.each([
    ['tickets reply', text, 'Send 2 replies to customers?'],
    ['conversations reply', text, 'Send 2 messages to customers?'],
    ['conversations resolve', '1\n2\n', 'Resolve 2 conversations? Customers may be asked for a rating.'],
    ['lists delete', '1\n2\n', 'Delete 2 contact lists? Their contacts stay.'],
    ['changelog publish', '29\n30\n', 'Publish 2 changelog entries? Subscribers are not emailed.'],
    [
      'events send',
      'trigger,contact.name,email\na,A,a@x.test\nb,B,b@x.test\n',
      'Send 2 events? A sequence that listens may write to the contact.',
    ],
  ])('%s asks once', async (words, rows, question) => {
    const world = fresh();
    const file = put(world, 'rows', rows);
    const argv = [...words.split(' '), '--from', file];
    const ran = await svc(world, argv, { columns: 80, answers: [false] });
    expect(ran.exitCode).toBe(1);
    expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
    await expect(svc(world, argv, { columns: 80 })).resolves.toMatchObject({
      stderr: expect.stringContaining(question),
    });
    const piped = await svc(world, argv);
    expect(piped).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Pass --yes.') });
  });

  test('drafts are not asked about, published entries are', async () => {
    const world = fresh();
    const file = put(world, 'e.csv', 'title,content,status\nDraft,x,\nAnother,x,draft\n');
    expect((await svc(world, ['changelog', 'create', '--from', file])).exitCode).toBe(0);
    const other = put(world, 'f.csv', 'title,content,status\nDraft 2,x,\nPublic,x,published\n');
    expect((await svc(world, ['changelog', 'create', '--from', other])).stderr).toContain('publish 1 changelog entry');
  });

  test('--max-sends sends no more than that, and leaves the rest unsent', async () => {
    const { report, ran, writes, world, path } = await from(text, 'tickets reply', ['--yes', '--max-sends', '1']);
    expect(ran.exitCode).toBe(8);
    expect(report).toMatchObject({ rows: 2, done: 1, unsent: 1 });
    expect(writes).toEqual(['POST /tickets/8/replies']);
    const again = await svc(world, ['tickets', 'reply', '--from', path, '--yes', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ done: 2, unsent: 0, resumed_rows: 1 });
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /tickets/8/replies',
      'POST /tickets/9/replies',
    ]);
  });
});

describe('contacts update --match email', () => {
  test('finds the contact; nobody and several are errors of the row', async () => {
    const world = fresh();
    const [one] = JSON.parse((await svc(world, ['contacts', 'list', '--limit', '1', '--json'])).stdout) as {
      email: string;
      contact_id: number;
    }[];
    const twin = [
      'contacts',
      'create',
      '--name',
      'T',
      '--last-name',
      'W',
      '--email',
      'Twin@x.test',
      '--phone',
      '+12025550123',
    ];
    await svc(world, twin);
    await svc(world, [...twin.slice(0, 3), 'U', ...twin.slice(4)]);
    const file = put(
      world,
      'm.csv',
      `Email,company\n${one?.email.toUpperCase()},Acme\nnobody@x.test,A\ntwin@x.test,B\n`,
    );
    const ran = await svc(world, ['contacts', 'update', '--from', file, '--match', 'email', '--json']);
    expect(ran.exitCode).toBe(8);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      done: 1,
      errors: [
        { line: 3, error: 'Email nobody@x.test: no contact has this email' },
        { line: 4, error: expect.stringMatching(/several contacts have it: \d+, \d+/u) },
      ],
    });
    expect(world.sent.at(-1)).toBe(`PATCH /contacts/${one?.contact_id}`);
  });
});

describe('a field that holds the id of a contact', () => {
  test('takes an email as the flag does; nobody and several are errors of the row', async () => {
    const world = fresh();
    const [yara] = JSON.parse((await svc(world, ['contacts', 'list', '--limit', '1', '--json'])).stdout);
    const file = put(
      world,
      't.csv',
      `subject,contact\na,${yara.email.toUpperCase()}\nb,${yara.contact_id}\nc,nobody@x.test\nd,\ne, ${yara.email} \n`,
    );
    const before = (await stateOf(world)).tickets.length;
    const ran = await svc(world, ['tickets', 'create', '--from', file, '--json', '--concurrency', '1']);
    expect(ran.exitCode).toBe(8);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      done: 4,
      errors: [{ line: 4, error: 'contact nobody@x.test: no contact has this email' }],
    });
    const made = (await stateOf(world)).tickets.slice(before) as readonly { readonly contact_id?: number }[];
    expect(made.map(({ contact_id }) => contact_id ?? null)).toEqual([
      yara.contact_id,
      yara.contact_id,
      null,
      yara.contact_id,
    ]);
    // The emails are looked up by one reading of the list.
    expect(world.sent.filter((line) => line.startsWith('GET /contacts?')).length).toBeLessThan(12);
  });

  test('takes one in JSON Lines, and from --map', async () => {
    const { ran, report } = await from('{"subject":"a","who":"yara.kim@fieldnote.test"}\n', 'tickets create', [
      '--map',
      'who=contact_id',
    ]);
    expect([ran.exitCode, report.done]).toEqual([0, 1]);
  });
});

describe('templates', () => {
  test('fill in a single changelog entry from itself, and say more in their front matter', async () => {
    const world = fresh();
    put(world, 'config/templates/fixed.md', '---\ncategory_id: 1\n---\nUpdate of "{{title}}"');
    const update = ['changelog', 'update', '30', '--template', 'fixed', '--json'];
    expect((await svc(world, update)).exitCode).toBe(0);
    const { content_html } = JSON.parse((await svc(world, ['changelog', 'get', '30', '--json'])).stdout);
    expect(content_html).toMatch(/Update of (?:"|&quot;)Webhooks/u);
    expect((await svc(world, [...update, '--content', 'x'])).exitCode).toBe(2);
    const made = await svc(world, ['changelog', 'create', '--title', 'Title', '--template', 'fixed']);
    expect(made).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The record has nothing for {{title}}'),
    });
  });

  test('are filled from the row; what is empty or unknown is said before anything is sent', async () => {
    const world = fresh();
    put(world, 'config/templates/outage.md', 'Dear {{ First name }},\n{{Was}} is fixed. {{First name}}\n');
    const file = put(world, 'a.csv', 'id,First name,was\n8,Ada,{{id}}\n9,,Export\n');
    const ran = await svc(world, ['tickets', 'reply', '--from', file, '--template', 'outage', '--yes', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      done: 1,
      errors: [{ line: 3, error: "has no value for {{First name}} (to give one: --set 'First name=VALUE')" }],
    });
    const thread = JSON.parse((await svc(world, ['tickets', 'get', '8', '--json'])).stdout);
    expect(thread.messages.at(-1).body).toBe('Dear Ada,\n{{id}} is fixed. Ada');
    put(world, 'config/templates/bad.md', 'Hello {{name}}');
    const bad = await svc(world, ['tickets', 'reply', '--from', file, '--template', 'bad', '--yes']);
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('The template has {{name}}') });
  });

  test('a --set that no template uses is refused, with the names that it has', async () => {
    const world = fresh();
    put(world, 'config/templates/sorry.md', '{{ticket_number}}: {{agent}}');
    put(world, 'config/templates/plain.md', 'Sorry.');
    const file = put(world, 'a.csv', 'id,ticket_number\n8,T-1008\n');
    for (const which of [['8'], ['--from', file, '--yes']]) {
      const reply = ['tickets', 'reply', ...which];
      const slip = await svc(world, [...reply, '--template', 'sorry', '--set', 'agnet=Priya']);
      expect(slip.exitCode).toBe(2);
      expect(slip.stderr).toContain(
        '--set: the template has no {{agnet}}. Nothing was sent.\nDid you mean agent? It has {{ticket_number}}, {{agent}}.\n',
      );
      const plain = await svc(world, [...reply, '--template', 'plain', '--set', 'agent=Priya']);
      expect(plain).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('It has no placeholders.') });
      const lone = await svc(world, [...reply, '--body', 'Sorry.', '--set', 'agent=Priya']);
      expect(lone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--set needs --template.') });
    }
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  test('all that is missing is named at once, with the flags that give it; a slip of the finger in the name too', async () => {
    const world = fresh();
    put(world, 'config/templates/sorry.md', '{{ticket_number}}: {{fix}}, {{agent}}');
    const reply = ['tickets', 'reply', '--template', 'sorry'];
    const single = await svc(world, [...reply, '8']);
    expect(single.exitCode).toBe(2);
    expect(single.stderr).toContain('The record has nothing for {{fix}}, {{agent}}. Nothing was sent.');
    expect(single.stderr).toContain('Add: --set fix=VALUE --set agent=VALUE\n');
    const file = put(world, 'a.csv', 'id,ticket_number\n8,T-1008\n');
    const several = await svc(world, [...reply, '--from', file, '--yes']);
    expect(several.exitCode).toBe(2);
    expect(several.stderr).toContain('The template has {{fix}}, {{agent}}, and the file has no such columns.');
    // A --set gives all customers the same text.
    expect(several.stderr).toContain('Give each row its own in a column each of that name.');
    expect(several.stderr).toContain('For the same in every row: --set fix=VALUE --set agent=VALUE\n');
    const bare = await svc(world, [...reply, '--from', put(world, 'b.csv', 'id\n8\n'), '--yes']);
    expect(bare.stderr).toContain(
      'From a file the columns alone fill in the template, not each ticket itself; svc tickets list -o jsonl writes {{ticket_number}}.\nGive each row its own',
    );
    const given = await svc(world, [...reply, '8', '--set', 'fix=a', '--set', 'agent=b', '--json']);
    expect(given.exitCode).toBe(0);
    for (const argv of [
      ['tickets', 'reply', '8', '--template', 'sory'],
      ['templates', 'show', 'sory'],
    ])
      expect((await svc(world, argv)).stderr).toContain('Did you mean sorry? ');
  });

  test('of a single reply are filled from the record', async () => {
    const world = fresh();
    put(world, 'config/templates/refund.md', 'Dear {{contact.name}}, about {{ticket_number}}: done.');
    const { contact, ticket_number } = JSON.parse((await svc(world, ['tickets', 'get', '8', '--json'])).stdout);
    const ran = await svc(world, ['tickets', 'reply', '8', '--template', 'refund', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ body: `Dear ${contact.name}, about ${ticket_number}: done.` });
    put(world, 'config/templates/due.md', 'Due {{due_at}}');
    const empty = await svc(world, ['tickets', 'reply', '8', '--template', 'due']);
    expect(empty).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nothing for {{due_at}}') });
    const none = await svc(world, ['tickets', 'reply', '8', '--template', '../outside']);
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('There is no template ../outside.') });
  });
});

describe('results', () => {
  test('keep the columns, and map old ids to new ones for the next command', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'old_id,subject,priority\nA-1,One,1\nA-2,Two,9\n');
    const results = join(world.folder, 'created.csv');
    const rejects = join(world.folder, 'rejects.csv');
    await svc(world, ['tickets', 'create', '--from', file, '--results', results, '--rejects', rejects]);
    const id = (await stateOf(world)).tickets.at(-1)?.id;
    expect(readFileSync(results, 'utf8')).toBe(
      `old_id,subject,priority,svc_line,svc_status,svc_id,svc_error\r\nA-1,One,1,2,done,${id},\r\n` +
        'A-2,Two,9,3,rejected,,priority must be a whole number from 0 to 4\r\n',
    );
    expect(readFileSync(rejects, 'utf8')).toBe(
      'old_id,subject,priority,svc_line,svc_error\r\nA-2,Two,9,3,priority must be a whole number from 0 to 4\r\n',
    );
    const notes = put(world, 'n.jsonl', '{"ticket":"A-1","body":"Moved"}\n{"ticket":"A-2","body":"Lost"}\n');
    const out = join(world.folder, 'notes.jsonl');
    const ran = await svc(world, [
      'tickets',
      'note',
      '--from',
      notes,
      '--id-map',
      `${results}:old_id`,
      '--results',
      out,
      '--json',
    ]);
    expect(ran.exitCode).toBe(8);
    expect(world.sent.at(-1)).toBe(`POST /tickets/${id}/notes`);
    expect(
      readFileSync(out, 'utf8')
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { ticket: 'A-1', body: 'Moved', svc_line: 1, svc_status: 'done', svc_error: null },
      {
        ticket: 'A-2',
        svc_status: 'rejected',
        svc_id: null,
        svc_error: 'ticket A-2 is not in created.csv, or was not done there',
      },
    ]);
    // The rejected row, fixed, with the columns that svc added.
    writeFileSync(rejects, readFileSync(rejects, 'utf8').replace(',9,', ',4,'));
    expect((await svc(world, ['tickets', 'create', '--from', rejects])).exitCode).toBe(0);
    expect((await stateOf(world)).tickets.at(-1)).toMatchObject({ subject: 'Two', priority: 4 });
  });

  test('never take the place of the file that is read, nor of each other', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nOne\n');
    const both = join(world.folder, 'x');
    for (const flags of [
      ['--results', file],
      ['--results', both, '--rejects', both],
    ]) {
      const ran = await svc(world, ['tickets', 'create', '--from', file, ...flags]);
      expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('would overwrite') });
    }
    expect(world.sent).toEqual([]);
  });
});

describe('signing secrets of webhooks create', () => {
  const text = 'event,url\nticket.created,https://a.test/x\nticket.created,https://a.test/y\n';

  test('with a credential of the environment they go into the results, which others cannot read', async () => {
    const world = fresh();
    const tokens = (await world.control('POST', 'tokens', {
      account_id: 1,
      scopes: ['webhooks:manage', 'identity'],
    })) as { access_token: string };
    const env = { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: tokens.access_token };
    const file = put(world, 'w.csv', text);
    const refused = await svc(world, ['webhooks', 'create', '--from', file], { env });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Add --results FILE') });
    const results = join(world.folder, 'made.csv');
    const ran = await svc(world, ['webhooks', 'create', '--from', file, '--results', results, '--json'], { env });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const lines = readFileSync(results, 'utf8')
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(lines.map((cells) => cells.at(-1)?.length ?? 0).every((length) => length > 10)).toBe(true);
    expect(statSync(results).mode & 0o777).toBe(0o600);
    const secret = lines[0]?.at(-1) ?? '';
    const { execFileSync } = await import('node:child_process');
    const left = execFileSync('grep', ['-rlF', secret, world.folder], { encoding: 'utf8' }).trim().split('\n');
    expect(left).toEqual([results]);
    // The journal still knows that they were made.
    const again = await svc(world, ['webhooks', 'create', '--from', file, '--results', results, '--json'], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ done: 2, resumed_rows: 2 });
  });
});

describe('a CSV file as exporters write it', () => {
  const made = async (text: string, ...flags: string[]) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const file = join(world.folder, 'export.csv');
    writeFileSync(file, text);
    const ran = await svc(world, ['tickets', 'create', '--from', file, '--dry-run', '--json', ...flags]);
    const { sample = [] } = ran.stdout === '' ? {} : JSON.parse(ran.stdout);
    return { ...ran, bodies: sample.map(({ line, body }: { line: number; body: object }) => ({ line, ...body })) };
  };

  test('is read below the lines above its header, which are named', async () => {
    const { bodies, stderr } = await made('Report of all tickets\n\nsubject,priority\nOne,1\n');
    expect(bodies).toEqual([{ line: 4, subject: 'One', priority: 1 }]);
    expect(stderr).toContain(
      'The header is line 3. Not read above it: "Report of all tickets". To read from line 1: --skip-lines 0',
    );
  });

  test('is read below as many lines as --skip-lines says, whatever is in them', async () => {
    const { bodies } = await made('subject,priority\nsubject,priority\nOne,1\n', '--skip-lines', '1');
    expect(bodies).toEqual([{ line: 3, subject: 'One', priority: 1 }]);
  });

  test('is read without a header, its columns named by their positions', async () => {
    const { bodies } = await made('1,One\n', '--no-header', '--map', '#2=subject', '--map', '#1=priority');
    expect(bodies).toEqual([{ line: 1, subject: 'One', priority: 1 }]);
  });

  test('obeys sep=, and --delimiter by name', async () => {
    expect((await made('sep=;\nsubject;priority\nOne, two;1\n')).bodies).toEqual([
      { line: 3, subject: 'One, two', priority: 1 },
    ]);
    expect((await made('subject|priority\nOne|1\n', '--delimiter', 'pipe')).bodies).toHaveLength(1);
  });

  test('whose first line holds an address is refused with what to type', async () => {
    const { exitCode, stderr } = await made('Ada,ada@example.com\n');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('is a row, not a header');
    expect(stderr).toContain('--no-header --map \\"#2=FIELD\\"');
  });

  test('gets its lines above the header and its missing header back in --rejects', async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const [file, rejects] = [join(world.folder, 'in.csv'), join(world.folder, 'out.csv')];
    writeFileSync(file, 'From x\nsubject,priority\nOne,hihg\n');
    await svc(world, ['tickets', 'create', '--from', file, '--skip-lines', '1', '--rejects', rejects]);
    expect(readFileSync(rejects, 'utf8')).toMatch(/^From x\nsubject,priority,svc_line,svc_error\r\nOne,hihg,3,/u);
    writeFileSync(file, 'One,hihg\n');
    const map = ['--no-header', '--map', '#1=subject', '--map', '#2=priority'];
    await svc(world, ['tickets', 'create', '--from', file, ...map, '--rejects', rejects]);
    expect(readFileSync(rejects, 'utf8')).toMatch(/^One,hihg,1,/u);
  });
});

test('with --match email a number is no id', async () => {
  const { report } = await from('email,company\n101,A\n', 'contacts update', ['--match', 'email']);
  expect(report).toMatchObject({ rejected: 1, errors: [{ error: 'email 101: no contact has this email' }] });
});

describe('ids as people have them', () => {
  test('numbers of tickets are looked up before anything is sent, each once; strangers are errors of their rows', async () => {
    const world = fresh();
    const [one] = JSON.parse((await svc(world, ['tickets', 'list', '--limit', '1', '--json'])).stdout) as {
      id: number;
      ticket_number: string;
    }[];
    const number = one?.ticket_number ?? '';
    const file = put(
      world,
      'n.csv',
      `ticket,body\n${number},One\n${number.toLowerCase()},Two\n${one?.id},Three\nT-0999999,x\n`,
    );
    world.sent.length = 0;
    const ran = await svc(world, ['tickets', 'note', '--from', file, '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      done: 3,
      rejected: 1,
      errors: [{ line: 5, error: 'ticket T-0999999: no ticket has this number' }],
    });
    const firstWrite = world.sent.findIndex((line) => line.startsWith('POST'));
    expect(world.sent.findLastIndex((line) => line.startsWith('GET') && line.includes('?q='))).toBeLessThan(firstWrite);
    expect(world.sent.filter((line) => line === `POST /tickets/${one?.id}/notes`)).toHaveLength(3);
  });

  test('so are emails of contacts, among ids, by one reading of the list', async () => {
    const world = fresh();
    const [one, two] = JSON.parse((await svc(world, ['contacts', 'list', '--limit', '2', '--json'])).stdout) as {
      contact_id: number;
      email: string;
    }[];
    const file = put(
      world,
      'c.csv',
      `id,company\n${one?.email.toUpperCase()},A\n${two?.contact_id},B\nno@example.com,C\n`,
    );
    const ran = await svc(world, ['contacts', 'update', '--from', file, '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      done: 2,
      errors: [{ line: 4, error: 'id no@example.com: no contact has this email' }],
    });
  });
});
