import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });
const put = (world: SandboxWorld, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};

/** Runs a command on a file of that text, on a terminal where a width is given. */
async function from(text: string, words: string, flags: readonly string[] = [], options: RunOptions = {}) {
  const world = fresh();
  const path = put(world, 'rows.csv', text);
  return svc(world, [...words.split(' '), '--from', path, ...flags], options);
}

test('columns that the template takes are not called unsent', async () => {
  const world = fresh();
  const rows = put(world, 'rows.csv', 'id,First name,plan,seats\n8,Ann,pro,3\n');
  const template = put(world, 'outage.md', 'Hello {{first name}}, plan {{plan}} is hit.');
  const flags = ['--from', rows, '--template', template, '--dry-run'];
  const ran = await svc(world, ['changelog', 'update', ...flags]);
  expect(ran.stderr).toContain('Columns that are not sent: seats.\n');
  expect(await svc(world, ['tickets', 'reply', ...flags])).toMatchObject({
    exitCode: 0,
    stderr: 'Columns that are not sent: seats.\n',
  });
});

test('in a pipe a file that was asked for names the rejected rows, and standard output else', {
  tags: ['long'],
}, async () => {
  const text = 'id,priority\n8,3\n9,99\n';
  const piped = await from(text, 'tickets update');
  expect(piped.exitCode).toBe(8);
  expect(piped.stdout).toContain('error\t3\t');
  expect(piped.stderr).toContain(
    '1 of 2 rows are done: 1 rejected. Standard output names them; --rejects FILE keeps them.\n',
  );
  for (const [flag, said] of [
    ['--rejects', (path: string) => `The rejected are in ${path}.`],
    ['--report', (path: string) => `${path} names them.`],
    ['--results', (path: string) => `${path} names them.`],
  ] as const) {
    const path = join(fresh().folder, 'out.csv');
    expect((await from(text, 'tickets update', [flag, path])).stderr).toContain(`1 rejected. ${said(path)}\n`);
  }
});

test('where one field alone is open, a column that is not near it is not said to be it', async () => {
  const unused = await from('ticket,plan\n8,pro\n', 'tickets reply', ['--map', 'ticket=id', '--dry-run']);
  expect(unused.stderr).toContain('Columns that are not sent: plan.\n');
  const given = await from('id,plan\n8,pro\n', 'tickets reply', ['--body', 'Hello', '--dry-run']);
  expect(given).toMatchObject({ exitCode: 0, stderr: 'Columns that are not sent: plan.\n' });
});

test.each([
  ['tickets note', 'id,body,foo\n8,Called,x\n'],
  ['lists create', 'name,target_industry,notes,metadata,foo\nL,I,N,{},x\n'],
  ['tickets reply', 'id,message,foo\n8,No,x\n', '--body', 'Yes'],
  ['tickets create', 'foo\nx\n', '--subject', 'A'],
])(
  'where every field is filled, or no column is known, what is not sent is named: %s',
  async (words, text, ...flags) => {
    const { exitCode, stderr } = await from(text, words, [...flags, '--dry-run']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/Columns that are not sent: (?:message, )?foo\.\n/u);
    expect(stderr).not.toContain('--map');
  },
);

test('an email or a number that nobody has, and a row without one, are said in plain words', async () => {
  const { stdout } = await from('email,name\nno@where.test,A\n,B\n', 'contacts update', ['--match', 'email', '--json']);
  expect(JSON.parse(stdout).errors).toEqual([
    { line: 2, error: 'email no@where.test: no contact has this email' },
    { line: 3, error: 'has no email' },
  ]);
  const closed = await from('id\nT-9999\n8\n', 'tickets close', ['--json']);
  expect(JSON.parse(closed.stdout).errors).toEqual([{ line: 2, error: 'id T-9999: no ticket has this number' }]);
});

test('the only row that cannot be sent is not "None of the 1 row"', async () => {
  const { stderr } = await from('subject\n  \n', 'tickets create', ['--no-header']);
  expect(stderr).not.toContain('None of the 1 row');
  const one = await from('subject,priority\nA,9\n', 'tickets create');
  expect(one.stderr).toContain('Error: The only row of rows.csv cannot be sent.');
});

test('standard input is called so on a terminal, and stays - in the report', async () => {
  const piped = { stdin: '8\n' };
  expect(
    (await svc(fresh(), ['tickets', 'close', '--from', '-'], { ...piped, columns: 80, env: { NO_COLOR: '1' } })).stdout,
  ).toMatch(/^svc tickets close, standard input$/mu);
  const { stdout } = await svc(fresh(), ['tickets', 'close', '--from', '-', '--json'], piped);
  expect(JSON.parse(stdout).file).toBe('-');
});

test('a run that --max-sends ends says what is left, and its next run counts right', async () => {
  const world = fresh();
  const rows = put(world, 'rows.csv', 'subject\nOne\nTwo\nThree\nFour\n');
  const argv = ['tickets', 'create', '--from', rows, '--max-sends', '1'];
  const first = await svc(world, argv);
  expect(first).toMatchObject({ exitCode: 8 });
  expect(first.stderr).toBe('3 rows are left, because of --max-sends 1. Run the same command again to send more.\n');
  const second = await svc(world, argv);
  expect(second.stderr).toMatch(/: 1 row settled, 3 rows to send\.\n2 rows are left, because of --max-sends 1\./u);
});

test.each([40, 60, 80])('a problem is told whole, and no line breaks a word, in %i columns', async (columns) => {
  const text = 'id,subject\n8,A\nT-9999,B\n8,'.concat('x'.repeat(300), '\n');
  for (const dry of [[], ['--dry-run']]) {
    const { stdout } = await from(text, 'tickets update', dry, { columns, env: { NO_COLOR: '1' } });
    const lines = stdout.split('\n').filter((line) => !/^ *"subject"|rows\.csv/u.test(line));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(stdout.replace(/\s+/gu, ' ')).toContain('id T-9999: no ticket has this number');
    expect(stdout).not.toContain('…');
  }
});

test('a problem in the table names the record of its row, where it does not name it itself', async () => {
  const text = `id,subject\nT-1008,${'x'.repeat(300)}\nT-9999,B\n9,C\n`;
  for (const dry of [[], ['--dry-run']]) {
    const { stdout } = await from(text, 'tickets update', dry, { columns: 200, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^ +2 {2}ticket T-1008: subject /mu);
    expect(stdout).toMatch(/^ +3 {2}id T-9999: no ticket has this number$/mu);
  }
});

test('bare numbers of tickets are a list too', async () => {
  const { stdout, exitCode } = await from('T-1008\n9\nT-9999\n', 'tickets close', ['--json']);
  expect({ exitCode, report: JSON.parse(stdout) }).toMatchObject({
    exitCode: 8,
    report: { rows: 3, done: 2, errors: [{ line: 3, error: 'id T-9999: no ticket has this number' }] },
  });
});

test('rows of another svc command without a header get advice that works', async () => {
  const world = fresh();
  const { stdout } = await svc(world, ['tickets', 'list', '--limit', '2']);
  const path = put(world, 'rows.tsv', stdout);
  const refused = await svc(world, ['tickets', 'close', '--from', path]);
  expect(refused.stderr).toContain('--no-header --map "#1=id"');
  expect(await svc(world, ['tickets', 'close', '--from', path, '--no-header', '--map', '#1=id'])).toMatchObject({
    exitCode: 0,
  });
});

test('Ctrl-C is acknowledged once', async () => {
  const world = fresh();
  const end = new AbortController();
  const exchange: SandboxWorld['exchange'] = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    end.abort('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 400));
    return world.exchange(request);
  };
  const path = put(world, 'rows.csv', `subject\n${Array.from({ length: 20 }, (_, at) => `Row ${at}\n`).join('')}`);
  const ran = await svc({ ...world, exchange }, ['tickets', 'create', '--from', path], { signal: end.signal });
  expect(ran.exitCode).toBe(130);
  expect(ran.stderr.match(/Ctrl-C again/gu)).toHaveLength(1);
});

test.each([
  ['subject,desciption\nA,Two\n', '--map "desciption=description"'],
  ['subject,legacy,desciption\nA,1,Two\n', '--map "desciption=description"'],
])('of the columns that are not sent one that is near a field is named with it: %j', async (stdin, map) => {
  const ran = await svc(sandboxWorld({ seed: few }), ['tickets', 'create', '--from', '-', '--dry-run'], { stdin });
  expect(ran.stderr).toContain(`To send one: ${map}\n`);
});
