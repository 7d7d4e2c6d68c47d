import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFileAt } from '../../src/disk/place/own-files.ts';
import { real } from '../real-component.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

const written = (sent: readonly string[]) => sent.filter((line) => !line.startsWith('GET'));

test.each([
  ['--results', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--rejects', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--report', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--report', 'email\none@example.com\n', ['contacts', 'sync']],
  ['--rejects', 'email\none@example.com\n', ['contacts', 'sync']],
])('a folder for %s that is not there is told before the first row is sent', async (flag, text, words) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, out] = [join(world.folder, 'rows.csv'), join(world.folder, 'missing', 'out.csv')];
  writeFileSync(file, text);
  const ran = await svc(world, [...words, file, flag, out]);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain(`${out} cannot be written: there is no folder ${join(world.folder, 'missing')}.`);
  expect(written(world.sent)).toEqual([]);
});

/** Every write to it fails: no space is left. */
const full = '/dev/full';
const isLinux = existsSync(full);

type World = ReturnType<typeof sandboxWorld>;
const runOf = async (world: World, argv: readonly string[]) => {
  const ran = await svc(world, [...argv, '--json']);
  return { ...ran, report: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
};

test.runIf(isLinux).each([
  ['--results', ['tickets', 'create', '--from'], 'subject\nOne\nTwo\n', { rows: 2, done: 2 }],
  ['--report', ['tickets', 'create', '--from'], 'subject\nOne\nTwo\n', { rows: 2, done: 2 }],
  ['--report', ['contacts', 'sync'], 'email\none@example.com\n', { rows: 1, created: 1 }],
])('a %s that finds the disk full, of %j: exit 1, with the sums', async (flag, words, text, sums) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: 'empty' });
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, text);
  const ran = await runOf(world, [...words, file, flag, full]);
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(ran.report).toMatchObject(sums);
  expect(ran.stderr).toContain(`${full} could not be written: the disk is full.`);
  expect(ran.stderr).toContain('To write the files, run the same command again');
});

test.runIf(isLinux)(
  'a file that cannot be written hides no rejected row, no doubt, and not the files beside it',
  async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const [file, report] = [join(world.folder, 'rows.csv'), join(world.folder, 'report.json')];
    writeFileSync(file, 'id,body\n1,Hello\n999999,Nobody\n');
    const argv = ['tickets', 'note', '--from', file, '--results', full, '--rejects', full, '--report', report];
    const partly = await runOf(world, argv.toSpliced(-4, 2));
    expect(partly.exitCode).toBe(8);
    expect(partly.report).toMatchObject({ done: 1, rejected: 1 });
    expect(partly.stderr).toContain(`${full} could not be written`);
    expect(JSON.parse(readFileSync(report, 'utf8'))).toEqual(partly.report);
    writeFileSync(file, 'id,body\n1,Lost\n');
    const lost = { lost: 'after-sending', reason: 'reset', detail: 'It broke.' } as const;
    const exchange: World['exchange'] = async (request) => (request.method === 'POST' ? lost : world.exchange(request));
    const doubt = await runOf({ ...world, exchange }, ['tickets', 'note', '--from', file, '--yes', '--results', full]);
    expect(doubt.exitCode).toBe(9);
    expect(doubt.stderr).toContain(`${full} could not be written`);
  },
);

test.runIf(isLinux).each([
  ['--rejects', ['contacts', 'update', '--from'], 'contact_id,name\n1,Ann\n999999,Ann\n'],
  ['--results', ['contacts', 'update', '--from'], 'contact_id,name\n1,Ann\n999999,Ann\n'],
  ['--rejects', ['contacts', 'sync'], 'email\none@example.com\nbad\n'],
  ['--report', ['contacts', 'sync'], 'email\none@example.com\nbad\n'],
])(
  'nobody is led to a %s that could not be written for the rows that were refused, of %j',
  async (flag, words, text) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const file = join(world.folder, 'rows.csv');
    writeFileSync(file, text);
    const ran = await runOf(world, [...words, file, flag, full]);
    expect(ran).toMatchObject({ exitCode: 8, report: { rejected: 1 } });
    expect(ran.stderr).toContain(`${full} could not be written`);
    expect(ran.stderr).toContain('1 rejected. Standard output names them; --rejects FILE keeps them.');
    expect(ran.stderr).not.toMatch(/in \/dev\/full|full names/u);
  },
);

test.runIf(isLinux).each([
  [['contacts', 'update', '--from'], 'contact_id,name\n1,Ann\n999999,Ann\n'],
  [['contacts', 'sync'], 'email\none@example.com\nbad\n'],
])('beside a report that could not be written, %j leads to the rejects that were', async (words, text) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, rejects] = [join(world.folder, 'rows.csv'), join(world.folder, 'rejects.csv')];
  writeFileSync(file, text);
  const argv = [...words, file, '--report', full, '--rejects', rejects, '--yes'];
  const { stderr } = await svc(world, argv);
  expect(stderr).toContain(`${full} could not be written`);
  expect(stderr).toContain(`1 rejected. The rejected are in ${rejects}.`);
  expect((await svc(world, argv, { columns: 100 })).stderr).toContain(
    `The rejected row is in ${rejects}. Fix it there.`,
  );
});

test('results that could not be written are written by the next run, which sends nothing', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, folder] = [join(world.folder, 'rows.csv'), join(world.folder, 'out')];
  const results = join(folder, 'results.csv');
  mkdirSync(folder);
  writeFileSync(file, 'subject\nOne\n');
  const argv = ['tickets', 'create', '--from', file, '--results', results];
  const exchange: World['exchange'] = async (request) => {
    rmSync(folder, { recursive: true, force: true });
    return world.exchange(request);
  };
  const ran = await runOf({ ...world, exchange }, argv);
  expect(ran).toMatchObject({ exitCode: 1, report: { done: 1 } });
  mkdirSync(folder);
  world.sent.length = 0;
  expect(await runOf(world, argv)).toMatchObject({ exitCode: 0, report: { done: 1, resumed_rows: 1 } });
  expect(written(world.sent)).toEqual([]);
  expect(readFileSync(results, 'utf8')).toMatch(/One,2,done,\d+/u);
});

test.runIf(isLinux)('signing secrets that could not be written stay in the journal for the next run', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const tokens = { account_id: 1, scopes: ['webhooks:manage', 'identity'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  const file = join(world.folder, 'hooks.csv');
  writeFileSync(file, 'event_type,target_url\ncall.completed,https://a.example/h\n');
  const argv = (results: string) => ['webhooks', 'create', '--from', file, '--yes', '--json', '--results', results];
  const env = { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: access_token };
  const ran = await svc(world, argv(full), { env });
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 1 });
  const results = join(world.folder, 'results.csv');
  expect(await svc(world, argv(results), { env })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(results, 'utf8')).toMatch(/svc_secret\r?\n.*,[\w-]{16,}\r?\n/u);
});

test.each([
  ['through a linked folder', 'd/o.csv', 'd/sub/up/o.csv'],
  ['by a path back through one', 'd/o.csv', 'd/sub/up/../d/o.csv'],
])('two outputs that are one file %s are exit 2, before it is there', async (_, one, other) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  mkdirSync(join(world.folder, 'd', 'sub'), { recursive: true });
  symlinkSync(join(world.folder, 'd'), join(world.folder, 'd', 'sub', 'up'));
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'subject\nOne\n');
  const out = ['--results', `${world.folder}/${one}`, '--report', `${world.folder}/${other}`];
  const ran = await svc(world, ['tickets', 'create', '--from', file, ...out]);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--report would overwrite') });
  expect(written(world.sent)).toEqual([]);
});

const precious = 'what svc keeps';
const writing: readonly (readonly [flag: string, argv: readonly string[]])[] = [
  ['--results', ['tickets', 'create', '--from', 'rows.csv', '--yes']],
  ['--rejects', ['tickets', 'create', '--from', 'rows.csv', '--yes']],
  ['--report', ['tickets', 'create', '--from', 'rows.csv', '--yes']],
  ['--report', ['contacts', 'sync', 'rows.csv']],
  ['--rejects', ['contacts', 'sync', 'rows.csv']],
  ['--out', ['contacts', 'export']],
  ['--file', ['mcp', 'install', 'claude-code']],
  ['--diff-out', ['sandbox', 'exec', '--', 'true']],
  ['--state', ['sandbox', 'start', '--port', '0']],
];

const inOwnTurn = writing.map(([flag, argv], turn) => [flag, argv, turn] as const);

test.each(inOwnTurn)('%s of %j never writes onto a file of svc’s own', async (flag, argv, turn) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const inFolder = (...names: string[]) => join(world.folder, ...names);
  const rows = inFolder('rows.csv');
  writeFileSync(rows, 'subject,email\nOne,one@example.com\n');
  for (const folder of ['config/views', 'state/bulk', 'state/drafts', 'elsewhere'])
    mkdirSync(inFolder(folder), { recursive: true });
  const named = [
    'config/credentials.json',
    'state/mirror.db',
    'state/mirror-0123456789ab.db-wal',
    'state/bulk/a.jsonl',
    'elsewhere/copy.db',
    'elsewhere/another.db',
    'elsewhere/another.db-wal',
    'config/policy.yaml',
    'config/views/mine.sql',
    'state/drafts/drafts.jsonl',
    'elsewhere/drafts.jsonl',
    'elsewhere/policy.yaml',
  ];
  for (const name of named) writeFileSync(inFolder(name), precious);
  // A copy that no setting names is known by its head.
  const head = Buffer.alloc(100);
  head.write('SQLite format 3\0', 'latin1');
  head.write('svcm', 68, 'latin1');
  writeFileSync(inFolder('elsewhere/another.db'), head);
  symlinkSync(inFolder('state'), inFolder('linked'));
  linkSync(inFolder('config/credentials.json'), inFolder('second-name'));
  const words = argv.map((word) => (word === 'rows.csv' ? rows : word));
  const [command, own] = words.includes('--') ? [words.slice(0, 2), words.slice(2)] : [words, []];
  const all = [...named, 'linked/mirror.db', 'second-name', 'config/config.json'];
  for (const name of inTurn(all, turn, 3)) {
    const env = {
      SVC_MIRROR_DB: inFolder('elsewhere/copy.db'),
      SVC_DRAFTS_DB: inFolder('elsewhere'),
      SVC_POLICY: inFolder('elsewhere/policy.yaml'),
    };
    const ran = await svc(world, [...command, flag, inFolder(name), ...own], { env });
    expect(ran, name).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is where svc keeps') });
  }
  for (const name of named.filter((one) => !one.endsWith('another.db')))
    expect(readFileSync(inFolder(name), 'utf8')).toBe(precious);
  expect(readFileSync(inFolder('elsewhere/another.db')).equals(head)).toBe(true);
  expect(existsSync(inFolder('config/config.json'))).toBe(false);
  expect(written(world.sent)).toEqual([]);
});

test('a second name of any of svc’s own files is that file, and a name of its own is no place for a copy or an export', async () => {
  const world = sandboxWorld({ seed: few });
  const inFolder = (name: string) => join(world.folder, name);
  const names = ['state/drafts/drafts.jsonl', 'state/audit/1/audit.jsonl', 'state/bulk/a.jsonl', 'config/views/a.sql'];
  const machine = { env: {}, files: { config: inFolder('config'), state: inFolder('state') } };
  for (const [at, name] of names.entries()) {
    mkdirSync(dirname(inFolder(name)), { recursive: true });
    writeFileSync(inFolder(name), 'x');
    linkSync(inFolder(name), inFolder(`second-${at}`));
    expect(await ownFileAt(machine, inFolder(`second-${at}`)), name).toBeDefined();
    rmSync(inFolder(name));
    for (const argv of [
      ['pull', '--db', inFolder(name)],
      ['export', '--to', dirname(inFolder(name))],
    ])
      expect(await svc(world, ['mirror', ...argv])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('is where svc keeps'),
      });
  }
  writeFileSync(inFolder('mine'), 'x');
  linkSync(inFolder('mine'), inFolder('second-mine'));
  expect(await ownFileAt(machine, inFolder('second-mine'))).toBeUndefined();
});

test('each name that the code makes below its two folders is known as svc’s own', async () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = files.flatMap((file) =>
    [
      ...readFileSync(join(src, file), 'utf8').matchAll(/join\(\s*(?:ctx\.)?(?:files\.)?(state|config), '([^']+)'/gu),
    ].map(([, folder = '', name = '']) => ({ folder, name })),
  );
  expect(new Set(named.map(({ name }) => name)).size).toBeGreaterThan(10);
  const world = sandboxWorld({ seed: few });
  const folders = { config: join(world.folder, 'config'), state: join(world.folder, 'state') };
  const machine = { env: {}, files: folders };
  const unknown = [];
  for (const { folder, name } of named)
    if (!(await ownFileAt(machine, join(world.folder, folder, name, 'x')))) unknown.push(`${folder}/${name}`);
  expect(unknown).toEqual([]);
});

test('other files in the folders of svc are the user’s', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  for (const folder of ['config', 'state'] as const) {
    mkdirSync(join(world.folder, folder), { recursive: true });
    const file = join(world.folder, folder, 'contacts.csv');
    expect(await svc(world, ['contacts', 'export', '--out', file])).toMatchObject({ exitCode: 0 });
    expect(existsSync(file)).toBe(true);
  }
});

test.each([
  ['--results', '--template'],
  ['--rejects', '--template'],
  ['--report', '--template'],
  ['--report', '--body-file'],
])('%s is refused where it would overwrite the file of %s', async (output, input) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, text] = [join(world.folder, 'rows.csv'), join(world.folder, 'text.md')];
  writeFileSync(file, 'id\n7\n');
  writeFileSync(text, 'Hello');
  symlinkSync(text, join(world.folder, 'link.md'));
  const argv = ['tickets', 'note', '--from', file, input, text, '--yes', output, join(world.folder, 'link.md')];
  const ran = await svc(world, argv);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${output} would overwrite the file`) });
  expect(readFileSync(text, 'utf8')).toBe('Hello');
  expect(written(world.sent)).toEqual([]);
});

test.each([
  ['--rejects', ['contacts', 'sync', '-']],
  ['--report', ['contacts', 'sync', '-']],
  ['--report', ['lists', 'import', '11', '-']],
  ['--results', ['tickets', 'create', '--from', '-']],
  ['--results', ['tickets', 'note', '--from', 'rows.csv', '--body-file', '-']],
  ['--report', ['tickets', 'note', '--from', 'rows.csv', '--template', '-']],
])('%s of %j is refused where it would overwrite the file that standard input is', async (output, argv) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [rows, stdin, link, second] = ['rows.csv', 'in.csv', 'link.csv', 'second.csv'].map((name) =>
    join(world.folder, name),
  );
  if (!rows || !stdin || !link || !second) throw new Error('Four paths.');
  writeFileSync(rows, 'id\n7\n');
  const text = 'subject,email\nOne,one@example.com\n';
  writeFileSync(stdin, text);
  symlinkSync(stdin, link);
  linkSync(stdin, second);
  const stdinFd = openSync(stdin, 'r');
  const words = argv.map((word) => (word === 'rows.csv' ? rows : word));
  for (const path of [stdin, link, second]) {
    const ran = await svc(world, [...words, '--yes', output, path], { stdin: text, stdinFd });
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${output} would overwrite the file`) });
  }
  closeSync(stdinFd);
  expect(readFileSync(stdin, 'utf8')).toBe(text);
  expect(written(world.sent)).toEqual([]);
});

test('what tells of rows that were sent stays as it is in a run that sends nothing', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, results, rejects] = ['rows.csv', 'created.csv', 'rejects.csv'].map((name) => join(world.folder, name));
  if (!file || !results || !rejects) throw new Error('Three paths.');
  writeFileSync(file, 'old,subject,priority\na,One,1\nb,Two,99\n');
  const argv = ['tickets', 'create', '--from', file, '--results', results, '--rejects', rejects];
  const dry = await svc(world, [...argv, '--dry-run']);
  expect(dry.exitCode, dry.stderr).toBe(8);
  rmSync(results);
  rmSync(rejects);
  expect(await svc(world, argv)).toMatchObject({ exitCode: 8 });
  const before = [results, rejects].map((path) => readFileSync(path, 'utf8'));
  expect(before.map((text) => text.trim().split('\n').length)).toEqual([3, 2]);
  const again = await svc(world, [...argv, '--dry-run']);
  expect(again.exitCode, again.stderr).toBe(8);
  for (const path of [results, rejects]) expect(again.stderr).toContain(`Nothing is sent, so ${path} stays as it is.`);
  expect([results, rejects].map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  // Nor does a run in which every row is wrong.
  writeFileSync(file, 'old,subject,priority\na,One,98\nb,Two,99\n');
  expect(await svc(world, argv)).toMatchObject({ exitCode: 2 });
  expect(readFileSync(results, 'utf8')).toBe(before[0]);
  expect(readFileSync(rejects, 'utf8')).not.toBe(before[1]);
});

test('a dry run of contacts sync leaves the rejects of a real one', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [file, rejects] = [join(world.folder, 'rows.csv'), join(world.folder, 'rejects.csv')];
  writeFileSync(file, 'email\none@example.com\nbad\n');
  writeFileSync(rejects, 'of a real run');
  const argv = ['contacts', 'sync', file, '--rejects', rejects];
  expect(await svc(world, [...argv, '--dry-run'])).toMatchObject({ exitCode: 8 });
  expect(readFileSync(rejects, 'utf8')).toBe('of a real run');
  expect(await svc(world, argv)).toMatchObject({ exitCode: 8 });
  expect(readFileSync(rejects, 'utf8')).toContain('bad');
});

const withFifo = real('mkfifo');
const waits = 'svc waits for a reader; Ctrl-C ends that.';

withFifo.each([
  ['--report', ['tickets', 'create', '--from'], 'subject\nOne\n', { rows: 1, done: 1 }],
  ['--results', ['tickets', 'create', '--from'], 'subject\nOne\n', { rows: 1, done: 1 }],
  ['--rejects', ['tickets', 'create', '--from'], 'subject\nOne\n', { rows: 1, done: 1 }],
  ['--report', ['contacts', 'sync'], 'email\none@example.com\n', { rows: 1, created: 1 }],
  ['--rejects', ['contacts', 'sync'], 'email\none@example.com\n', { rows: 1, created: 1 }],
])(
  'a pipe for %s of %j that nobody reads: the sums are told, and one signal ends the wait',
  { tags: ['long'] },
  async (flag, words, text, sums) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: 'empty' });
    const [file, out] = [join(world.folder, 'rows.csv'), join(world.folder, 'pipe')];
    writeFileSync(file, text);
    execFileSync('mkfifo', [out]);
    const interrupt = new AbortController();
    const seen = (_: string, text: string) => text.includes(waits) && interrupt.abort('SIGINT');
    const ran = await svc(world, [...words, file, flag, out, '--json'], { signal: interrupt.signal, seen });
    expect(ran.exitCode, ran.stderr).toBe(130);
    expect(JSON.parse(ran.stdout)).toMatchObject(sums);
    expect(ran.stderr).toContain(`1 of 1 row is done. Nobody reads ${out} yet. ${waits}`);
    expect(ran.stderr).toContain(`Interrupted: nobody reads ${out}.`);
    expect(ran.stderr).toContain('To write the files, run the same command again');
  },
);

withFifo(
  'a pipe for --diff-out that nobody reads: one signal ends the wait, and the command did not run',
  { tags: ['long'] },
  async () => {
    const world = sandboxWorld({ seed: few });
    const [out, made] = [join(world.folder, 'pipe'), join(world.folder, 'made')];
    execFileSync('mkfifo', [out]);
    const interrupt = new AbortController();
    const seen = (_: string, text: string) => text.includes(waits) && interrupt.abort('SIGINT');
    const argv = ['sandbox', 'exec', '--diff-out', out, '--', 'touch', made];
    const ran = await svc(world, argv, { signal: interrupt.signal, seen });
    expect(ran).toMatchObject({ exitCode: 130, stderr: expect.stringContaining(waits) });
    expect(existsSync(made)).toBe(false);
  },
);

withFifo('a pipe whose reader stays and takes nothing holds up no end by a signal', { tags: ['long'] }, async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: 'empty' });
  const [file, out] = [join(world.folder, 'rows.csv'), join(world.folder, 'pipe')];
  writeFileSync(file, `subject,notes\nOne,${'x'.repeat(250_000)}\n`);
  execFileSync('mkfifo', [out]);
  const reader = openSync(out, constants.O_RDONLY | constants.O_NONBLOCK);
  const interrupt = new AbortController();
  const exchange: World['exchange'] = async (request) => {
    if (request.method === 'POST') interrupt.abort('SIGINT');
    return world.exchange(request);
  };
  const argv = ['tickets', 'create', '--from', file, '--results', out, '--json'];
  const ran = await svc({ ...world, exchange }, argv, { signal: interrupt.signal });
  closeSync(reader);
  expect(ran.exitCode, ran.stderr).toBe(130);
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 1 });
  expect(ran.stderr).toContain(`Interrupted: ${out} was not read to its end.`);
});
