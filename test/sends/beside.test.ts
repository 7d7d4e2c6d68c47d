// Rows of which a draft waits, or was rejected: no other run sends them beside it, whatever the command, the file and the flags.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, writesOf } from './drafting.ts';

const replyFrom = (file: string) => ['tickets', 'reply', '--from', file, '--yes', '--json'];
const reply = replyFrom('-');
const resolve = ['conversations', 'resolve', '--from', '-', '--yes', '--json'];

const event = (name: string) => `order_create,${name},${name.toLowerCase()}@x.test,r-${name}\n`;
const events = (...names: readonly string[]) =>
  `trigger,contact.name,contact.email,external_ref\n${names.map(event).join('')}`;

const commands: readonly {
  readonly words: readonly string[];
  readonly rows: string;
  readonly another: string;
  readonly drafts: number;
}[] = [
  { words: ['events', 'send'], rows: events('Ann', 'Bob', 'Cy'), another: events('Cy', 'Ann', 'Bob'), drafts: 3 },
  {
    words: ['changelog', 'create', '--status', 'published'],
    rows: 'title,content,category\nOne,a,new\nTwo,b,new\n',
    another: 'title,content,category\nTwo,b,new\nOne,a,new\n',
    drafts: 2,
  },
  { words: ['tickets', 'reply'], rows: 'id,body\n8,One\n9,Two\n', another: 'id,body\n9,Two\n8,One\n', drafts: 2 },
  { words: ['conversations', 'resolve'], rows: 'id\n5\n7\n', another: 'id\n7\n5\n', drafts: 2 },
];

test.each(commands)('$words: nothing is sent beside drafts that wait', async ({ words, rows, another, drafts }) => {
  const { world, run, ok, json } = desk();
  const line = [...words, '--from', '-', '--yes', '--json'];
  const first = await ok([...line, '--draft'], { stdin: rows });
  expect(JSON.parse(first.stdout)).toMatchObject({ drafted: drafts });
  for (const [stdin, ...flags] of [
    [rows],
    [another],
    [rows, '--draft'],
    [another, '--draft'],
    [another, '--again'],
  ] as const) {
    const shown = await run([...line, '--dry-run', ...flags], { stdin });
    expect(JSON.parse(shown.stdout)).toMatchObject({ would_send: 0 });
    const next = await ok([...line, ...flags], { stdin });
    expect(JSON.parse(next.stdout)).toMatchObject({ done: drafts, drafted: drafts, unsent: 0 });
    expect(JSON.parse(next.stdout)).not.toHaveProperty('batch');
    expect(next.stderr).toContain('svc drafts list');
    expect(next.stderr).not.toMatch(/were sent before|--again|--batch/u);
  }
  expect(writesOf(world)).toEqual([]);
  expect(await json('drafts list')).toHaveLength(drafts);
});

test.each(commands)(
  '$words: what a person rejected goes with --again alone',
  async ({ words, rows, another, drafts }) => {
    const { world, run, ok } = desk();
    const line = [...words, '--from', '-', '--yes', '--json'];
    await ok([...line, '--draft'], { stdin: rows });
    await ok(`drafts reject ${drafts}`);
    for (const stdin of [rows, another]) {
      const next = await run(line, { stdin });
      expect(next.exitCode).toBe(8);
      expect(JSON.parse(next.stdout)).toMatchObject({ done: drafts - 1, drafted: drafts - 1, rejected: 1, unsent: 0 });
    }
    const rejects = join(world.folder, 'rejects.csv');
    await run([...line, '--rejects', rejects], { stdin: rows });
    expect((await run(line, { stdin: readFileSync(rejects, 'utf8') })).exitCode).toBe(8);
    expect(writesOf(world)).toEqual([]);
    await ok([...line, '--again'], { stdin: another });
    expect(writesOf(world)).toHaveLength(1);
  },
);

test('once its draft is sent, a row of a command for which twice is once may go again', async () => {
  const { world, ok, approve } = desk();
  const line = ['conversations', 'resolve', '--from', '-', '--yes', '--json'];
  await ok([...line, '--draft'], { stdin: 'id\n7\n' });
  expect((await approve(1)).exitCode).toBe(0);
  const sent = writesOf(world).length;
  expect(JSON.parse((await ok(line, { stdin: 'id\n7\n' })).stdout)).not.toHaveProperty('drafted');
  expect(writesOf(world).length).toBeGreaterThan(sent);
});

test('of rows that were sent since with another template nobody hears again, whatever became of their first drafts', async () => {
  const { world, run, ok } = desk();
  const folder = join(world.folder, 'config/templates');
  mkdirSync(folder, { recursive: true });
  const line = ['tickets', 'reply', '--from', '-', '--template', 'eta', '--yes'];
  const rows = { stdin: 'id\n8\n9\n' };
  writeFileSync(join(folder, 'eta.md'), 'It is dnoe.\n');
  await ok([...line, '--draft'], rows);
  await ok('drafts reject 1 2');
  writeFileSync(join(folder, 'eta.md'), 'It is done.\n');
  await ok(line, rows);
  for (const flags of [[], ['--again'], ['--again']]) {
    const { stderr } = await ok([...line, ...flags], rows);
    expect(stderr).not.toMatch(/rejected|add --again/u);
  }
  expect(writesOf(world)).toHaveLength(2);
  await ok([...line, '--draft'], { stdin: 'id\n10\n' });
  await ok('drafts reject 3');
  const more = await run([...line, '--again'], { stdin: 'id\n10\n' });
  expect(more.exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(3);
});

/** As of a run that was killed when it had kept its drafts, and had said in the journal that so many rows are drafts. */
function kill(world: { readonly folder: string }, told = 0): void {
  const folder = join(world.folder, 'state/bulk');
  const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.jsonl'));
  let done = 0;
  const kept = readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((text) => (text.startsWith('{"done"') ? done++ < told : !/^\{"(?:back|finished)"/u.test(text)))
    .join('\n');
  // Its mark says how long it is at least.
  writeFileSync(join(folder, name), kept.replace(/\d{12}/u, '0'.padStart(12, '0')));
}

test.each(commands)('$words: killed before the journal says that they are drafts, they are drafts', async (one) => {
  const { words, rows, drafts } = one;
  const { world, ok, run, json, approve } = desk();
  const line = [...words, '--from', '-', '--yes', '--json'];
  await ok([...line, '--draft'], { stdin: rows });
  kill(world);
  for (const flags of [[], ['--draft'], []]) {
    const next = await ok([...line, ...flags], { stdin: rows });
    expect(JSON.parse(next.stdout)).toMatchObject({ done: drafts, drafted: drafts });
    expect(writesOf(world)).toEqual([]);
    expect(await json('drafts list')).toHaveLength(drafts);
  }
  await ok('drafts reject 2');
  expect((await approve(1)).exitCode).toBe(0);
  const sent = writesOf(world);
  const last = await run(line, { stdin: rows });
  expect(last.exitCode).toBe(8);
  expect(writesOf(world)).toEqual(words[1] === 'resolve' ? [...sent, ...sent] : sent);
});

test('of a run that was killed so, other forms of the file and other flags know its drafts too', async () => {
  for (const isRejected of [false, true]) {
    const { world, run, ok, json } = desk();
    const file = join(world.folder, 'b.csv');
    writeFileSync(file, 'ticket,body\n8,One\n9,Two\n');
    await ok([...reply, '--body', 'One', '--draft'], { stdin: 'id\n8\n' });
    kill(world);
    if (isRejected) await ok('drafts reject 1');
    const forms: readonly (readonly [readonly string[], string])[] = [
      [[...reply, '--draft'], 'id,body\n8,One\n'],
      [reply, 'id,body\n8,One\n10,Three\n'],
      [[...replyFrom(file), '--map', 'ticket=id'], ''],
      [[...reply, '--body', 'One'], 'id\n8\n'],
    ];
    for (const [line, stdin] of forms) expect((await run(line, { stdin })).exitCode).toBe(isRejected ? 8 : 0);
    expect(await json('drafts list --all')).toHaveLength(1);
    expect(writesOf(world).filter((one) => one.includes('/8/'))).toEqual([]);
    expect(writesOf(world)).toHaveLength(2);
  }
});

test('where no draft could be kept, the next run sends the row', async () => {
  const { world, run, ok } = desk();
  const drafts = join(world.folder, 'state/drafts');
  mkdirSync(join(drafts, 'drafts.jsonl'), { recursive: true });
  const rows = { stdin: 'id,body\n8,One\n9,Two\n' };
  expect((await run([...reply, '--draft'], rows)).exitCode).not.toBe(0);
  expect((await run(reply, rows)).exitCode).not.toBe(0);
  rmSync(drafts, { recursive: true });
  writeFileSync(drafts, '');
  expect(await run(reply, rows)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The drafts in ') });
  expect(writesOf(world)).toEqual([]);
  rmSync(drafts, { recursive: true });
  await ok(reply, rows);
  expect(writesOf(world)).toHaveLength(2);
});

test('of a row that was killed so nothing is sent either where another row went again since', async () => {
  const { world, run, ok } = desk();
  const two = { stdin: 'id,body\n8,One\n9,Two\n' };
  await ok([...reply, '--draft'], two);
  kill(world, 1);
  await ok('drafts reject 1');
  await run([...reply, '--again'], two);
  await run(reply, two);
  expect(writesOf(world)).toEqual([expect.stringContaining('/8/')]);
});

test('a row that another form of the file knows by other columns keeps its draft, and what became of it', async () => {
  for (const isRejectedFirst of [true, false]) {
    const { world, run, ok } = desk();
    await ok([...reply, '--body', 'One', '--draft'], { stdin: 'id\n8\n' });
    if (isRejectedFirst) await ok('drafts reject 1');
    const rejects = join(world.folder, 'rejects.csv');
    const file = join(world.folder, 'c.csv');
    writeFileSync(file, 'id,body\n8,One\n');
    const both = { stdin: 'id,body\n8,One\n9,Two\n' };
    expect((await run([...reply, '--rejects', rejects], both)).exitCode).toBe(isRejectedFirst ? 8 : 0);
    if (!isRejectedFirst) {
      await ok([...replyFrom(file), '--again']);
      await ok('drafts reject 1');
      await run([...reply, '--rejects', rejects], both);
    }
    for (const from of ['-', file, rejects])
      expect((await run(replyFrom(from), from === '-' ? both : {})).exitCode).toBe(8);
    expect(writesOf(world)).toEqual([expect.stringContaining('/9/')]);
  }
});

test('what was sent with --again after a rejection needs it no more, where twice is once', async () => {
  const { world, ok } = desk();
  const row = { stdin: 'id\n7\n' };
  await ok([...resolve, '--draft'], row);
  await ok('drafts reject 1');
  await ok([...resolve, '--again'], row);
  for (let more = 0; more < 2; more++) await ok(resolve, row);
  expect(writesOf(world)).toHaveLength(3);
});

test.each([
  { what: 'killed', cut: (world: { folder: string }) => kill(world), flags: [] },
  { what: 'stopped', cut: () => {}, flags: ['--max-sends', '1'] },
])('a run that was $what, and goes on, knows what was rejected also after its end', async ({ cut, flags }) => {
  const { world, run, ok } = desk();
  const rows = { stdin: 'id\n5\n7\n' };
  await run([...resolve, '--draft', ...flags], rows);
  cut(world);
  await ok('drafts reject 1');
  for (let more = 0; more < 3; more++) expect((await run(resolve, rows)).exitCode).toBe(8);
  expect(writesOf(world).filter((one) => one.includes('/5/'))).toEqual([]);
});

test('of a draft that was sent from another file nobody says that it waits', async () => {
  const { world, ok, approve } = desk();
  const file = join(world.folder, 'a.csv');
  writeFileSync(file, 'id,body\n8,One\n');
  await ok([...replyFrom(file), '--draft']);
  await approve(1);
  const next = await ok(reply, { stdin: 'id,body\n9,Two\n8,One\n' });
  expect(next.stderr).toContain('1 row was sent before');
  expect(next.stderr).not.toMatch(/wait|beside/u);
});

test('a place of drafts that cannot be reached stops no run of which no row became a draft', async () => {
  const { run, ok } = desk();
  await ok(reply, { stdin: 'id,body\n8,One\n' });
  const env = { SVC_DRAFTS_DB: 'postgres://u:p@127.0.0.1:9/none' };
  await ok(reply, { stdin: 'id,body\n9,Two\n', env });
  await ok([...reply, '--draft'], { stdin: 'id,body\n10,Three\n' });
  const next = await run(reply, { stdin: 'id,body\n10,Three\n', env });
  expect(next.exitCode).not.toBe(0);
});

test('with another place of drafts the first one stays known', async () => {
  const { world, ok } = desk();
  const elsewhere = { SVC_DRAFTS_DB: join(world.folder, 'two') };
  await ok([...resolve, '--draft'], { stdin: 'id\n7\n' });
  await ok(resolve, { stdin: 'id\n5\n', env: elsewhere });
  await ok(resolve, { stdin: 'id\n7\n' });
  expect(writesOf(world)).toEqual([expect.stringContaining('/5/')]);
});

test('what another map makes of a row is another message, and --again sends it beside the draft of the first', async () => {
  const { world, run, ok } = desk();
  const rows = { stdin: 'id,x,y\n8,One,Two\n' };
  await ok([...reply, '--map', 'x=body', '--map', 'y=ignore', '--draft'], rows);
  const other = [...reply, '--map', 'y=body', '--map', 'x=ignore'];
  expect(await run(other, rows)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --again') });
  const sent = await ok([...other, '--again'], rows);
  expect(sent.stderr).toContain('whoever approves it too sends twice');
  expect(writesOf(world)).toHaveLength(1);
});

test('a file with rows that others sent is told to put what a person rejected into one of its own', async () => {
  const { world, run, ok } = desk();
  const file = join(world.folder, 'a.csv');
  writeFileSync(file, 'id,body\n10,Ten\n');
  await ok(replyFrom(file));
  const rows = { stdin: 'id,body\n8,One\n9,Two\n10,Ten\n' };
  await ok([...reply, '--draft'], rows);
  await ok('drafts reject 1 2');
  const { stderr } = await run(reply, rows);
  expect(stderr).toContain('to send them all the same, put them into a file of their own and add --again.');
});

test('what a person rejected is known with one more column, too: svc stops and asks', async () => {
  const { world, run, ok } = desk();
  const line = ['events', 'send', '--from', '-', '--yes', '--json'];
  const header = 'trigger,contact.name,contact.email';
  await ok([...line, '--draft'], { stdin: `${header}\norder_create,Ann,ann@x.test\n` });
  await ok('drafts reject 1');
  const grown = { stdin: `${header},contact.phone\norder_create,Ann,ann@x.test,+49301234567\n` };
  expect(await run(line, grown)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --again') });
  expect(writesOf(world)).toEqual([]);
});

test('drafts of a run that was killed stay known while other lists are sent', async () => {
  const { world, run, ok } = desk();
  const rows = { stdin: 'id\n5\n7\n' };
  await ok([...resolve, '--draft'], rows);
  kill(world);
  await ok(resolve, rows);
  await ok(resolve, { stdin: 'id\n1\n' });
  await run(resolve, rows);
  expect(writesOf(world).filter((one) => !one.includes('/1/'))).toEqual([]);
});

test('what was sent with --again from a killed run stays sent, night after night', async () => {
  const { world, run, ok } = desk();
  await ok([...resolve, '--draft'], { stdin: 'id\n5\n7\n' });
  kill(world);
  await ok('drafts reject 1 2');
  const night = { stdin: 'id\n5\n' };
  await ok([...resolve, '--again'], night);
  for (let more = 0; more < 3; more++) expect((await run(resolve, night)).exitCode).toBe(0);
});

test('two files that know a row by other columns, and go on in turn, send what was rejected once', async () => {
  const { world, ok } = desk();
  const [a, b] = ['a', 'b'].map((name) => join(world.folder, `${name}.csv`)) as [string, string];
  const map = ['--map', 'ticket=id', '--map', 'text=body'];
  writeFileSync(a, 'ticket,text\n8,One\n7,Zero\n');
  writeFileSync(b, 'id,body\n8,One\n');
  await ok([...replyFrom(a), '--draft', ...map]);
  await ok('drafts reject 1');
  await ok([...replyFrom(b), '--again']);
  writeFileSync(a, 'ticket,text\n7,Zero\n10,Three\n');
  await ok([...replyFrom(a), ...map]);
  writeFileSync(a, 'ticket,text\n8,One\n7,Zero\n10,Three\n');
  await ok([...replyFrom(a), ...map]);
  expect(writesOf(world).filter((one) => one.includes('/8/'))).toHaveLength(1);
});

test.each(['waits', 'is rejected'])('through two other forms of the file a draft that %s is known', async (what) => {
  const { world, run, ok } = desk();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => join(world.folder, `${name}.csv`)) as [
    string,
    string,
    string,
    string,
  ];
  const map = ['--map', 'ticket=id', '--map', 'text=body'];
  writeFileSync(a, 'id\n8\n');
  writeFileSync(b, 'id,body\n8,One\n9,Two\n');
  writeFileSync(c, 'ticket,text\n8,One\n10,Three\n');
  writeFileSync(d, 'ticket,text\n8,One\n');
  await ok([...replyFrom(a), '--body', 'One', '--draft']);
  await ok(replyFrom(b));
  await ok([...replyFrom(c), ...map]);
  if (what === 'is rejected') await ok('drafts reject 1');
  expect((await run([...replyFrom(c), ...map])).exitCode).toBe(what === 'waits' ? 0 : 8);
  await run([...replyFrom(d), ...map, ...(what === 'waits' ? ['--again'] : [])]);
  expect(writesOf(world).filter((one) => one.includes('/8/'))).toEqual([]);
});

test('who makes no drafts gets no folder for them, and waits for no place of drafts', async () => {
  const { world, ok } = desk();
  await ok(reply, { stdin: 'id,body\n8,One\n' });
  const env = { SVC_DRAFTS_DB: 'postgres://u:p@127.0.0.1:9/none' };
  for (const options of [{}, { env }])
    for (const flags of [['--dry-run'], []]) await ok([...reply, ...flags], { stdin: 'id,body\n9,Two\n', ...options });
  expect(readdirSync(join(world.folder, 'state'))).not.toContain('drafts');
});

test('a row that another form of the file sent since is not called rejected, whatever ran in between', async () => {
  const { world, run, ok } = desk();
  const [a, b] = ['a', 'b'].map((name) => join(world.folder, `${name}.csv`)) as [string, string];
  const one = ['--body', 'One'];
  writeFileSync(a, 'id\n8\n11\n');
  writeFileSync(b, 'id,body\n8,One\n10,Ten\n');
  await ok([...replyFrom(a), ...one, '--draft']);
  await ok(replyFrom(b));
  writeFileSync(a, 'id\n11\n9\n');
  await ok([...replyFrom(a), ...one]);
  await ok('drafts reject 1');
  await ok([...replyFrom(b), '--again']);
  writeFileSync(a, 'id\n8\n11\n9\n');
  expect((await run([...replyFrom(a), ...one])).exitCode).toBe(0);
  expect(writesOf(world).filter((line) => line.includes('/8/'))).toHaveLength(1);
});

test('of a draft of which nobody knows whether it was sent the row is unknown, and no run sends it', async () => {
  const { world, run, ok, shown } = desk();
  const rows = { stdin: 'id,body\n8,One\n9,Two\n' };
  await ok([...reply, '--draft'], rows);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets', action: 'drop-before' });
  const { digest } = await shown(1);
  expect((await run(['drafts', 'approve', '1', '--digest', digest, '--settle', '1'])).exitCode).toBe(9);
  expect(await shown(1)).toMatchObject({ state: 'unknown' });
  const sent = writesOf(world).length;
  const results = join(world.folder, 'results.csv');
  for (const more of [[], ['--again'], ['--retry-unknown'], ['--results', results]]) {
    const next = await run([...reply, ...more], rows);
    expect(next.exitCode).toBe(9);
    expect(JSON.parse(next.stdout)).toMatchObject({
      ...{ done: 1, drafted: 1, unknown: 1, unsent: 0 },
      errors: [{ line: 2, error: expect.stringContaining('svc drafts show 1') }],
    });
  }
  expect(readFileSync(results, 'utf8')).toMatch(/^8,One,2,unknown,/mu);
  expect(writesOf(world)).toHaveLength(sent);
  const other = await run(reply, { stdin: 'id,body\n9,Two\n8,One\n10,Three\n' });
  expect(other.exitCode).toBe(9);
  await run(['drafts', 'approve', '1', '--digest', (await shown(1)).digest, '--retry-unknown', '--yes']);
  expect(await shown(1)).toMatchObject({ state: 'sent' });
  expect((await ok(reply, rows)).exitCode).toBe(0);
});

test.each([
  [reply, 'id,body\n8,One\n9,Two\n'],
  [resolve, 'id\n7\n5\n'],
] as const)('%s: a row whose draft the service refused is told, and goes by that draft alone', async (line, stdin) => {
  const { world, run, ok, shown, approve } = desk();
  await ok([...line, '--draft'], { stdin });
  await world.control('POST', 'faults', { method: 'POST', action: 'status', status: 422 });
  await approve(1);
  expect(await shown(1)).toMatchObject({ state: 'refused' });
  const sent = writesOf(world).length;
  const rejects = join(world.folder, 'rejects.csv');
  for (const more of [[], ['--again'], ['--rejects', rejects], ['--retry-unknown'], ['--draft']]) {
    const next = await run([...line, ...more], { stdin });
    expect(next.exitCode).toBe(8);
    const error = expect.stringMatching(/^draft 1 was refused by the service \(.+\): svc drafts show 1$/u);
    expect(JSON.parse(next.stdout)).toMatchObject({ done: 2, drafted: 2, rejected: 0, errors: [{ line: 2, error }] });
  }
  expect(readFileSync(rejects, 'utf8').trim().split('\n')).toHaveLength(1);
  expect(writesOf(world)).toHaveLength(sent);
  await ok('drafts reject 1');
  expect((await run(line, { stdin })).exitCode).toBe(8);
  await ok([...line, '--again'], { stdin });
  expect(writesOf(world)).toHaveLength(sent + 1);
});

test('what a draft of one record alone became is known to a list where twice is once', async () => {
  for (const isRejected of [false, true]) {
    const { world, run, ok } = desk();
    const rows = { stdin: 'id\n7\n5\n' };
    await ok('conversations resolve 7 --draft');
    await ok([...resolve, '--draft'], rows);
    if (isRejected) await ok('drafts reject 1');
    expect((await run(resolve, rows)).exitCode).toBe(isRejected ? 8 : 0);
    expect(writesOf(world)).toEqual([]);
  }
});

test('what went again, or got another name, after a kill is known after it', async () => {
  const other = { stdin: 'id,body,zz\n8,One,1\n' };
  const first = { stdin: 'id,body\n8,One\n' };
  for (const [again, exitCode, sent] of [
    [['--again'], 0, 1],
    [[], 8, 0],
  ] as const) {
    const { world, run, ok } = desk();
    await ok([...reply, '--draft'], first);
    kill(world);
    if (again.length === 0) await ok(reply, other);
    await ok('drafts reject 1');
    if (again.length > 0) await ok([...reply, ...again], other);
    for (const rows of [first, other]) expect((await run(reply, rows)).exitCode).toBe(exitCode);
    expect(writesOf(world)).toHaveLength(sent);
  }
});

test.each(['waits', 'is rejected'])('however often its file and others name a row anew, its draft %s', async (what) => {
  const { world, run, ok } = desk();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => join(world.folder, `${name}.csv`)) as [string, string, string];
  writeFileSync(a, 'id\n8\n');
  writeFileSync(b, 'id,body\n8,One\n9,Two\n');
  writeFileSync(c, 'ticket,text\n8,One\n10,Three\n');
  const ofA = [...replyFrom(a), '--body', 'One'];
  const ofC = [...replyFrom(c), '--map', 'ticket=id', '--map', 'text=body'];
  await ok([...ofA, '--draft']);
  for (const line of [replyFrom(b), ofA, ofC, replyFrom(b), ofC]) await ok(line);
  if (what === 'is rejected') await ok('drafts reject 1');
  const again = what === 'waits' ? ['--again'] : [];
  for (const line of [ofC, replyFrom(b), ofA, ofC])
    expect((await run([...line, ...again])).exitCode).toBe(what === 'waits' ? 0 : 8);
  expect(writesOf(world).filter((line) => line.includes('/8/'))).toEqual([]);
});

test.each(['waits', 'is rejected'])(
  'a draft of another record in another place, by the same id, that %s is none of the row',
  async (what) => {
    const { world, ok } = desk();
    const env = { SVC_DRAFTS_DB: join(world.folder, 'two') };
    await ok([...resolve, '--draft'], { stdin: 'id\n7\n' });
    world.clock.advance(1000);
    await ok('conversations resolve 1 --draft', { env });
    if (what === 'is rejected') await ok('drafts reject 1', { env });
    await ok(resolve, { stdin: 'id\n7\n', env });
    expect(writesOf(world)).toEqual(['POST /conversations/7/resolve']);
  },
);

test.each(['reply', 'event'])(
  'of equal rows (%s) those of a --rejects file that went again are counted',
  { tags: ['long'] },
  async (what) => {
    for (const [isDraft, rejected] of [
      [false, 2],
      [true, 2],
      [false, 3],
    ] as const) {
      const { world, run, ok, approve } = desk();
      const line =
        what === 'reply' ? replyFrom : (from: string) => ['events', 'send', '--from', from, '--yes', '--json'];
      const [header = '', row = ''] = what === 'reply' ? ['id,body', '8,Eq\n'] : events('Ann').split('\n');
      const file = join(world.folder, 'a.csv');
      const rejects = join(world.folder, 'r.csv');
      writeFileSync(file, `${header}\n${`${row.trim()}\n`.repeat(3)}`);
      await ok([...line(file), '--draft']);
      await ok(`drafts reject ${rejected}`);
      await approve(1);
      expect((await run([...line(file), '--rejects', rejects])).exitCode).toBe(8);
      const sent = writesOf(world).length;
      await ok([...line(rejects), '--again', ...(isDraft ? ['--draft'] : [])]);
      expect(writesOf(world)).toHaveLength(sent + (isDraft ? 0 : 1));
      for (const more of [[], ['--draft'], []]) await ok([...line(file), ...more]);
      await ok(line(rejects));
      expect(writesOf(world)).toHaveLength(sent + (isDraft ? 0 : 1));
    }
  },
);

test('a row like one of whose draft nobody knows whether it was sent is refused, as without drafts', {
  tags: ['long'],
}, async () => {
  for (const what of ['told', 'killed', 'named anew']) {
    const { world, run, ok, shown } = desk();
    const first = { stdin: 'id,body,status\n8,Hello,resolved\n' };
    await ok([...reply, '--draft'], first);
    if (what === 'killed') kill(world);
    if (what === 'named anew') await ok([...reply, '--map', 'x=status'], { stdin: 'id,body,x\n8,Hello,resolved\n' });
    await world.control('POST', 'faults', { method: 'POST', path: '/tickets', action: 'drop-before' });
    const { digest } = await shown(1);
    expect((await run(['drafts', 'approve', '1', '--digest', digest, '--settle', '1'])).exitCode).toBe(9);
    const sent = writesOf(world).length;
    for (const stdin of ['id,body,status\n8,Hello,pending\n', 'id,body\n8,Hello\n', 'id,body,note\n8,Hello,n\n'])
      for (const flags of [[], ['--dry-run'], ['--draft'], ['--again']]) {
        const next = await run([...reply, ...flags], { stdin });
        expect(next).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Look first: svc drafts show 1.') });
      }
    expect((await run(reply, first)).exitCode).toBe(9);
    expect(writesOf(world)).toHaveLength(sent);
    const other = { stdin: 'id,body,status\n8,Hello,pending\n' };
    await ok([...reply, '--retry-unknown'], other);
    await ok(reply, { stdin: 'id,body\n8,Hello\n' });
  }
});

test('what a journal says of drafts without when they were made is taken by their ids', async () => {
  const { world, run, ok } = desk();
  const file = join(world.folder, 'b.csv');
  writeFileSync(file, 'id,body\n9,Two\n8,One\n');
  const rows = { stdin: 'id,body\n8,One\n9,Two\n' };
  await ok([...reply, '--draft'], rows);
  const folder = join(world.folder, 'state/bulk');
  const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.jsonl'));
  const lines = readFileSync(join(folder, name), 'utf8')
    .replaceAll(/,"draftedAt":"[^"]+"/gu, '')
    .split('\n');
  const kept = lines.filter((text) => !text.startsWith('{"drafting"')).join('\n');
  writeFileSync(join(folder, name), kept.replace(/\d{12}/u, '0'.padStart(12, '0')));
  await ok('drafts reject 1');
  expect((await run(reply, rows)).exitCode).toBe(8);
  expect((await run([...replyFrom(file), '--draft'])).exitCode).toBe(8);
  await ok([...replyFrom(file), '--again']);
  expect(writesOf(world)).toEqual([expect.stringContaining('/8/')]);
});
