import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { describe, expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const zendesk = [
  'Id,Requester,Requester email,Subject,Status,Priority,Due date',
  '35436,Ann Lee,ann@zd.example,Printer on fire,Open,High,2026-02-01 09:00',
  '35437,Bo,bo@zd.example,,Solved,-,',
  '35438,Ann Lee,ANN@zd.example,Again,Hold,Normal,',
].join('\n');

const freshdesk = [
  'Ticket ID,Subject,Status,Priority,Full name,Email',
  '101,Cannot log in,Open,High,Ann Lee,ann@fd.example',
  '102,Refund for #1071,Pending,Urgent,Bo Diaz,bo@fd.example',
].join('\n');

const zoho = ['Ticket ID,Subject,Status,Priority', '12345,Login issue,Closed,High', '12346,Billing,Closed,Medium'].join(
  '\n',
);

function fileIn(world: SandboxWorld, text: string, name = 'tickets.csv'): string {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
}

type Report = { readonly read_as: object; readonly errors: readonly { readonly error: string }[] } & Readonly<
  Record<'rows' | 'done' | 'rejected' | 'unknown' | 'unsent', number>
>;

async function created(world: SandboxWorld, text: string, args: readonly string[] = [], options: RunOptions = {}) {
  const line = ['tickets', 'create', '--from', fileIn(world, text), '--json', ...args];
  const ran = await svc(world, line, options);
  return { ran, report: (ran.stdout.trim() === '' ? {} : JSON.parse(ran.stdout)) as Report };
}

async function newest(world: SandboxWorld, count: number) {
  const { stdout } = await svc(world, ['tickets', 'list', '--limit', String(count), '--json']);
  const records = JSON.parse(stdout) as {
    subject: string;
    status: string;
    priority: number;
    contact: { email: string } | null;
  }[];
  return records.map(({ subject, status, priority, contact }) => [subject, status, priority, contact?.email ?? null]);
}

const writesOf = ({ sent }: SandboxWorld) => sent.filter((line) => !line.startsWith('GET'));

describe('values of other systems', () => {
  test('a priority by name and a status are taken, and the report says how they were read', async () => {
    const world = sandboxWorld();
    const { ran, report } = await created(world, zendesk, [
      '--subject',
      '(no subject)',
      '--map-value',
      'Status:Hold=pending',
    ]);
    expect(report).toMatchObject({ rows: 3, done: 3, rejected: 0, unknown: 0, unsent: 0, errors: [] });
    expect(report.read_as).toEqual({
      Status: { Solved: 'resolved', Hold: 'pending' },
      Priority: { High: 3, '-': 0, Normal: 2 },
    });
    expect(ran.stderr).toContain('Priority: High is 3, - is 0, Normal is 2');
    expect(ran.exitCode).toBe(0);
    expect((await newest(world, 3)).sort()).toEqual([
      ['(no subject)', 'resolved', 0, null],
      ['Again', 'pending', 2, null],
      ['Printer on fire', 'open', 3, null],
    ]);
  });

  test.each([
    ['Freshdesk', freshdesk, 3],
    ['Zoho', zoho, 4],
  ])('a file of %s goes as it is, and the columns that are left out are named', async (_, text, writes) => {
    const world = sandboxWorld();
    const { ran, report } = await created(world, text);
    expect(report).toMatchObject({ rows: 2, done: 2, errors: [] });
    expect(ran.stderr).toContain('Columns that are not sent: Ticket ID');
    expect(writesOf(world)).toHaveLength(writes);
  });

  test('a status and a priority that nobody knows are errors of the row, unless --map-value says what they are', async () => {
    const world = sandboxWorld();
    const text = 'subject,status,priority\nA,Escalated,P1\n';
    const bad = await created(world, text);
    expect(bad.ran.exitCode).toBe(2);
    expect(writesOf(world)).toEqual([]);
    const mapped = ['--map-value', 'status:escalated=open', '--map-value', 'priority:P1=4'];
    expect((await created(world, text, mapped)).report).toMatchObject({ done: 1, errors: [] });
    expect(await newest(world, 1)).toEqual([['A', 'open', 4, null]]);
  });

  test('--map-value takes the words that a cell may hold, as the error names them', async () => {
    const world = sandboxWorld();
    const text = 'subject,status,priority\nA,Escalated,sehr hoch\n';
    const mapped = ['--map-value', 'status:escalated=Solved', '--map-value', 'priority:sehr hoch=urgent'];
    const { ran, report } = await created(world, text, mapped);
    expect(report).toMatchObject({ done: 1, errors: [] });
    expect(ran.stderr).toContain('sehr hoch is urgent');
    expect(await newest(world, 1)).toEqual([['A', 'resolved', 4, null]]);
  });

  test.each([
    ['geschlossen', 'closed'],
    ['Hold', 'pending'],
    ['Gelöst', 'resolved'],
    ['In progress', 'open'],
    ['Escalated', 'STATUS'],
  ])('the hint for %s suggests %s', async (cell, status) => {
    const { report } = await created(sandboxWorld(), `subject,Status\nA,${cell}\nB,open\n`, ['--dry-run']);
    expect(report.errors[0]?.error).toContain(`--map-value "Status:${cell}=${status}"`);
  });

  test('every problem of a row is told at once, each once, and that of a US date with the way to write it', async () => {
    const text = 'subject,status,priority,due at\n,on-hold,P1,12/31/2026\nB,open,2,03/04/2026\nC,open,9,\nD,open,2,\n';
    const { report } = await created(sandboxWorld(), text, ['--dry-run']);
    const [all, date, number] = report.errors.map(({ error }) => error);
    expect(all).toMatch(
      /^status must be open.*; priority must be 0 to 4, or none, .* not "P1" \(.*priority:P1=PRIORITY.*; due at .*write 2026-12-31.*; subject is required$/u,
    );
    expect(date).toContain('write 2026-03-04 or 2026-04-03');
    expect(number).not.toContain(';');
  });

  test.each([
    ['31.02.2026', undefined],
    ['29.02.2027', undefined],
    ['29.02.2028', '2028-02-29'],
    ['31/04/2026', undefined],
    ['04/31/2026', undefined],
    ['12/11/2026', '2026-12-11 or 2026-11-12'],
  ])('no day that is not in the calendar is offered for %s', async (cell, way) => {
    const { report } = await created(sandboxWorld(), `subject,due at\nA,${cell}\n`, ['--dry-run']);
    const error = report.errors[0]?.error ?? '';
    expect(error).toContain(`not "${cell}"`);
    expect(/; write (.*)$/u.exec(error)?.[1]).toBe(way);
  });

  test('--map-value of a column that is not there, or without a value, is exit 2', async () => {
    const world = sandboxWorld();
    expect((await created(world, zoho, ['--map-value', 'Prio:High=3'])).ran).toMatchObject({ exitCode: 2 });
    expect((await created(world, zoho, ['--map-value', 'Priority=3'])).ran).toMatchObject({ exitCode: 2 });
    expect(world.sent).toEqual([]);
  });

  test('a status that the document does not name goes with a warning in an update; a slip is an error of its row', async () => {
    const world = sandboxWorld();
    const path = fileIn(world, 'id,status\n7,Solved\n8,on_hold\n9,clsoed\n10,on_hold\n');
    const ran = await svc(world, ['tickets', 'update', '--from', path, '--dry-run', '--json']);
    expect(ran.stderr).toContain('Read as: status: Solved is resolved.');
    expect(ran.stderr).toContain(
      'Warning: status: on_hold is not one of open, pending, resolved, closed; the service decides (to read it: --map-value "status:on_hold=pending").',
    );
    expect(JSON.parse(ran.stdout)).toMatchObject({
      would_send: 3,
      errors: [{ line: 4, error: 'status does not know "clsoed"; did you mean closed?' }],
      sample: [{ body: { status: 'resolved' } }, { body: { status: 'on_hold' } }, { body: { status: 'on_hold' } }],
    });
    expect(world.sent).toEqual([]);
  });

  test('a dry run shows both requests of a row', async () => {
    const world = sandboxWorld();
    const { report } = await created(world, zoho, ['--dry-run']);
    expect(report).toMatchObject({
      sample: [
        { line: 2, method: 'POST', path: '/tickets', body: { subject: 'Login issue', priority: 3 } },
        { line: 2, method: 'PATCH', path: '/tickets/{id}', body: { status: 'closed' } },
        { line: 3, method: 'POST', path: '/tickets', body: { subject: 'Billing', priority: 2 } },
        { line: 3, method: 'PATCH', path: '/tickets/{id}', body: { status: 'closed' } },
      ],
    });
    expect(world.sent).toEqual([]);
  });
});

describe('columns that nothing takes', () => {
  const dry = async (text: string, args: readonly string[] = []) => {
    const world = sandboxWorld();
    const hold = text.includes('Hold') ? ['--map-value', 'Status:Hold=open'] : [];
    const ran = await created(world, text, ['--dry-run', '--subject', 'None', ...hold, ...args]);
    expect(writesOf(world)).toEqual([]);
    return ran;
  };

  test.each([
    [
      'Zendesk',
      zendesk,
      '--map "Due date=due_at" --map "Requester email=contact.email" --map "Requester=contact.name" --create-contacts',
    ],
    ['Freshdesk', freshdesk, '--map "Email=contact.email" --map "Full name=contact.name" --create-contacts'],
    [
      'odd headers',
      'Betreff,"Requester $(x) email",Deadline\nA,a@b.example,2026-02-01\n',
      '--map "Betreff=subject" --map "Deadline=due_at"',
    ],
    ['columns twice', 'subject,Due date,Due date\nA,2026-02-01,\n', '--map "#2=due_at"'],
  ])('and fit a field are named with the flags that send them: %s', async (_, text, flags) => {
    const { ran } = await dry(text);
    expect(ran.exitCode).toBe(0);
    const hint = /To send what fits, add:\n((?: {2}.*\n)+)/u.exec(ran.stderr)?.[1] ?? '';
    const typed = hint.replaceAll(/ \\\n/gu, ' ').replaceAll(/\s+/gu, ' ').trim();
    expect(typed).toBe(flags);
    const { ran: again } = await dry(text, parseArgsStringToArgv(typed));
    expect(again.exitCode).toBe(0);
    expect(again.stderr).not.toContain('To send what fits');
  });

  test('the requester is one word with a due date, and a name alone is nobody', async () => {
    expect((await dry(zendesk)).ran.stderr).toContain('No column fills due_at or the requester yet.');
    expect((await dry('subject,Requester\nA,Ann\n')).ran.stderr).not.toContain('requester yet');
  });

  test('where the email is mapped already, what else fits is not called the requester', async () => {
    const text = 'Subject,Full name,Mobile phone,Email\nA,Ann Lee,+4930123456,a@b.example\n';
    const flags = ['--map', 'Email=contact.email', '--map', 'Full name=contact.name', '--create-contacts'];
    const { ran } = await dry(text, flags);
    expect(ran.stderr).toContain("No column fills the requester's phone yet.");
    expect(ran.stderr).toContain('--map "Mobile phone=contact.phone"\n');
    expect(ran.stderr).not.toContain('the requester yet');
  });

  test.each(['Answer', 'Response', 'Text'])('the text of a reply may be called %s', async (name) => {
    const world = sandboxWorld();
    const file = fileIn(world, `Ticket,${name}\nT-1008,Hello\n`);
    const ran = await svc(world, ['tickets', 'reply', '--from', file, '--dry-run']);
    expect(ran.stderr).toContain(`To send what fits, add:\n  --map "${name}=body"\n`);
  });

  test.each([
    ['note', 'Answer', 'Note'],
    ['reply', 'Message', 'Reply'],
  ])(
    'of several columns the one that is called as the command holds its text: tickets %s',
    async (command, other, own) => {
      const world = sandboxWorld();
      const file = fileIn(world, `Ticket,${other},${own}\nT-1008,Fixed,Called\n`);
      const ran = await svc(world, ['tickets', command, '--from', file, '--dry-run']);
      expect(ran.stderr).toContain(`To send what fits, add:\n  --map "${own}=body"\n`);
    },
  );

  test('where no column fits, it is said how one is named', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'reply', '--from', fileIn(world, 'Ticket,Xyz\nT-1008,Hello\n')]);
    expect(ran.stderr).toContain('or name the right columns: --map "COLUMN=FIELD"\n');
  });

  test('where no column is known at all, what fits is said all the same', async () => {
    const world = sandboxWorld();
    const line = [
      'contacts',
      'create',
      '--from',
      fileIn(world, 'Correo electrónico,Nombre\na@b.example,Ana\n'),
      '--dry-run',
    ];
    const ran = await svc(world, line);
    expect(ran.stderr).toMatch(/To send what fits, add:\n {2}--map ".+=email" \\\n {2}--map "Nombre=name"\n/u);
  });

  test('--create-contacts that nobody could be created by is exit 2, before anything is asked', async () => {
    const world = sandboxWorld();
    const { ran } = await created(world, zendesk, ['--create-contacts']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('--map "Requester email=contact.email"');
    expect(ran.stderr).toContain('no column holds the email of the requester');
    expect(world.sent).toEqual([]);
  });
});

describe('with a contact that was created, tickets that are refused are done in part: exit 8 with the sums', () => {
  const json = { 'content-type': 'application/json' };
  test.each([
    [401, '{"error":"Unauthenticated."}'],
    [403, '{"error":"insufficient_scope","error_description":"tickets:write"}'],
    [429, '{"error":"Slow down"}'],
  ])('by %i', async (status, body) => {
    const world = sandboxWorld();
    const exchange = async (request: HttpRequest) =>
      request.method === 'POST' && request.url.endsWith('/tickets')
        ? { status, headers: { ...json, 'retry-after': '900' }, body }
        : world.exchange(request);
    const text = 'subject,contact.email,contact.name\nFirst,new@b.test,Ada\nSecond,other@b.test,Bob\n';
    const ran = await created({ ...world, exchange }, text, ['--create-contacts', '--max-wait', '5']);
    expect(ran.ran.exitCode).toBe(8);
    expect(ran.ran.stderr).toContain('0 of 2 rows are done. 2 contacts were created.');
    expect(ran.report).toMatchObject({ rows: 2, done: 0, unsent: 2, unknown: 0 });
  });
});

describe('a ticket whose status cannot be set', () => {
  const text = 'subject,status\nA,closed\nB,closed\n';

  function refusing(world: SandboxWorld) {
    const exchange = async (request: HttpRequest) =>
      request.method === 'PATCH'
        ? { status: 422, headers: { 'content-type': 'application/json' }, body: '{"message":"No.","errors":{}}' }
        : world.exchange(request);
    return { ...world, exchange };
  }

  test('is done in part: named with its id and the way to set it, exit 8, and never made twice', async () => {
    const world = sandboxWorld();
    const first = await created(refusing(world), text);
    expect(first.report).toMatchObject({ rows: 2, done: 2, rejected: 0, unknown: 0, unsent: 0 });
    expect(first.report.errors).toHaveLength(2);
    expect(first.report.errors[0]?.error).toMatch(
      /^it is there \(\d+\), but its status is not set: .*svc tickets update \d+ --status closed$/u,
    );
    expect(first.ran.exitCode).toBe(8);
    const again = await created(world, text);
    expect(again.report.errors).toHaveLength(2);
    expect(again.ran.exitCode).toBe(8);
    expect(writesOf(world)).toEqual(['POST /tickets', 'POST /tickets']);
  });

  test('and is found by the next run where svc was stopped in between: made once, the status set', async () => {
    const world = sandboxWorld();
    const interrupt = new AbortController();
    let made = 0;
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (request.method !== 'POST') return answer;
      made++;
      interrupt.abort('SIGINT');
      return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
    };
    const one = 'subject,status\nOnly one,closed\n';
    const line = ['--settle', '1', '--max-wait', '5'];
    expect((await created({ ...world, exchange }, one, line, { signal: interrupt.signal })).ran.exitCode).not.toBe(0);
    const again = await created(world, one, line);
    expect(again.ran, again.ran.stderr).toMatchObject({ exitCode: 0 });
    expect(again.report).toMatchObject({ rows: 1, done: 1, unknown: 0, errors: [] });
    expect(made).toBe(1);
    expect(await newest(world, 1)).toEqual([['Only one', 'closed', 0, null]]);
  });
});

test('a status that svc was stopped before is set by the same command, once, and nothing is made twice', async () => {
  const world = sandboxWorld();
  const two = 'subject,status\nFirst,closed\nSecond,pending\n';
  const stopping = (at: number, method: string) => {
    const stop = new AbortController();
    let seen = 0;
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (request.method === method && ++seen === at) stop.abort('SIGINT');
      return answer;
    };
    return [{ ...world, exchange }, stop.signal] as const;
  };
  const line = ['--concurrency', '1'];
  const [first, signal] = stopping(2, 'POST');
  const stopped = await created(first, two, line, { signal });
  expect(stopped.ran.exitCode).toBe(130);
  expect(stopped.report.errors).toEqual([
    {
      line: 3,
      error: expect.stringMatching(/^it is there \(\d+\), but its status is not set yet: svc was stopped\./u),
    },
  ]);
  expect(stopped.ran.stderr).toContain('Run the same command again');
  const again = await created(world, two, line);
  expect(again.ran, again.ran.stderr).toMatchObject({ exitCode: 0 });
  expect(again.report).toMatchObject({ done: 2, errors: [], resumed_rows: 2 });
  const writes = ['POST /tickets', 'PATCH', 'POST /tickets', 'PATCH'];
  expect(writesOf(world).map((one) => one.replace(/^PATCH.*/u, 'PATCH'))).toEqual(writes);
  expect((await newest(world, 2)).sort()).toEqual([
    ['First', 'closed', 0, null],
    ['Second', 'pending', 0, null],
  ]);
  expect((await created(world, two, line)).ran).toMatchObject({ exitCode: 0 });
  expect(writesOf(world)).toHaveLength(4);
});

describe('--create-contacts', () => {
  const flags = ['--create-contacts', '--subject', 'None', '--map-value', 'Status:Hold=open'];
  const maps = ['--map', 'Requester email=contact.email', '--map', 'Requester=contact.name'];

  const contactsOf = async (world: SandboxWorld, domain: string) => {
    const { stdout } = await svc(world, ['contacts', 'list', '--all', '--json']);
    return (JSON.parse(stdout) as { email: string; name: string }[]).filter(({ email }) => email?.endsWith(domain));
  };

  test('makes each requester once, by email, and sets it on the tickets', async () => {
    const world = sandboxWorld();
    const { ran, report } = await created(world, zendesk, [...flags, ...maps]);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(report).toMatchObject({ rows: 3, done: 3, errors: [] });
    expect((await contactsOf(world, '@zd.example')).map(({ email, name }) => [email, name]).sort()).toEqual([
      ['ann@zd.example', 'Ann Lee'],
      ['bo@zd.example', 'Bo'],
    ]);
    expect((await newest(world, 3)).map(([, , , email]) => email).sort()).toEqual([
      'ann@zd.example',
      'ann@zd.example',
      'bo@zd.example',
    ]);
  });

  test('makes nobody twice: not in a second run, and not where the answer was lost', async () => {
    const world = sandboxWorld();
    let lost = 0;
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (!request.url.endsWith('/contacts/sync') || lost++ > 0) return answer;
      return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
    };
    expect((await created({ ...world, exchange }, zendesk, [...flags, ...maps])).ran.exitCode).toBe(0);
    expect((await created(world, zendesk, [...flags, ...maps])).ran.exitCode).toBe(0);
    expect(await contactsOf(world, '@zd.example')).toHaveLength(2);
    expect(writesOf(world).filter((line) => line === 'POST /tickets')).toHaveLength(3);
  });

  test('reads the contacts once, and of the second reading no more than what is new; a dry run counts these requests', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const rows = Array.from({ length: 59 }, (_, n) => `Row ${n},p${n}@zd.example\n`);
    const file = `subject,contact\n${rows.join('')}`;
    const dry = await created(world, file, ['--create-contacts', '--dry-run']);
    // Three pages of contacts, one call that makes them, one page of new ones: the rows alone would be a minute.
    expect(dry.report).toMatchObject({ would_send: 59, minutes: 2 });
    world.sent.length = 0;
    expect((await created(world, file, ['--create-contacts'])).report).toMatchObject({ done: 59 });
    expect(world.sent.filter((line) => line.startsWith('GET /contacts'))).toHaveLength(4);
  });

  test('a contact that the newest do not show is looked for among all', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (!request.url.includes('/contacts?') || 'lost' in answer) return answer;
      const json = JSON.parse(answer.body) as { contacts: object[] };
      return { ...answer, body: JSON.stringify({ ...json, contacts: json.contacts.reverse() }) };
    };
    expect((await created({ ...world, exchange }, zendesk, [...flags, ...maps])).report).toMatchObject({ done: 3 });
  });

  test('takes contacts that are there as they are, and a dry run makes none', async () => {
    const world = sandboxWorld();
    const text = 'subject,contact\nA,hana@example.com\nB,new@zd.example\n';
    const [hana] = JSON.parse((await svc(world, ['contacts', 'list', '--all', '--json'])).stdout) as {
      email: string;
    }[];
    const file = text.replace('hana@example.com', hana?.email ?? '');
    const before = writesOf(world).length;
    const dry = await created(world, file, ['--create-contacts', '--dry-run']);
    expect(dry.ran.exitCode).toBe(0);
    expect(writesOf(world)).toHaveLength(before);
    const done = await created(world, file, ['--create-contacts']);
    expect(done.report).toMatchObject({ done: 2 });
    expect((await newest(world, 2)).map(([, , , email]) => email).sort()).toEqual(
      [hana?.email, 'new@zd.example'].sort(),
    );
  });
});

describe('templates', () => {
  test('--set fills in what the rows have nothing for; a cell wins', async () => {
    const world = sandboxWorld();
    mkdirSync(join(world.folder, 'config', 'templates'), { recursive: true });
    writeFileSync(join(world.folder, 'config', 'templates', 'note.md'), 'Dear {{name}}, {{who}} looks at it.\n');
    const file = fileIn(world, 'id,name\n7,Ada\n8,\n', 'notes.csv');
    const line = ['tickets', 'note', '--from', file, '--template', 'note', '--set', 'who=Jo', '--set', 'name=customer'];
    const { stdout, stderr } = await svc(world, [...line, '--dry-run', '--json']);
    expect(JSON.parse(stdout).sample, stderr).toMatchObject([
      { body: { body: 'Dear Ada, Jo looks at it.' } },
      { body: { body: 'Dear customer, Jo looks at it.' } },
    ]);
    const lacking = await svc(world, ['tickets', 'note', '--from', file, '--template', 'note', '--dry-run']);
    expect(lacking.exitCode).toBe(2);
    const one = ['tickets', 'note', '7', '--template', 'note', '--set', 'who=Jo', '--set', 'name=all', '--dry-run'];
    expect((await svc(world, [...one, '--jq', '.[0].body.body'])).stdout).toBe('Dear all, Jo looks at it.\n');
    expect((await svc(world, ['tickets', 'note', '--from', file, '--set', 'who=Jo'])).exitCode).toBe(2);
  });

  test('are listed, shown and written by name', async () => {
    const world = sandboxWorld();
    expect((await svc(world, ['templates', 'list', '--json'])).stdout).toBe('[]\n');
    const edited = await svc(world, ['templates', 'edit', 'thanks'], {
      columns: 80,
      edit: () => 'Thank you, {{contact.name}}.',
    });
    expect(edited.exitCode).toBe(0);
    const path = join(world.folder, 'config', 'templates', 'thanks.md');
    expect(readFileSync(path, 'utf8')).toBe('Thank you, {{contact.name}}.\n');
    expect(JSON.parse((await svc(world, ['templates', 'list', '--json'])).stdout)).toEqual([
      { name: 'thanks', placeholders: ['contact.name'], path },
    ]);
    expect((await svc(world, ['templates', 'show', 'thanks'])).stdout).toBe('Thank you, {{contact.name}}.\n');
    const missing = await svc(world, ['templates', 'show', 'thank']);
    expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There are: thanks.') });
    expect((await svc(world, ['templates', 'edit', '../out', '--text', 'x'])).exitCode).toBe(2);
    expect((await svc(world, ['templates', 'edit', 'bad', '--text', 'Hello {{'])).exitCode).toBe(2);
  });
});

test('a close of more than 20 rows is asked for once, on a terminal alone', async () => {
  const ids = `${Array.from({ length: 21 }, (_, at) => at + 1).join('\n')}\n`;
  const world = sandboxWorld();
  const file = fileIn(world, ids, 'ids.txt');
  const declined = await svc(world, ['tickets', 'close', '--from', file], { columns: 80, answers: [false] });
  expect(declined.exitCode).toBe(1);
  expect(writesOf(world)).toEqual([]);
  await svc(world, ['tickets', 'close', '--from', file]);
  expect(writesOf(world)).not.toEqual([]);
});

test('a row stays the same row once its contact was made: with and without --create-contacts it is sent once', async () => {
  const world = sandboxWorld();
  const text = 'subject,contact\nA,new@zd.example\nB,new@zd.example\n';
  expect((await created(world, text, ['--create-contacts'])).report).toMatchObject({ done: 2 });
  expect((await created(world, text)).report).toMatchObject({ done: 2 });
  expect((await created(world, text, ['--create-contacts'])).report).toMatchObject({ done: 2 });
  expect(writesOf(world).filter((line) => line === 'POST /tickets')).toHaveLength(2);
});
