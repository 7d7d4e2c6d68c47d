import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { repeatedEmails } from '../../src/sync/repeated-emails.ts';
import { asksAccount, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const world = () => sandboxWorld({ seed: 'empty' });

/** Writes the text where the run finds it, and syncs it. */
async function sync(world: SandboxWorld, text: string | Buffer, flags: string[] = [], options: RunOptions = {}) {
  const file = join(world.folder, 'contacts.csv');
  await writeFile(file, text);
  return svc(world, ['contacts', 'sync', file, ...flags], options);
}

type Stored = { email: string; name: string; tags: string[]; metadata: Record<string, unknown>; phone: string };

const stored = async (world: SandboxWorld) =>
  ((await world.control('GET', 'state')) as { contacts: Stored[] }).contacts;

const report = (ran: { stdout: string }) => JSON.parse(ran.stdout);

const rowsOf = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => `person${from + i}@example.com,Ada ${from + i}`).join('\n');

describe('a CSV goes into the account', () => {
  test('in chunks of 200, every row in order', async () => {
    const there = world();
    const ran = await sync(there, `email,name\n${rowsOf(450)}\n`, ['--json']);
    expect(ran.exitCode).toBe(0);
    expect(report(ran)).toMatchObject({
      rows: 450,
      created: 450,
      updated: 0,
      rejected: 0,
      unsent: 0,
      chunks: 3,
      requests: 3,
      resumed_rows: 0,
      errors: [],
    });
    expect((await stored(there)).map(({ email }) => email)).toContain('person450@example.com');
    expect(there.sent).toEqual(['GET /platform/account', ...Array(3).fill('POST /platform/contacts/sync')]);
  });

  test('the report has the promised fields and no others', async () => {
    const ran = await sync(world(), 'email\na@example.com\nbad\n', ['--json']);
    expect(Object.keys(report(ran))).toEqual([
      'file',
      'rows',
      'created',
      'updated',
      'rejected',
      'unsent',
      'unknown',
      'chunks',
      'requests',
      'resumed_rows',
      'duration_ms',
      'errors',
    ]);
    expect(report(ran).errors).toEqual([{ line: 3, email: 'bad', error: '"bad" is not an email address' }]);
  });

  test.each<[title: string, content: string | Buffer, flags?: string[]]>([
    ['UTF-8 with a byte order mark', '\ufeffemail,name\na@example.com,Zoë'],
    ['UTF-16 LE', Buffer.from('\ufeffemail\tname\r\na@example.com\tZoë', 'utf16le')],
    ['UTF-16 BE', Buffer.from('\ufeffemail\tname\na@example.com\tZoë', 'utf16le').swap16()],
    ['UTF-16 LE without a mark', Buffer.from('email,name\na@example.com,Zoë', 'utf16le')],
    ['windows-1252, when told', Buffer.from('email;name\na@example.com;Zoë', 'latin1'), ['--encoding', 'windows-1252']],
    ['gzip', gzipSync('email,name\na@example.com,Zoë')],
    ['a line that names the delimiter', 'sep=|\nemail|name\na@example.com|Zoë'],
    ['a delimiter that is told', 'email:name\na@example.com:Zoë', ['--delimiter', ':']],
    ['CR line ends', 'email,name\ra@example.com,Zoë\r'],
    ['a header in quotes over two lines', '"email","na\nme"\na@example.com,Zoë', ['--map', '#2=name']],
    ['blank lines all over', '\n\nemail,name\n\n , \na@example.com,Zoë\n\n,\n'],
  ])('%s', async (_, content, flags) => {
    const there = world();
    expect(await sync(there, content, flags)).toMatchObject({ exitCode: 0 });
    expect(await stored(there)).toMatchObject([{ email: 'a@example.com', name: 'Zoë' }]);
  });

  test('standard input works like a file, and is resumed by its content too', async () => {
    const there = world();
    const stdin = `email,name\n${rowsOf(3)}`;
    const ran = await svc(there, ['contacts', 'sync', '-', '--json'], { stdin });
    expect(report(ran)).toMatchObject({ file: '-', rows: 3, created: 3 });
    expect((await svc(there, ['contacts', 'sync', '-'], { stdin })).stderr).toContain('This file was last synced at');
    expect(await readdir(join(there.folder, 'state', 'sync'))).not.toContainEqual(expect.stringMatching(/^input-/u));
  });

  test('the copy of standard input has no name while its rows are sent', async () => {
    const there = world();
    const names: string[] = [];
    const watched: SandboxWorld = {
      ...there,
      async exchange(request) {
        if (request.method === 'POST') names.push(...(await readdir(join(there.folder, 'state', 'sync'))));
        return there.exchange(request);
      },
    };
    const ran = await svc(watched, ['contacts', 'sync', '-', '--json'], { stdin: `email,name\n${rowsOf(3)}` });
    expect(report(ran)).toMatchObject({ created: 3 });
    expect(names.length).toBeGreaterThan(0);
    expect(names).not.toContainEqual(expect.stringMatching(/^input-/u));
  });

  test('what is known is completed and never replaced', async () => {
    const there = world();
    await sync(there, 'email,name,tags,metadata.plan\na@example.com,Ada,x,free\n');
    await sync(there, 'email,name,company,tags,metadata.seats\nA@example.com,Eve,Acme,y,3\n');
    expect(await stored(there)).toMatchObject([
      { name: 'Ada', company: 'Acme', tags: ['x', 'y'], metadata: { plan: 'free', seats: '3' } },
    ]);
  });

  test('--tag and --metadata go to every row', async () => {
    const there = world();
    await sync(there, 'email,tags\na@example.com,x|y\n', [
      '--tag',
      'fair',
      '--tag-separator',
      '|',
      '--metadata',
      'from=x=y',
    ]);
    expect(await stored(there)).toMatchObject([{ tags: ['x', 'y', 'fair'], metadata: { from: 'x=y' } }]);
  });

  test('columns that are not sent, and phones that the service ignores, are named', async () => {
    const { stderr } = await sync(world(), 'email,Fax,Notes,phone\na@example.com,1,x,call me\n');
    expect(stderr).toContain('Columns that are not sent: Fax, Notes.');
    expect(stderr).toContain('Warning: the service will ignore 1 phone (line 2: call me).');
  });
});

describe('what cannot be synced is said, and nothing is sent', () => {
  test.each<[title: string, content: string | Buffer, message: string, flags?: string[]]>([
    ['an empty file', '', 'contacts.csv is empty.'],
    ['only a byte order mark', '\ufeff', 'has only blank lines.\nCheck what made the file'],
    ['a header alone', 'email,name\n', 'contacts.csv has a header but no rows.'],
    ['no email column', 'name\nAda\n', 'No column holds the email address'],
    ['an unclosed quote', 'email\na@example.com\n"b@example.com\n', 'Line 3: a quote is opened here and never closed.'],
    [
      'bytes that are no UTF-8',
      Buffer.from('email,name\na@example.com,x\nb@example.com,Zo\xeb\n', 'latin1'),
      'Line 3 of contacts.csv is not valid UTF-8.',
    ],
    [
      'a byte order mark before another encoding, whatever --encoding says',
      Buffer.concat([Buffer.from('\ufeff'), Buffer.from('email,name\nb@example.com,Zo\xeb\n', 'latin1')]),
      'so it is read as UTF-8 whatever --encoding says. A part of it was written in another encoding: save the whole file as UTF-8.',
      ['--encoding', 'windows-1252'],
    ],
    [
      'a cut-off character at the end',
      Buffer.from('email,name\na@example.com,Zoë').subarray(0, -1),
      'Line 2 of contacts.csv is not valid UTF-8.',
    ],
    [
      'a page that asks for a login',
      '\ufeff\n<!DOCTYPE html><html><body>Log in</body></html>',
      'is a web page, not CSV.',
    ],
    ['an Excel workbook', Buffer.from('PK\x03\x04rest'), 'is an Excel workbook or another archive, not CSV.'],
    ['binary', Buffer.from('email\n\0\0\0\x01'), 'is not text: it holds NUL bytes.'],
    [
      'a damaged gzip',
      gzipSync('email\na@example.com'.repeat(50)).subarray(0, 30),
      'is a damaged or incomplete gzip file.',
    ],
    ['an unknown encoding', 'email\na@example.com', 'There is no encoding "klingon".', ['--encoding', 'klingon']],
    ['a column that is not there', 'email\na@example.com', 'the file has no column "Nope"', ['--map', 'Nope=name']],
    ['only bad rows', 'email\nbad\nworse\n', 'None of the 2 rows of contacts.csv can be sent.'],
    ['one row, which is bad', 'email\nbad\n', 'The only row of contacts.csv cannot be sent.'],
    [
      'a delimiter of two characters',
      'email\na@example.com',
      '--delimiter must be one character',
      ['--delimiter', '::'],
    ],
    ['a tag too long', 'email\na@example.com', '--tag may have at most 50 characters', ['--tag', 'x'.repeat(51)]],
  ])('%s', async (_, content, message, flags) => {
    const there = world();
    const ran = await sync(there, content, flags);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(message);
    expect(there.sent).toEqual([]);
  });

  test('a file that is not there, and a folder', async () => {
    const there = world();
    expect(await svc(there, ['contacts', 'sync', '/no/such.csv'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no file /no/such.csv.'),
    });
    expect(await svc(there, ['contacts', 'sync', there.folder])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is a folder, not a file.\nName a file in it.'),
    });
  });

  test('a file of rejects that would overwrite the file itself, also through a link', async () => {
    const there = world();
    await writeFile(join(there.folder, 'contacts.csv'), 'email\nbad\n');
    await symlink('contacts.csv', join(there.folder, 'link.csv'));
    const ran = await sync(there, 'email\nbad\n', ['--rejects', join(there.folder, 'link.csv')]);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('would overwrite the file that is read'),
    });
  });
});

describe('rows that fail', () => {
  const three = 'email\na@example.com\nb@example.com\nc@example.com\n';
  const text = 'email,name,Extra\nbad,"two\nlines",1\ngood@example.com,Ada,2\nalso bad,,3\n';

  test('never stop the others, and end in exit 8', async () => {
    const there = world();
    expect(await sync(there, text)).toMatchObject({ exitCode: 8 });
    expect(await stored(there)).toMatchObject([{ email: 'good@example.com' }]);
  });

  test('of the service are named by their line, never by arithmetic', async () => {
    const there = world();
    const exchange: typeof there.exchange = async (request) => {
      if (asksAccount(request)) return there.exchange(request);
      const { contacts } = JSON.parse(String(request.body));
      const errors = [{ index: 1, error: 'is blocked' }];
      return { status: 200, headers: {}, body: JSON.stringify({ created: contacts.length - 1, updated: 0, errors }) };
    };
    const ran = await sync({ ...there, exchange }, 'email\nbad\n"a@example.com"\n\n\nb@example.com\n', ['--json']);
    expect(report(ran)).toMatchObject({
      created: 1,
      rejected: 2,
      errors: [{ line: 2 }, { line: 6, email: 'b@example.com', error: 'is blocked' }],
    });
  });

  test('that the service refuses with the whole chunk are named beside those that it judges in the rest', async () => {
    const there = world();
    const answers = [
      { status: 422, body: { message: 'Invalid', errors: { 'contacts.0.email': ['Not so.'] } } },
      { status: 200, body: { created: 1, updated: 0, errors: [{ index: 0, error: 'is blocked' }] } },
    ];
    const exchange: typeof there.exchange = async (request) => {
      const answer = asksAccount(request) ? undefined : answers.shift();
      return answer ? { ...answer, headers: {}, body: JSON.stringify(answer.body) } : there.exchange(request);
    };
    const ran = await sync({ ...there, exchange }, 'email\na@example.com\nb@example.com\nc@example.com\n', ['--json']);
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({
      created: 1,
      updated: 0,
      rejected: 2,
      errors: [
        { line: 2, error: 'Not so' },
        { line: 3, error: 'is blocked' },
      ],
    });
  });

  test('--rejects keeps them with all their columns, ready to be fixed and synced', async () => {
    const there = world();
    const rejects = join(there.folder, 'rejects.csv');
    await sync(there, text, ['--rejects', rejects]);
    const written = await readFile(rejects, 'utf8');
    expect(written).toBe(
      'email,name,Extra,svc_line,svc_error\r\n' +
        'bad,"two\nlines",1,2,"""bad"" is not an email address"\r\n' +
        'also bad,,3,5,"""also bad"" is not an email address"\r\n',
    );
    await writeFile(rejects, written.replace('bad,"two', 'mended@example.com,"two'));
    const again = join(there.folder, 'again.csv');
    expect(await svc(there, ['contacts', 'sync', rejects, '--rejects', again])).toMatchObject({ exitCode: 8 });
    expect(await readFile(again, 'utf8')).toBe(
      'email,name,Extra,svc_line,svc_error\r\nalso bad,,3,4,"""also bad"" is not an email address"\r\n',
    );
    expect(await stored(there)).toHaveLength(2);
  });

  test('--report holds what --json prints', async () => {
    const there = world();
    const file = join(there.folder, 'report.json');
    const ran = await sync(there, text, ['--report', file, '--json']);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(report(ran));
  });

  test('--annotate github marks their lines, and no text of a row is a command of its own', async () => {
    const { stderr } = await sync(world(), 'email\na@example.com\n"x\n::error::y"\n', ['--annotate', 'github']);
    expect(stderr).toMatch(/^::error file=.*contacts\.csv,line=3,title=Row not synced::"x%0A::error::y" is not/mu);
    expect(stderr).not.toMatch(/^::error::y/mu);
    const quiet = await sync(world(), 'email\n"x\u001b[31m"\n', ['--annotate', 'github', '--dry-run', '--quiet']);
    expect(quiet.stderr).toMatch(/^::error file=.*contacts\.csv,line=2,title=Row not synced::/mu);
    expect(quiet.stderr).not.toContain('\u001b');
  });

  test('that the service does not count are not called done, and exit 8', async () => {
    const there = world();
    const exchange: typeof there.exchange = async (request) =>
      asksAccount(request)
        ? there.exchange(request)
        : { status: 200, headers: {}, body: '{"created":1,"updated":0,"errors":[]}' };
    const ran = await sync({ ...there, exchange }, three, ['--json']);
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({ rows: 3, created: 1, updated: 0, rejected: 0, unsent: 2 });
  });

  test.each([
    '{"created":9,"updated":0,"errors":[]}',
    '{"created":2,"updated":2,"errors":[]}',
    '{"created":3,"updated":0,"errors":[{"index":1,"error":"is blocked"}]}',
    '{"created":-1,"updated":3,"errors":[]}',
    '{"created":1.5,"updated":1.5,"errors":[]}',
    '{"created":"3","updated":0,"errors":[]}',
    '{"created":1e300,"updated":0,"errors":[]}',
    '{"created":2,"updated":0,"errors":[{"index":7,"error":"nobody"}]}',
    '{"created":2,"updated":0,"errors":[{"index":"1","error":"no number"}]}',
    '{"created":3,"updated":0,"errors":"none"}',
  ])('are not done by counts that cannot be: %s', async (body) => {
    const there = world();
    let odd = 1;
    const exchange: typeof there.exchange = async (request) => {
      if (asksAccount(request)) return there.exchange(request);
      const answer = await there.exchange(request);
      return odd-- > 0 ? { status: 200, headers: {}, body } : answer;
    };
    const once = await sync({ ...there, exchange }, three, ['--json']);
    expect(once).toMatchObject({ exitCode: 0 });
    expect(report(once)).toMatchObject({ created: 0, updated: 3, requests: 2 });
    odd = Number.POSITIVE_INFINITY;
    const always = await sync({ ...there, exchange }, three, ['--json', '--restart']);
    expect(always).toMatchObject({ exitCode: 9 });
    expect(report(always)).toMatchObject({ created: 0, updated: 0, rejected: 0, unsent: 3, unknown: 3 });
    expect(always.stderr).toContain('does not show that it was done');
  });
});

describe('--dry-run', () => {
  test('names every problem and sends nothing, without any login', async () => {
    const there = world();
    const ran = await sync(there, 'email\na@example.com\nbad\n', ['--dry-run', '--json'], {
      env: { SVC_API_KEY: undefined },
    });
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({ rows: 2, created: 0, rejected: 1, unsent: 1, chunks: 1, requests: 0 });
    expect(there.sent).toEqual([]);
  });

  test('shows on a terminal what each column becomes, with its first values', async () => {
    const ran = await sync(world(), 'E-mail;Vorname;Fax\nada@example.com;Ada;1\nbad;;2\n', ['--dry-run'], {
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(ran.stdout).toBe(
      [
        'contacts.csv  UTF-8, semicolon-separated',
        '  E-mail   → email  ada@example.com',
        '  Vorname  → name   Ada',
        '',
        '1 of 2 rows would be sent, in 1 call.',
        '1 row would be rejected.',
        '',
        '  line  email  problem',
        '     3  bad    "bad" is not an email address',
        '',
      ].join('\n'),
    );
  });

  test('text of a row cannot move the cursor', async () => {
    const { stdout } = await sync(
      world(),
      'email,name\na@example.com,\u001b[2Jx\n\u001b]0;t\u0007,y\n',
      ['--dry-run'],
      { columns: 80, env: { NO_COLOR: '1' } },
    );
    expect(stdout).not.toContain('\u001b');
  });
});

describe('rows with one email', () => {
  const text = 'email,name,company,tags\na@example.com,Ada,,x\nb@example.com,Bo,,\nA@example.com,Eve,Acme,y\n';

  test('are all sent, in their order', async () => {
    const there = world();
    expect(report(await sync(there, text, ['--json']))).toMatchObject({ created: 2, updated: 1 });
    expect(await stored(there)).toMatchObject([{ name: 'Ada', company: 'Acme', tags: ['x', 'y'] }, {}]);
  });

  test('are never in flight together, however many calls are', async () => {
    const there = world();
    const open = new Map<unknown, string[]>();
    const met: string[] = [];
    let most = 0;
    const exchange: typeof there.exchange = async (request) => {
      if (asksAccount(request)) return there.exchange(request);
      const emails = JSON.parse(String(request.body)).contacts.map(({ email }: Stored) =>
        email.normalize('NFC').toLowerCase(),
      );
      for (const other of open.values()) met.push(...emails.filter((email: string) => other.includes(email)));
      open.set(request, emails);
      most = Math.max(most, open.size);
      // Answered once another one is under way; one that stays alone is answered in the end, too.
      for (let i = 0; i < 100 && open.size < 2; i++) await sleep(1);
      open.delete(request);
      return { status: 200, headers: {}, body: JSON.stringify({ created: emails.length, updated: 0, errors: [] }) };
    };
    // Chunks 0 and 3 share an address, and 4 and 5 do; so do 0 and 1, in the two forms of Unicode.
    const lines = rowsOf(1400).split('\n');
    lines[601] = 'PERSON1@example.com,again';
    lines[1100] = 'person801@example.com,again';
    lines[3] = 'jos\u00e9@example.com,José';
    lines[203] = 'jose\u0301@example.com,again';
    await sync({ ...there, exchange }, `email,name\n${lines.join('\n')}\n`, ['--concurrency', '8']);
    expect(met).toEqual([]);
    expect(most).toBeGreaterThan(1);
  });

  test('how many emails are in more than one row is told', async () => {
    const twice =
      'email,name\na@example.com,Ada\nb@example.com,Bo\nA@example.com,Eve\na@example.com,Ida\nB@example.com,Bea\n';
    for (const flags of [[], ['--dry-run']]) {
      const { stderr } = await sync(world(), twice, flags);
      expect(stderr).toContain(
        "2 emails are in more than one row (line 4: A@example.com; line 6: B@example.com). All of these rows are sent, in the file's order; --dedupe changes that.",
      );
    }
    expect((await sync(world(), text)).stderr).toContain('1 email is in more than one row (line 4: A@example.com).');
    for (const mode of ['first', 'merge', 'error'])
      expect((await sync(world(), text, ['--dedupe', mode])).stderr).not.toContain('in more than one row');
  });

  test('of a long file the first rows are compared, and the note says so', () => {
    const watch = repeatedEmails(1000);
    const add = (line: number, email: string) => watch.add({ line, contact: { email }, size: 20, phone: 'fine' });
    for (let row = 1; row <= 1000; row++) add(row, `person${row}@example.com`);
    expect(watch.notes()).toEqual([]);
    const other = repeatedEmails(1000);
    for (let row = 1; row <= 1001; row++)
      other.add({ line: row, contact: { email: `person${row % 999}@example.com` }, size: 20, phone: 'fine' });
    expect(other.notes()).toEqual([
      expect.stringContaining(
        '1 email is in more than one row among the first 1,000 that are sent (line 1000: person1@example.com)',
      ),
    ]);
  });

  test('--dedupe first sends the first', async () => {
    const there = world();
    const ran = await sync(there, text, ['--dedupe', 'first', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Left out by --dedupe first: 1 row') });
    expect(report(ran)).toMatchObject({ rows: 3, created: 2, updated: 0, unsent: 1 });
    expect(await stored(there)).toMatchObject([{ name: 'Ada', company: '' }, {}]);
  });

  test('--dedupe error reports the later ones with the line of the first', async () => {
    const ran = await sync(world(), text, ['--dedupe', 'error', '--json']);
    expect(ran.exitCode).toBe(8);
    expect(report(ran).errors).toEqual([{ line: 4, email: 'A@example.com', error: 'has the same email as line 2' }]);
  });

  test('--dedupe merge sends one contact with what all of them hold', async () => {
    const there = world();
    const ran = await sync(there, text, ['--dedupe', 'merge', '--json']);
    expect(report(ran)).toMatchObject({ rows: 3, created: 2, updated: 1, unsent: 0 });
    expect(ran.stderr).toContain(
      'Merged by --dedupe merge: 1 row into an earlier one with the same email, counted as updated.\n',
    );
    expect(await stored(there)).toMatchObject([{ name: 'Ada', company: 'Acme', tags: ['x', 'y'] }, {}]);
  });

  test('--dedupe merge takes the phone of a later row where the service would ignore that of the first', async () => {
    const there = sandboxWorld({ seed: 'empty' });
    const text =
      'email,name,phone\na@example.com,Ada,12\nA@example.com,Eve,+12125550100\na@example.com,Ida,+12125550101\n';
    expect(report(await sync(there, text, ['--dedupe', 'merge', '--json']))).toMatchObject({ rows: 3, created: 1 });
    const { contacts } = (await there.control('GET', 'state')) as { contacts: Record<string, unknown>[] };
    expect(contacts).toMatchObject([{ name: 'Ada', phone: '+12125550100' }]);
  });

  test('--dedupe merge sends by itself what would give a contact too many tags', async () => {
    const there = world();
    const tags = (from: string) => Array.from({ length: 6 }, (_, i) => from + i).join(';');
    const two = `email,tags\na@example.com,${tags('x')}\na@example.com,${tags('y')}\n`;
    expect(report(await sync(there, two, ['--dedupe', 'merge', '--json']))).toMatchObject({
      rows: 2,
      rejected: 0,
      unsent: 0,
    });
    expect((await stored(there))[0]?.tags.length).toBeGreaterThanOrEqual(10);
  });
});

describe('lists import', () => {
  const importInto = async (there: SandboxWorld, text: string, flags: string[] = []) => {
    const file = join(there.folder, 'list.csv');
    await writeFile(file, text);
    await svc(there, ['lists', 'create', '--name', 'Beta', '--target-industry', 'Software', '--notes', 'x']);
    return svc(there, ['lists', 'import', '1', file, ...flags]);
  };

  test('creates contacts and adds them; its report says synced, and a Tags column is named', async () => {
    const there = world();
    const ran = await importInto(
      there,
      'email,name,Website,Tags\na@example.com,Ada,https://example.com,x\nb@example.com,,,\n',
      ['--json'],
    );
    expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('"Tags" is ignored') });
    expect(report(ran)).toMatchObject({ rows: 2, synced: 1, rejected: 1, unsent: 0 });
    expect(report(ran)).not.toHaveProperty('created');
    expect((await svc(there, ['lists', 'members', '1'])).stdout).toContain('Ada');
  });

  test('rows that the service refuses are picked out by its field names, and the rest is sent again', async () => {
    const there = world();
    const requests: number[] = [];
    const exchange: typeof there.exchange = async (request) => {
      if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
      const { contacts } = JSON.parse(String(request.body)) as { contacts: Stored[] };
      requests.push(contacts.length);
      const bad = contacts.flatMap(({ name }, i) => (name.startsWith('bad') ? [i] : []));
      if (bad.length === 0) return { status: 200, headers: {}, body: '{"success":"ok"}' };
      const errors = Object.fromEntries(bad.map((i) => [`contacts.${i}.name`, ['The name is refused.']]));
      return { status: 422, headers: {}, body: JSON.stringify({ message: 'Invalid', errors }) };
    };
    const ran = await importInto(
      { ...there, exchange },
      'email,name\na@example.com,bad1\nb@example.com,Bo\nc@example.com,bad2\nd@example.com,Di\n',
      ['--json'],
    );
    expect(requests).toEqual([4, 2]);
    expect(report(ran)).toMatchObject({
      synced: 2,
      rejected: 2,
      errors: [
        { line: 2, error: 'The name is refused' },
        { line: 4, error: 'The name is refused' },
      ],
    });
  });

  test.each([
    ['contacts.0.name', 30, 20, 'lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21'],
    ['contacts.1.name', 5, 5, 'lines 3, 4, 5, 6'],
  ])(
    'a service that refuses whatever is left, at %s each time, is not asked on and on',
    async (field, count, most, lines) => {
      const there = world();
      let requests = 0;
      const exchange: typeof there.exchange = async (request) => {
        if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
        requests++;
        return {
          status: 422,
          headers: {},
          body: JSON.stringify({ message: 'Invalid', errors: { [field]: ['Not so.'] } }),
        };
      };
      const rows = Array.from({ length: count }, (_, at) => `a${at}@example.com,Name ${at}\n`);
      const ran = await importInto({ ...there, exchange }, `email,name\n${rows.join('')}`, ['--json']);
      const taken = most - 1;
      const said = `refused ${taken} rows of a chunk, and without them the other ${count - taken} too: Not so. Nothing of the chunk was done now. 0 of ${count} rows are done.`;
      expect(ran).toMatchObject({ exitCode: 6, stderr: expect.stringContaining(said) });
      expect(ran.stderr).toContain(`It named ${lines} of the file.`);
      // Positions of a request that nobody has seen help nobody.
      expect(ran.stderr).not.toContain(field);
      expect(report(ran)).toMatchObject({ synced: 0, rejected: 0, unsent: count, requests });
      expect(requests).toBe(most);
    },
  );

  test('a service that refuses a row, and then the rest for none of its rows, is not asked again', async () => {
    const there = world();
    const refusals = [
      { message: 'Invalid', errors: { 'contacts.1.name': ['Not so.'], 'contacts.9.name': ['Of no row.'] } },
      { message: 'The list is full.', errors: {} },
    ];
    const exchange: typeof there.exchange = async (request) => {
      if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
      return { status: 422, headers: {}, body: JSON.stringify(refusals.shift() ?? { message: 'Asked once more.' }) };
    };
    const ran = await importInto({ ...there, exchange }, 'email,name\na@x.test,A\nb@x.test,B\nc@x.test,C\n', [
      '--json',
    ]);
    expect(ran).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(
        'refused 1 row of a chunk, and without them the other 2 too: The list is full. Nothing of the chunk was done now.',
      ),
    });
    expect(ran.stderr).toContain('It named line 3 of the file.');
    expect(report(ran)).toMatchObject({ synced: 0, rejected: 0, unsent: 3, requests: 2 });
  });

  test.each([
    [504, 9],
    [403, 5],
  ])(
    'a HTTP %i to the rest of a chunk, of which a row was refused, is no refusal of its rows',
    async (status, exitCode) => {
      const there = world();
      let isFirst = true;
      const exchange: typeof there.exchange = async (request) => {
        if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
        if (!isFirst) return { status, headers: {}, body: status === 403 ? '{"error":"insufficient_scope"}' : '' };
        isFirst = false;
        const body = JSON.stringify({ message: 'Invalid', errors: { 'contacts.0.name': ['Not so.'] } });
        return { status: 422, headers: {}, body };
      };
      const ran = await importInto({ ...there, exchange }, 'email,name\na@x.test,A\nb@x.test,B\n', ['--json']);
      expect(ran.exitCode, ran.stderr).toBe(exitCode);
      expect(ran.stderr).not.toContain('Nothing of the chunk');
    },
  );

  test('a chunk that is refused at once, and for none of its rows, is told in the words of the service alone', async () => {
    const there = world();
    const exchange: typeof there.exchange = async (request) => {
      if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
      return { status: 422, headers: {}, body: '{"message":"The list is full.","errors":{}}' };
    };
    const ran = await importInto({ ...there, exchange }, 'email,name\na@x.test,A\nb@x.test,B\n', ['--json']);
    expect(ran).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('The list is full.') });
    expect(ran.stderr).not.toContain('of a chunk');
  });

  test('of a chunk of which every row is refused nothing is left to be sent', async () => {
    const there = world();
    const errors = { 'contacts.0.name': ['Not so.'], 'contacts.1.name': ['Nor so.'] };
    const exchange: typeof there.exchange = async (request) => {
      if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
      return { status: 422, headers: {}, body: JSON.stringify({ message: 'Invalid', errors }) };
    };
    const ran = await importInto({ ...there, exchange }, 'email,name\na@x.test,A\nb@x.test,B\n', ['--json']);
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({ synced: 0, rejected: 2, unsent: 0, requests: 1 });
  });

  test('a list that does not exist is exit 3, and nothing is lost', async () => {
    const there = world();
    await writeFile(join(there.folder, 'x.csv'), 'email,name\na@example.com,Ada\n');
    const nowhere = await svc(there, ['lists', 'import', '77', join(there.folder, 'x.csv')]);
    expect(nowhere).toMatchObject({ exitCode: 3, stderr: expect.not.stringContaining('again') });
  });
});

test('a folder of state that cannot be made is a clear failure', async () => {
  const there = world();
  await mkdir(join(there.folder, 'state'));
  await writeFile(join(there.folder, 'state', 'sync'), 'in the way');
  expect(await sync(there, 'email\na@example.com\n')).toMatchObject({ exitCode: 1 });
  expect(there.sent).toEqual(['GET /platform/account']);
});

test('tags come back from an export as they were, whatever separates tags elsewhere', async () => {
  const [there, other] = [world(), world()];
  const tags = ['a;b', 'New, big', 'x|y', '[beta]', 'say "hi"', '"quoted"', 'plain', 'p ::: q'];
  const contact = (email: string, own: readonly string[]) => ({ email, name: 'Ada', tags: own });
  const people = [contact('all@x.test', tags), ...tags.map((tag, at) => contact(`${at}@x.test`, [tag]))];
  for (const one of people) {
    const cell = `"${JSON.stringify(one.tags).replaceAll('"', '""')}"`;
    expect(await sync(there, `email,name,tags\n${one.email},Ada,${cell}\n`)).toMatchObject({ exitCode: 0 });
  }
  const out = join(there.folder, 'export.csv');
  expect(await svc(there, ['contacts', 'export', '--out', out])).toMatchObject({ exitCode: 0 });
  const ran = await svc(other, ['contacts', 'sync', out]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  const tagsOf = async (one: SandboxWorld) =>
    Object.fromEntries((await stored(one)).map(({ email, tags: own }) => [email, own]));
  expect(await tagsOf(there)).toEqual(Object.fromEntries(people.map((one) => [one.email, one.tags])));
  expect(await tagsOf(other)).toEqual(await tagsOf(there));
});

test.skipIf(process.platform === 'win32').each(['contacts sync', 'lists import 1', 'tickets create --from'])(
  '%s names what the system provides as it was typed',
  async (line) => {
    const { exitCode, stderr } = await svc(world(), [...line.split(' '), '/dev/null']);
    expect([exitCode, stderr.split('\n')[0]]).toEqual([2, 'Error: /dev/null is empty.']);
  },
);
