// svc each: one command for many accounts, against many services at once.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onTerminal } from '../../src/commands/each/lines.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { hexDigestOf } from '../../src/text/digest.ts';
import { type Built, buildSvc } from '../built.ts';
import { freePort } from '../free-port.ts';
import { inThisProcess, standInForItself } from '../itself.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';
import { isThorough } from '../thorough.ts';

let built: Built;
const closing: (() => unknown)[] = [];
/** More than svc keeps of what one command prints. Nothing is to be learnt from what makes it, and that takes seconds. */
const long = 'y'.repeat(33 * 1024 * 1024);
/** Before `standInForItself` puts another program in its place. */
const node = process.execPath;
beforeAll(async () => {
  built = await buildSvc();
  closing.push(
    await standInForItself(built.folder, async (started) =>
      started.argv.includes('/long') ? { exitCode: 0, stdout: long, stderr: '' } : inThisProcess(started),
    ),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
  await built.remove();
});

type Service = {
  readonly url: string;
  readonly requests: () => number;
};

/** `fault`: what every request meets. `seen` emits the method of each. */
async function sandboxService(
  seed: 'demo' | 'empty' = 'demo',
  fault?: object,
): Promise<Service & { readonly seen: EventEmitter }> {
  const sandbox = createSandbox({ seed: seed === 'demo' ? few : seed, rateLimit: 'off' });
  if (fault) {
    await sandbox.handle({
      method: 'POST',
      url: '/_sandbox/faults',
      headers: { host: '127.0.0.1', 'content-type': 'application/json' },
      body: JSON.stringify({ ...fault, times: 1_000_000 }),
    });
  }
  let requests = 0;
  const seen = new EventEmitter();
  const counting = {
    ...sandbox,
    handle: (asked: Parameters<typeof sandbox.handle>[0]) => {
      requests++;
      seen.emit(asked.method);
      return sandbox.handle(asked);
    },
  };
  const server = await serve(counting, 0);
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, requests: () => requests, seen };
}

/** A service that answers everything alike, or breaks every connection once it has read the request. */
async function strange(
  answer: 'cut' | { status: number; type?: string; body: string; headers?: object },
): Promise<Service> {
  let requests = 0;
  const server: Server = createServer((asked, response) => {
    requests++;
    asked.resume().on('end', () => {
      if (answer === 'cut') return void asked.socket.destroy();
      response.writeHead(answer.status, { 'content-type': answer.type ?? 'application/json', ...answer.headers });
      response.end(answer.body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}

type Machine = { readonly folder: string; readonly urls: Readonly<Record<string, string>> };

/** Saved logins, as `svc login --with-api-key` saves them. */
function machineWith(urls: Readonly<Record<string, string>>): Machine {
  const folder = mkdtempSync(join(built.folder, 'each-'));
  mkdirSync(join(folder, 'config'), { mode: 0o700 });
  const profiles = Object.fromEntries(
    Object.entries(urls).map(([name, base_url]) => [
      name,
      { base_url, account: { id: 1, name: `Account of ${name}` } },
    ]),
  );
  writeFileSync(join(folder, 'config', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const entries = Object.entries(urls).map(([name, base_url]) => [
    `profile/${name}/api_key`,
    JSON.stringify({
      base_url: name === 'bad-origin' ? 'http://127.0.0.1:1' : base_url,
      token: 'key_acme',
      account_id: 1,
    }),
  ]);
  const contents = { version: 1, secrets: Object.fromEntries(entries) };
  writeFileSync(join(folder, 'config', 'credentials.json'), JSON.stringify(contents), { mode: 0o600 });
  return { folder, urls };
}

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function start(
  { folder }: Pick<Machine, 'folder'>,
  argv: readonly string[],
  env: Record<string, string> = {},
): ChildProcess {
  return spawn(node, [built.script, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 250_000,
    env: { ...envOf({ folder }), ...env },
  });
}

const envOf = ({ folder }: Pick<Machine, 'folder'>) => ({
  ...process.env,
  SVC_CONFIG_DIR: join(folder, 'config'),
  SVC_STATE_DIR: join(folder, 'state'),
  SVC_TOKEN_STORE: 'file',
});

/** The built tool, and the built tool for each account. */
async function asProcesses(
  machine: Machine,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = start(machine, argv, env);
  if (!child.stdout || !child.stderr) throw new Error('Its streams are not piped.');
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

/** The same in this process, where what `each` starts is a program that has its work done here too. `.ci/run` plays all as processes. */
const run = isThorough
  ? asProcesses
  : async ({ folder }: Machine, argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
      const { exitCode, ...said } = await inThisProcess({ argv, env: { ...envOf({ folder }), ...env } });
      return { code: exitCode, ...said };
    };

/** Where `each` starts nobody: it refuses. */
async function refusal({ folder }: Machine, argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const world = createWorld(() => Promise.reject(new Error('Nobody is asked.')), { folder, env });
  const { exitCode, ...said } = await svc(world, ['each', ...argv]);
  return { code: exitCode, ...said };
}

type Line = { profile: string; account: { name: string } | null; exit_code: number; output: unknown };

const linesOf = ({ stdout }: Ended): Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const codesOf = (ran: Ended) =>
  Object.fromEntries(
    linesOf(ran)
      .map(({ profile, exit_code: code }) => [profile, code] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const note = ['tickets', 'note', '8', '--body', 'Seen', '--settle', '0', '--max-wait', '1', '--timeout', '5'];

test('thirty accounts at once, ten of them failing in ten ways: the sums hold, and --failed takes those that surely failed', {
  tags: ['long'],
}, async () => {
  const answering = (status: number) => sandboxService('demo', { action: 'status', status });
  const failing: Record<string, Service | { url: string }> = {
    'bad-400': await answering(400),
    'bad-401': await answering(401),
    'bad-403': await answering(403),
    // Its login is of another service.
    'bad-origin': await sandboxService(),
    'bad-422': await answering(422),
    'bad-429': await sandboxService('demo', { action: 'rate-limit', retry_after: 60 }),
    'bad-cut': await strange('cut'),
    'bad-empty': await sandboxService('empty'),
    'bad-page': await strange({ status: 200, type: 'text/html', body: '<html>Welcome</html>' }),
    'bad-refused': { url: `http://127.0.0.1:${await freePort()}` },
  };
  const good: Record<string, Service> = {};
  for (let at = 1; at <= 20; at++) good[`good-${at}`] = await sandboxService();
  const urls = Object.fromEntries(Object.entries({ ...good, ...failing }).map(([name, { url }]) => [name, url]));
  const machine = machineWith(urls);
  const ran = await run(machine, ['each', '--all', '--parallel', '6', '--json', '--', ...note]);
  const codes = codesOf(ran);
  expect(Object.keys(codes).sort()).toEqual(Object.keys(urls).sort());
  expect(codes).toMatchObject(Object.fromEntries(Object.keys(good).map((name) => [name, 0])));
  expect(codes).toMatchObject({
    ...{ 'bad-400': 6, 'bad-401': 4, 'bad-403': 5, 'bad-origin': 2, 'bad-422': 6, 'bad-429': 7 },
    ...{ 'bad-cut': 9, 'bad-empty': 3, 'bad-page': 9, 'bad-refused': 10 },
  });
  expect(ran.code).toBe(9);
  expect(ran.stderr).toContain('30 accounts: 20 done, ');
  for (const { profile, account, exit_code: code, output } of linesOf(ran)) {
    expect(account?.name).toBe(`Account of ${profile}`);
    if (code === 0) expect(output).toMatchObject({ body: 'Seen' });
    else expect(output).toMatchObject({ error: { exit_code: code } });
  }
  for (const name of Object.keys(failing)) expect(ran.stderr).toContain(`${name}: exit ${codes[name]}`);

  // Those of which it is not known are left alone, and named; all that went well too.
  const asked = (name: string) => (failing[name] as Service).requests();
  const before = [asked('bad-cut'), asked('bad-page'), asked('bad-401')];
  const again = await run(machine, ['each', '--all', '--failed', '--json', '--', ...note]);
  expect(Object.keys(codesOf(again))).toEqual(
    Object.keys(failing)
      .filter((name) => name !== 'bad-cut' && name !== 'bad-page')
      .sort(),
  );
  expect([asked('bad-cut'), asked('bad-page')]).toEqual(before.slice(0, 2));
  expect(asked('bad-401')).toBeGreaterThan(before[2] ?? 0);
  expect(again.stderr).toContain('Left alone, for something may be done there: bad-cut (exit 9), bad-page (exit 9).');
  expect(again.code).toBe(9);
});

describe('with a few accounts', () => {
  let urls: Record<string, string>;
  let services: readonly Service[];
  beforeAll(async () => {
    const [one, two, three] = [await sandboxService(), await sandboxService(), await sandboxService()];
    services = [one, two, three];
    urls = { 'acme-1': one.url, 'acme-2': two.url, other: three.url };
  });

  test('a pattern chooses among the profiles, and svc in front of the command is understood', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith(urls);
    const ran = await asProcesses(machine, [
      'each',
      '--profiles',
      'acme-*',
      '--',
      'svc',
      'lists',
      'list',
      '--fields',
      'contacts_list_id,name',
      '--limit',
      '1',
    ]);
    expect(ran.code).toBe(0);
    expect(ran.stdout.split('\n').filter(Boolean).sort()).toEqual([
      'acme-1\t0\t1\tSpring webinar',
      'acme-2\t0\t1\tSpring webinar',
    ]);
    expect(ran.stderr).toBe('2 accounts: 2 done.\n');
    const both = await run(machine, ['each', '--profiles', 'other,acme-1', '--json', '--', 'account', 'get']);
    expect(
      linesOf(both)
        .map(({ profile, output }) => [profile, (output as { name: string }).name])
        .sort(),
    ).toEqual([
      ['acme-1', 'Acme'],
      ['other', 'Acme'],
    ]);
  });

  test('all failed with one code is that code; some is 8', { tags: ['long'] }, async () => {
    const machine = machineWith(urls);
    expect((await run(machine, ['each', '--all', '--', 'tickets', 'get', '99999'])).code).toBe(3);
    const mixed = machineWith({ ...urls, gone: `http://127.0.0.1:${await freePort()}` });
    expect((await run(mixed, ['each', '--all', '--', 'tickets', 'get', '8', '--max-wait', '1'])).code).toBe(8);
  });

  test('a send and a delete are asked for once, with the number of accounts; in a script they need --yes', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith(urls);
    const reply = ['tickets', 'reply', '8', '--body', 'Hello'];
    for (const command of [reply, ['lists', 'delete', '2'], ['webhooks', 'delete', '1']]) {
      const refused = await refusal(machine, ['--all', '--', ...command]);
      expect([command[0], refused.code, refused.stdout]).toEqual([command[0], 2, '']);
      expect(refused.stderr).toContain('for 3 accounts without confirmation');
    }
    const done = await run(machine, ['each', '--all', '--yes', '--json', '--', 'lists', 'delete', '3']);
    expect(codesOf(done)).toEqual({ 'acme-1': 0, 'acme-2': expect.any(Number), other: expect.any(Number) });
  });

  test('a draft is no send, so nobody is asked: with --draft, and in mode draft', { tags: ['long'] }, async () => {
    const machine = machineWith({ other: urls.other ?? '' });
    const reply = ['each', '--all', '--json', '--', 'tickets', 'reply', '8', '--body', 'Hello'];
    for (const [more, env] of [
      [['--draft'], {}],
      [[], { SVC_SENDS: 'draft' }],
    ] as const) {
      const ran = await run(machine, [...reply, ...more], env);
      expect([ran.stderr, ran.code]).toEqual([expect.not.stringContaining('Refusing'), 0]);
      expect(ran.stdout).toContain('"state":"waiting"');
    }
    const rows = join(machine.folder, 'rows.csv');
    writeFileSync(rows, 'id,body\n8,Hello\n');
    expect(await run(machine, ['each', '--all', '--', 'tickets', 'reply', '--from', rows, '--draft'])).toMatchObject({
      code: 0,
    });
  });

  test('on a terminal what a write did is shown whole; what only reads can be asked again', () => {
    const line = { profile: 'acme', account: null, exit_code: 0, output: 'id       7\nchannel  email\n' };
    expect(onTerminal(line, { width: 80, isWrite: true, printed: '', names: 4 })).toBe(
      '✓ acme\n    id       7\n    channel  email',
    );
    const part = { ...line, exit_code: 8, output: '1 of 2 rows are done' };
    expect(onTerminal(part, { width: 80, isWrite: true, printed: 'rejected\t2\n', names: 4 })).toBe(
      '✗ acme  exit 8\n    rejected  2',
    );
    expect(onTerminal(part, { width: 80, isWrite: false, printed: 'rejected\t2\n', names: 4 })).toBe('✗ acme  exit 8');
    const one = { ...line, output: '12\topen\tExport fails again\t2026-03-01T10:00:00Z\n' };
    expect(onTerminal(one, { width: 40, isWrite: false, printed: '', names: 4 })).toBe(
      '✓ acme\n    12 open Export fails again\n    2026-03-01T10:00:00Z',
    );
    expect(onTerminal(line, { width: 80, isWrite: false, printed: '', names: 4 })).toContain(
      '2 lines (whole in a pipe, or with --json)',
    );
  });

  test('what they say stands in one column', () => {
    const on = { width: 80, isWrite: false, printed: '', names: 6 };
    const line = { profile: 'acme', account: null, exit_code: 0, output: '12' };
    expect(onTerminal(line, on)).toBe('✓ acme    12');
    expect(onTerminal({ ...line, profile: 'globex' }, on)).toBe('✓ globex  12');
    expect(onTerminal({ ...line, exit_code: 4 }, on)).toBe('✗ acme    exit 4');
    expect(onTerminal(line, { ...on, names: 300 }).length).toBeLessThan(40);
  });

  test('svc api asks where it writes, and not where it reads', { tags: ['long'] }, async () => {
    const machine = machineWith(urls);
    const reads = [[], ['-X', 'GET'], ['-Xget', '-f', 'per_page=1'], ['--method=GET', '-F', 'per_page=1'], ['-i']];
    for (const words of reads) {
      const ran = await run(machine, ['each', '--profiles', 'other', '--json', '--', 'api', '/contacts', ...words]);
      expect([words, codesOf(ran)]).toEqual([words, { other: 0 }]);
    }
    for (const words of [
      ['-X', 'DELETE'],
      ['-f', 'a=b'],
      ['-if', 'a=b'],
      ['-iX', 'POST'],
      ['-X', 'GET', '-XPOST'],
    ]) {
      const ran = await refusal(machine, ['--all', '--', 'api', '/lists/2', ...words]);
      expect([words, ran.code]).toEqual([words, 2]);
      expect(ran.stderr).toContain('for 3 accounts without confirmation');
    }
  });

  test('what would act for somebody else, or cannot be meant, is exit 2, and nothing is run', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith(urls);
    const refused = async (argv: readonly string[], said: string, env: Record<string, string> = {}) => {
      const ran = await refusal(machine, argv, env);
      expect([argv, ran.code, ran.stdout]).toEqual([argv, 2, '']);
      expect(ran.stderr).toContain(said);
    };
    const get = ['--', 'account', 'get'];
    await refused(['--all', ...get], 'SVC_API_KEY is set', { SVC_API_KEY: 'key_acme' });
    await refused(['--all', ...get], 'SVC_PROFILE', { SVC_PROFILE: 'other' });
    await refused(get, 'Give either --profiles GLOB or --all');
    await refused(['--all', '--profiles', 'acme-1', ...get], 'Give either');
    await refused(['--profiles', 'beta-*', ...get], 'No profile is called "beta-*"');
    await refused(['--all', '--', 'account', 'get', '-p', 'other'], 'names a profile itself');
    for (const words of [
      ['-pother'],
      ['--profile=other'],
      ['-yp', 'other'],
      ['-ypother'],
      ['-o', 'json', '-p', 'other'],
    ]) {
      await refused(['--all', ...get, ...words], 'names a profile itself');
    }
    await refused(['--all', ...get, '-o', '-p', '-y', '--jq', '-p', 'x'], 'is set', { SVC_API_KEY: 'key_acme' });
    await refused(['--all', '--', '--profile=other', 'account', 'get'], 'begins with a command');
    await refused(['--all', '--', 'acount', 'get'], 'has no command "acount get"');
    await refused(['--all', '--', 'each', '--all', '--', 'whoami'], 'each is not run for each account');
    for (const command of [
      'login',
      'auth switch acme-1',
      'auth keep',
      'inbox',
      'watch',
      'webhooks listen',
      'webhooks serve',
      'sandbox start',
      'alias list',
    ]) {
      await refused(['--all', '--', ...command.split(' ')], 'is not run for each account');
    }
    for (const flags of [['--output', 'csv'], ['-o', 'yaml'], ['--fields', 'id'], ['--safe-cells']]) {
      await refused(['--all', ...flags, ...get], 'behind --');
    }
    await refused(['--all', '--failed', ...get], 'has not been run for each account before');
    expect(readdirSync(join(machine.folder, 'config')).sort()).toEqual(['config.json', 'credentials.json']);
  });

  test("a name of the user's own for a send is asked for as well", async () => {
    const machine = machineWith(urls);
    await run(machine, ['alias', 'set', 'hello', 'tickets reply 8 --body Hello']);
    const ran = await refusal(machine, ['--all', '--', 'hello']);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain('Refusing to run svc tickets reply 8 --body Hello for 3 accounts');
    const otherwise = await refusal(machine, ['--all', '--', 'hello', '--body', 'Bye']);
    expect(otherwise.stderr).toContain('Refusing to run svc tickets reply 8 --body Bye for 3 accounts');
  });

  test("behind a name of the user's own over each, or over a sandbox, a flag takes the place of that of the command in it", {
    tags: ['long'],
  }, async () => {
    const machine = machineWith(urls);
    await run(machine, ['alias', 'set', 'all', 'each --all -- tickets list --fields id --limit 5']);
    const each = await run(machine, ['all', '--limit', '1']);
    expect(each).toMatchObject({ code: 0, stderr: expect.not.stringContaining('takes one value') });
    await run(machine, ['alias', 'set', 'try', 'sandbox exec -- svc tickets list --fields id --limit 5 --json']);
    const inside = await asProcesses(machine, ['try', '--limit', '1']);
    expect([inside.code, JSON.parse(inside.stdout)]).toEqual([0, [{ id: expect.any(Number) }]]);
  });

  test("a profile in a name of the user's own is refused, and so is a flag in front of its command", async () => {
    const machine = machineWith(urls);
    await run(machine, ['alias', 'set', 'mine', 'tickets create -p other --subject Sub --description D']);
    await run(machine, ['alias', 'set', 'mine-too', 'tickets create --profile=other --subject Sub --description D']);
    for (const name of ['mine', 'mine-too']) {
      const ran = await refusal(machine, ['--all', '--yes', '--', name]);
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('names a profile itself');
    }
  });

  test('a text that reads --dry-run, -h or --yes is a text: the question is asked, and two profiles of one account are refused', async () => {
    const machine = machineWith(urls);
    for (const [flag, text] of [
      ['--body', '--dry-run'],
      ['--body', '-h'],
      ['--body', '--yes'],
    ]) {
      const ran = await refusal(machine, ['--all', '--', 'tickets', 'reply', '8', flag ?? '', text ?? '']);
      expect([text, ran.code, ran.stdout]).toEqual([text, 2, '']);
      expect(ran.stderr).toContain('Refusing to run');
    }
    const twins = machineWith({ one: urls.other ?? '', two: urls.other ?? '' });
    const ran = await refusal(twins, ['--all', '--', 'tickets', 'create', '--subject', 'S', '--description', '-h']);
    expect(ran.stderr).toContain('one and two log in to one account');
  });

  test('a file for all accounts is refused; with {profile} in its name each has one of its own', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith(urls);
    const file = (name: string) => join(machine.folder, name);
    const exported = (out: string) => ['--all', '--', 'contacts', 'export', '--out', out];
    const refused = await refusal(machine, exported(file('all.csv')));
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('--out names one file for 3 accounts');
    expect(refused.stderr).toContain(file('{profile}.all.csv'));
    expect((await run(machine, ['each', ...exported(file('{profile}.csv'))])).code).toBe(0);
    for (const profile of Object.keys(urls))
      expect(readFileSync(file(`${profile}.csv`), 'utf8')).toContain('contact_id');
    expect((await run(machine, ['each', '--profiles', 'other', ...exported(file('one.csv')).slice(1)])).code).toBe(0);
  });

  test('an account that svc does not know may be that of another profile: no write, a read', async () => {
    const machine = machineWith(urls);
    const path = join(machine.folder, 'config', 'config.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    delete config.profiles.other.account;
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    const refused = await refusal(machine, ['--all', '--', 'tickets', 'note', '8', '--body', 'Seen']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('does not know the account of other');
    expect((await run(machine, ['each', '--all', '--', 'account', 'get'])).code).toBe(0);
  });

  test('what was written is told as done, also where nobody can be shown it', { tags: ['long'] }, async () => {
    const machine = machineWith(urls);
    const argv = ['each', '--all', '--yes', '--', 'tickets', 'create', '--subject', 'Unseen', '--description', 'D'];
    const child = spawn('sh', ['-c', 'exec "$@" > /dev/full', 'sh', node, built.script, ...argv], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 250_000,
      env: envOf(machine),
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([stderr, code]).toEqual([expect.stringContaining('Standard output could not be written'), 1]);
    const listed = await run(machine, ['each', '--all', '--', 'tickets', 'list', '--all', '-o', 'jsonl']);
    const made = listed.stdout.split('\n').filter((line) => line.includes('Unseen')).length;
    expect(made).toBeGreaterThan(0);
    expect(stderr).toContain(`3 accounts: ${made} done.`);
  });

  test('whoever stops reading does not stop a write, and its exit code tells of all accounts; a read ends there', {
    tags: ['long'],
  }, async () => {
    const empty = await sandboxService('empty');
    const machine = machineWith({ ...urls, void: empty.url });
    const unread = async (argv: readonly string[]) => {
      const child = start(machine, ['each', '--parallel', '1', '--yes', ...argv]);
      if (!child.stdout || !child.stderr) throw new Error('Its streams are not piped.');
      child.stdout.destroy();
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      return { stderr, code };
    };
    const written = await unread(['--all', '--', 'tickets', 'note', '8', '--body', 'Nobody reads this']);
    expect(written).toEqual({ stderr: expect.stringContaining('4 accounts: 3 done, 1 with exit 3.'), code: 8 });
    expect(written.stderr).toContain('void: exit 3');
    expect(await unread(['--all', '--', 'tickets', 'get', '8'])).toEqual({ stderr: '', code: 0 });
  });

  test('what is known of the other profiles stays known, also of those that are saved no more', {
    tags: ['long'],
  }, async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const machine = machineWith({ ...urls, 'bad-1': closed, 'bad-2': closed });
    const get = ['--max-wait', '0', '--', 'account', 'get'];
    const codes = async (...argv: string[]) => (await run(machine, ['each', ...argv, ...get])).code;
    expect(await codes('--profiles', 'bad-*')).toBe(10);
    expect(await codes('--profiles', 'acme-*')).toBe(0);
    const again = await run(machine, ['each', '--profiles', 'bad-*', '--failed', ...get]);
    expect([again.code, again.stderr]).toEqual([10, expect.stringContaining('2 profiles: 2 with exit 10.')]);
    await run(machine, ['logout', '-p', 'bad-2', '--local-only']);
    const last = await run(machine, ['each', '--all', '--failed', ...get]);
    expect(last.stdout).toBe('bad-1\t10\t\n');
    expect(last.stderr).toContain('cannot be run again: bad-2 (it is saved no more).');
    expect(last.stderr).toContain('it was not run there before: other.');
    expect(await codes('--profiles', 'other', '--failed')).toBe(2);
  });

  test('the same command is known in another order, and whatever says how long it may take', {
    tags: ['long'],
  }, async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const machine = machineWith({ bad: closed });
    const [list, other] = [
      ['tickets', 'list', '--status', 'open'],
      ['tickets', 'list', '--status', 'closed'],
    ];
    const each = (...argv: string[]) => run(machine, ['each', '--all', ...argv]);
    expect((await each('--', ...list, '--limit', '5', '--max-wait', '0')).code).toBe(10);
    for (const again of [
      [...list, '--limit', '5', '--max-wait', '0', '--timeout=60'],
      ['tickets', 'list', '--limit=5', '--status', 'open', '--max-wait', '0', '-yojson'],
    ])
      expect((await each('--failed', '--', ...again)).code).toBe(10);
    for (const strange of [list, [...other, '--limit', '5'], ['tickets', 'get', '5', '--max-wait', '0']]) {
      const ran = await each('--failed', '--', ...strange);
      expect([ran.code, ran.stderr]).toEqual([
        2,
        expect.stringContaining('also where another form of it has done a part'),
      ]);
    }
  });

  test('what an earlier version noted of a command is taken over, whatever the order of its flags is now', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith({ bad: `http://127.0.0.1:${await freePort()}` });
    const words = ['tickets', 'list', '--status', 'open', '--limit', '5', '--max-wait', '0'];
    const folder = join(machine.folder, 'state', 'each');
    mkdirSync(folder, { recursive: true });
    const name = `${hexDigestOf(JSON.stringify(words)).slice(0, 24)}.jsonl`;
    writeFileSync(join(folder, name), `${JSON.stringify({ profile: 'bad', outcome: 9 })}\n`);
    const again = await run(machine, ['each', '--all', '--failed', '--', ...words]);
    expect([again.code, again.stderr]).toEqual([9, expect.stringContaining('bad (exit 9)')]);
    const other = ['tickets', 'list', '--limit', '5', '--status', 'open'];
    expect((await run(machine, ['each', '--all', '--failed', '--', ...other])).code).toBe(9);
    // What only reads may be run again after any failure.
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.jsonl')))
      writeFileSync(join(folder, file), `${JSON.stringify({ profile: 'bad', outcome: 1 })}\n`);
    expect((await run(machine, ['each', '--all', '--failed', '--', ...other])).code).toBe(10);
  });

  test('a profile that logs in to another account since then is left out, and named', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const machine = machineWith({ moves: closed });
    const list = ['--max-wait', '0', '--', 'lists', 'list'];
    expect((await run(machine, ['each', '--all', ...list])).code).toBe(10);
    const moved = { ...machineWith({ moves: urls.other ?? '' }) };
    rmSync(join(moved.folder, 'state'), { recursive: true, force: true });
    cpSync(join(machine.folder, 'state'), join(moved.folder, 'state'), { recursive: true });
    const again = await run(moved, ['each', '--all', '--failed', ...list]);
    expect([again.code, again.stdout]).toEqual([10, '']);
    expect(again.stderr).toContain('moves (it logs in to another account now)');
  });

  test('a profile that logs in to another account before its turn is left alone: exit 4, and nothing is written', async () => {
    const machine = machineWith({ a: urls.other ?? '', b: urls['acme-1'] ?? '' });
    const path = join(machine.folder, 'config', 'credentials.json');
    const held = JSON.parse(readFileSync(path, 'utf8'));
    held.secrets['profile/b/api_key'] = JSON.stringify({
      ...JSON.parse(held.secrets['profile/b/api_key']),
      account_id: 2,
    });
    writeFileSync(path, JSON.stringify(held), { mode: 0o600 });
    const before = services.map(({ requests }) => requests());
    const ran = await run(machine, ['each', '--profiles', 'b', '--yes', '--', 'tickets', 'close', '8']);
    expect([ran.code, services.map(({ requests }) => requests())]).toEqual([4, before]);
    expect(ran.stderr).toContain('logged in to account 2 while this command was at work in account 1');
  });

  test('what ends with exit 1 after its write is left alone; what ends with it before is run again', {
    tags: ['long'],
  }, async () => {
    const machine = machineWith({ one: urls.other ?? '' });
    const each = (...argv: string[]) => run(machine, ['each', '--profiles', 'one', '--yes', ...argv]);
    const asked = () => services.reduce((sum, { requests }) => sum + requests(), 0);
    const told = ['tickets', 'note', '8', '--body', 'Told once', '--jq', '.id | ascii_downcase'];
    expect((await each('--', ...told)).code).toBe(1);
    const before = asked();
    for (const form of [['--json'], []]) {
      const again = await each('--failed', ...form, '--', ...told);
      expect([again.code, again.stderr, asked()]).toEqual([
        1,
        expect.stringContaining('Left alone, for something may be done there: one (exit 1).'),
        before,
      ]);
    }
    // Without a record of it nothing is written.
    const record = join(machine.folder, 'state', 'audit');
    rmSync(record, { recursive: true });
    writeFileSync(record, '');
    const late = ['tickets', 'note', '8', '--body', 'Told late'];
    const first = await each('--', ...late);
    expect([first.code, asked()]).toEqual([1, before]);
    rmSync(record);
    expect((await each('--failed', '--', ...late)).code).toBe(0);
    expect(asked()).toBeGreaterThan(before);
  });

  test('a file of which rows were sent before exit 1 is left alone', { tags: ['long'] }, async () => {
    let [posts, place] = [0, ''];
    const between = createServer(async (asking, response) => {
      const body = await text(asking);
      const { url = '', method = 'GET', headers } = asking;
      // From here on no report can be written.
      if (method === 'POST' && ++posts === 2) rmSync(place, { recursive: true });
      const { authorization = '', ...kept } = headers;
      const answer = await fetch(new URL(url, urls.other), {
        method,
        headers: { authorization, 'content-type': kept['content-type'] ?? 'application/json' },
        ...(body !== '' && { body }),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    });
    await new Promise<void>((ready) => between.listen(0, '127.0.0.1', ready));
    closing.push(() => between.close());
    const machine = machineWith({ one: `http://127.0.0.1:${(between.address() as AddressInfo).port}` });
    place = join(machine.folder, 'reports');
    mkdirSync(place);
    const rows = join(machine.folder, 'rows.csv');
    writeFileSync(rows, ['id,body', ...Array.from({ length: 12 }, (_, n) => `8,Row ${n}`)].join('\n'));
    const notes = ['--', 'tickets', 'note', '--from', rows, '--restart', '--report', join(place, 'one.json')];
    const ran = await run(machine, ['each', '--profiles', 'one', '--yes', ...notes]);
    expect([ran.code, posts]).toEqual([1, expect.any(Number)]);
    const before = posts;
    expect(before).toBeGreaterThan(0);
    mkdirSync(place);
    const again = await run(machine, ['each', '--profiles', 'one', '--failed', '--yes', ...notes]);
    expect([again.code, again.stderr, posts]).toEqual([1, expect.stringContaining('Left alone'), before]);
  });

  test('a release is asked for once for all, unless it only checks', { tags: ['long'] }, async () => {
    const machine = machineWith({ one: urls.other ?? '', two: urls['acme-1'] ?? '' });
    const notes = join(machine.folder, 'notes.md');
    writeFileSync(notes, '- Faster exports');
    const release = ['--', 'changelog', 'release', '9.1.0', '--notes-file', notes];
    const before = services.map(({ requests }) => requests());
    for (const more of [[], ['--draft'], ['--title', '--check']]) {
      const refused = await refusal(machine, ['--all', ...release, ...more]);
      expect([refused.code, refused.stdout, services.map(({ requests }) => requests())]).toEqual([2, '', before]);
      expect(refused.stderr).toContain('for 2 accounts without confirmation');
    }
    expect((await run(machine, ['each', '--all', ...release, '--check'])).code).toBe(11);
    expect((await run(machine, ['each', '--all', '--yes', ...release])).code).toBe(0);
  });

  test('two profiles of one account: a write is refused, a read is not', async () => {
    const machine = machineWith({ one: urls.other ?? '', two: urls.other ?? '' });
    const refused = await refusal(machine, ['--all', '--', 'tickets', 'note', '8', '--body', 'Seen']);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('one and two log in to one account');
    const read = await run(machine, ['each', '--all', '--', 'account', 'get']);
    expect([read.code, read.stderr]).toEqual([0, '2 profiles: 2 done. one and two log in to one account.\n']);
    expect((await run(machine, ['each', '--profiles', 'two', '--', ...note])).code).toBe(0);
  });

  test('flags beside each hold for each run', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    closing.push(
      () => silent.closeAllConnections(),
      () => silent.close(),
    );
    const machine = machineWith({ slow: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` });
    const flags = ['--timeout', '0.2', '--max-wait', '0'];
    const ran = await run(machine, ['each', '--all', ...flags, '--', 'account', 'get']);
    expect([ran.code, ran.stderr]).toEqual([10, expect.stringContaining('No answer within 0.2 s')]);
    const elsewhere = await run(machine, ['each', '--all', '--base-url', 'http://127.0.0.1:1', '--', 'account', 'get']);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('127.0.0.1:1')]);
  });

  test('output that is not whole is told, and is exit 8; a failure that all have is told once', {
    tags: ['long'],
  }, async () => {
    const { url } = await strange({ status: 200, body: JSON.stringify({ text: long }) });
    const machine = machineWith({ long: url });
    const ran = await run(machine, ['each', '--all', '--yes', '--json', '--', 'api', '/long']);
    expect([ran.code, linesOf(ran)[0]?.exit_code]).toEqual([8, 0]);
    expect(ran.stderr).toContain('long: only the first 32 MB of what it printed are here.');
    const wrong = await run(machineWith(urls), ['each', '--all', '--', 'account', 'get', '--nonsense']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr.match(/Unknown option/gu)).toHaveLength(1);
  });

  test('twelve at once, and Node finds nothing to warn of', { tags: ['long'] }, async () => {
    const names = Array.from({ length: 12 }, (_, at) => [`p${at}`, `http://127.0.0.1:${at + 1}`]);
    const ran = await asProcesses(machineWith(Object.fromEntries(names)), [
      'each',
      '--all',
      '--parallel',
      '12',
      '--',
      'config',
      'list',
    ]);
    expect([ran.code, ran.stderr]).toEqual([0, '12 accounts: 12 done.\n']);
  });

  test('lines of csv end where they end', async () => {
    const csv = ['lists', 'list', '--limit', '1', '-o', 'csv', '--fields', 'name'];
    const ran = await run(machineWith(urls), ['each', '--profiles', 'other', '--', ...csv]);
    expect(ran.stdout).toBe('other\t0\tname\nother\t0\tSpring webinar\n');
  });

  test('texts of the command are in no file of the run', { tags: ['long'] }, async () => {
    const machine = machineWith(urls);
    await run(machine, ['each', '--all', '--', 'tickets', 'note', '8', '--body', 'Not for everybody']);
    const folder = join(machine.folder, 'state', 'each');
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      if (name.endsWith('.jsonl')) expect(readFileSync(join(folder, name), 'utf8')).not.toContain('everybody');
    }
  });

  test('the second of two that run the same command at once is refused', { tags: ['long'] }, async () => {
    const silent = createServer(() => {});
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    closing.push(
      () => silent.closeAllConnections(),
      () => silent.close(),
    );
    const machine = machineWith({ slow: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` });
    const command = ['each', '--all', '--', 'account', 'get'];
    const asked = once(silent, 'request');
    const first = start(machine, command);
    const ended = once(first, 'exit');
    await Promise.race([asked, ended]);
    const second = await run(machine, command);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('The same command is at work')]);
    first.kill('SIGTERM');
    await ended;
  });
});

/** The process groups of what it started. */
function groupsOfChildren(pid = 0): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return pids.map((one) => Number(readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]));
}

test('a signal to all processes at once reaches each run once: what is on its way is answered', {
  tags: ['long'],
}, async () => {
  const slow = await sandboxService('demo', { action: 'delay', method: 'POST', ms: 2500 });
  const machine = machineWith({ a: slow.url });
  const rows = join(machine.folder, 'rows.csv');
  writeFileSync(rows, 'subject,description\nS,D\n');
  const argv = ['each', '--all', '--yes', '--', 'tickets', 'create', '--from', rows];
  const child = spawn(node, [built.script, ...argv], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
    timeout: 250_000,
    env: envOf(machine),
  });
  const ended = once(child, 'exit');
  await Promise.race([once(slow.seen, 'POST'), ended]);
  // Two signals that come at once may be one for the kernel: that no run is in the group says more.
  if (process.platform === 'linux') expect(groupsOfChildren(child.pid)).not.toContain(child.pid);
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
  const { stdout } = await run(machine, ['audit', 'list', '--json']);
  expect(JSON.parse(stdout)).toMatchObject([{ operation: 'createTicket', outcome: 'done' }]);
});

test('Ctrl-C ends all, says which are done, and --failed takes those that were not begun', {
  tags: ['long'],
}, async () => {
  const good = await sandboxService();
  const silent = createServer(() => {});
  await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
  closing.push(
    () => silent.closeAllConnections(),
    () => silent.close(),
  );
  const slow = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const machine = machineWith({ a: good.url, b: slow, c: good.url });
  const asked = once(silent, 'request');
  const child = start(machine, ['each', '--all', '--parallel', '1', '--', 'account', 'get']);
  const ended = once(child, 'exit');
  const [out, err] = [text(child.stdout ?? process.stdin), text(child.stderr ?? process.stdin)];
  await asked;
  child.kill('SIGINT');
  const [code] = await ended;
  expect([code, await err]).toEqual([130, expect.stringContaining('Done: a. Ended: b (exit 130). Not begun: c.')]);
  expect((await out).split('\t')[0]).toBe('a');
  const again = await run(machine, ['each', '--all', '--failed', '--', 'account', 'get']);
  expect(again.stdout.split('\t')[0]).toBe('c');
  expect(again.stderr).toContain('Left alone, for something may be done there: b (exit 130).');
  expect(again.code).toBe(9);
});

test.each([['--all'], ['--profiles', 'acme-*']])('without a login %s says how to log in', async (...which) => {
  const ran = await svc(sandboxWorld(), ['each', ...which, '--', 'account', 'get'], {
    env: { SVC_API_KEY: undefined },
  });
  expect(ran.stderr).toContain('To log in: svc -p NAME login');
});
