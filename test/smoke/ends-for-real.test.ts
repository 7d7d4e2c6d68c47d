import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants as system } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { allCommands, type CommandLine, lineOf } from '../command-lines.ts';
import { endAfterEach } from '../endings.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { forcedEnd, hasOpened, hasWorked, tellingExit, until } from './processes.ts';

// What ends.test.ts cannot see in its own process: the built tool with real pipes, a real full device and real signals.
// One command for each way in which something is printed or goes on; with SVC_TEST_ENDS=all every command.
// A process that is over has left no other behind.

const isAll = process.env.SVC_TEST_ENDS === 'all';

let built: Built;
let service: Address;
let account: Record<string, string>;
/** What takes longer hangs, also on a machine that does twenty other things. */
const boundMs = 60_000;

beforeAll(async () => {
  built = await buildSvc();
  const sandbox = start(
    ['sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--allow-http-targets', '--json'],
    {},
  );
  service = JSON.parse(await firstLine(sandbox.child));
  // It outlives the first test.
  ends.push(...running.splice(0));
  await cp(join(import.meta.dirname, '..', '..', 'examples'), join(built.folder, 'examples'), { recursive: true });
  account = {
    SVC_BASE_URL: service.base_url,
    SVC_AUTH_URL: service.auth_url,
    SVC_API_KEY: service.accounts[0]?.api_key ?? '',
    ...folders('shared'),
  };
  // Only where every command is run does one ask for more.
  const pull = async () =>
    expect(await start(['mirror', 'pull', ...(isAll ? [] : ['--only', 'contacts'])], account).ended).toMatchObject({
      code: 0,
    });
  await pull();
  await write('PATCH', '/contacts/7', { company: 'Acme' });
  await pull();
});
afterAll(async () => {
  for (const end of ends) end();
  await built.remove();
});

type Address = {
  readonly base_url: string;
  readonly auth_url: string;
  readonly accounts: readonly { readonly api_key: string }[];
};

const ends: (() => unknown)[] = [];
const running = endAfterEach();

const folders = (name: string) => ({
  SVC_CONFIG_DIR: join(built.folder, name, 'config'),
  SVC_STATE_DIR: join(built.folder, name, 'state'),
});

/** What somebody else writes at the service. */
async function write(method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${account.SVC_API_KEY}`, 'content-type': 'application/json' };
  const { ok } = await fetch(`${service.base_url}${path}`, { method, headers, body: JSON.stringify(body) });
  expect(ok).toBe(true);
}

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };
type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended>; stderr(): string };

/** In a group of its own. `code` is as a shell tells it; NaN where the group was not over in time. */
function start(argv: readonly string[], env: object, streams: { stdout?: number; stdin?: string } = {}): Started {
  const child = spawn(process.execPath, [built.script, ...argv], {
    cwd: built.folder,
    detached: true,
    stdio: ['pipe', streams.stdout ?? 'pipe', 'pipe'],
    env: { ...process.env, CI: '1', HOME: built.folder, ...env },
  });
  child.stdin?.on('error', () => {});
  if (streams.stdin !== 'keep') child.stdin?.end(streams.stdin ?? '');
  const said = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    const end = (code: number) => resolve({ code, ...said });
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
        return true;
      } catch {
        return false;
      }
    };
    running.push(kill);
    child.once('close', (code, signal) =>
      end(kill() ? Number.NaN : (code ?? 128 + system.signals[signal ?? 'SIGKILL'])),
    );
  });
  return { child, ended, stderr: () => said.stderr };
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });

async function inTime({ child, ended }: Started): Promise<Ended> {
  const late = setTimeout(() => child.kill('SIGKILL'), boundMs);
  return ended.finally(() => clearTimeout(late));
}

/** Of a process's start much is waiting, so more of them than cores. */
async function someAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse();
  const lane = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one);
  };
  await Promise.all(Array.from({ length: 4 }, lane));
}

/** Takes every request and never answers. */
async function silentService() {
  const server = createServer();
  const arrived = new Promise<boolean>((resolve) => server.once('request', () => resolve(true)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  running.push(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived, close };
}

let pipes = 0;

/** A real pipe: `leave` is its reader leaving, `read` waits for what was written. */
async function pipe() {
  const path = join(built.folder, `pipe-${pipes++}`);
  await execa('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  const some = (): boolean => {
    try {
      return readSync(reader, Buffer.alloc(10), 0, 10, null) > 0;
    } catch {
      return false;
    }
  };
  return { writer, read: () => until(some), leave: () => closeSync(reader), close: () => closeSync(writer) };
}

type Kind = readonly [how: string, argv: readonly string[]];

/**
 * A way of printing each. In `npm test` each meets one of the two standard outputs that take nothing, in `.ci/run` both; what needs
 * no process meets both in ends.test.ts.
 */
const kinds: readonly Kind[] = [
  ['before anything is loaded', ['--version']],
  ['help', ['contacts', '--help']],
  ['a topic', ['help', 'environment']],
  ['a whole text', ['completion', 'bash']],
  ['a list', ['contacts', 'list', '--all', '--json']],
  ['a filter, in its thread', ['contacts', 'list', '--jq', '.[].email']],
  ['a query, in the thread of the database', ['mirror', 'sql', 'SELECT a.* FROM contacts a, contacts b']],
  ['rows from the copy', ['mirror', 'diff', '--since', '1d']],
  ['a check that warms a thread', ['webhooks', 'serve', '--check', '--config', 'serve.yaml']],
  ['another program', ['sandbox', 'exec', '--', 'sh', '-c', 'svc contacts list']],
  ['a story of several', ['sandbox', 'demo']],
];

const config = `
listen: { host: 127.0.0.1, port: 0 }
inbox: inbox
secrets: { store: false, env: [SVC_WEBHOOK_SECRET] }
sinks:
  - { name: slow, filter: '.event != null', exec: { command: [sh, -c, 'echo $$ > served.pid; exec sleep 60'] } }
`;

describe('a pipe that nobody reads any more is a silent end with 0', () => {
  beforeAll(() => writeFileSync(join(built.folder, 'serve.yaml'), config));

  test.each(inTurn(kinds, 0, 2))('at once, for %s', { tags: ['long'] }, async (_, argv) => {
    const { writer, leave, close } = await pipe();
    leave();
    const { code, stderr } = await inTime(start(argv, account, { stdout: writer }));
    close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/EPIPE|Error|at /u) });
  });

  test.each([
    ['a list', ['openapi']],
    ['a query', ['mirror', 'sql', 'SELECT a.* FROM contacts a, contacts b, contacts c']],
  ])('in the middle, for %s', { tags: ['long'] }, async (_, argv) => {
    const { writer, read, leave, close } = await pipe();
    const run = start(argv, account, { stdout: writer });
    await read();
    leave();
    expect(await inTime(run)).toMatchObject({ code: 0, stderr: '' });
    close();
  });

  test('also where nobody reads standard error either', { tags: ['long'] }, async () => {
    const { writer, leave, close } = await pipe();
    const run = start(['contacts', 'list'], account, { stdout: writer });
    run.child.stderr?.destroy();
    leave();
    expect(await inTime(run)).toMatchObject({ code: 0 });
    close();
  });

  test('watch ends with the next change, and tells of it next time', { tags: ['long'] }, async () => {
    const { writer, read, leave, close } = await pipe();
    const env = { ...account, ...folders('watched') };
    const watch = ['watch', 'contacts', '--interval', '1', '--name', 'ends'];
    const make = (name: string) =>
      write('POST', '/contacts/create', {
        ...{ name, last_name: 'X', email: `${name}@example.com`, phone: '+12025550123' },
      });
    const run = start(watch, env, { stdout: writer });
    // What comes before its first look is no news.
    const isTold = read().then(() => true);
    for (let n = 0; ; n++) {
      await make(`early${n}`);
      if (await Promise.race([isTold, new Promise<boolean>((over) => setTimeout(over, 1_500, false))])) break;
    }
    await isTold;
    leave();
    await make('unseen');
    expect(await inTime(run)).toMatchObject({ code: 0, stderr: '' });
    close();
    const again = start([...watch, '--json', '--jq', '.record.name'], env);
    const told = new Promise<void>((resolve) => {
      again.child.stdout?.on('data', (chunk) => String(chunk).includes('unseen') && resolve());
    });
    await told;
    again.child.kill('SIGTERM');
    expect(await inTime(again)).toMatchObject({ code: 143 });
  });
});

describe('a pipe whose reader stays and reads no more: one signal ends svc', () => {
  const query = ['mirror', 'sql', 'SELECT a.* FROM contacts a, contacts b, contacts c'];

  type Case = readonly [signal: NodeJS.Signals, code: number, argv: readonly string[]];
  const cases: readonly Case[] = [
    ['SIGTERM', 143, ['openapi']],
    ['SIGINT', 130, ['openapi']],
    ['SIGTERM', 143, query],
    ['SIGTERM', 143, [...query, '--json']],
    ['SIGTERM', 143, ['contacts', 'list', '--all', '--json']],
  ];
  // A query has the copy for as long as it reads it.
  const together = [cases.slice(0, 3), cases.slice(3)];

  test.each(together)('whatever it prints, and however, part %#', { tags: ['long'] }, async (...some) => {
    // Each waits five seconds for its reader, so they do at once; none is told to end while another one still starts.
    const started = some.map(async ([signal, code, argv]) => {
      const { writer, read, leave, close } = await pipe();
      const TMPDIR = mkdtempSync(join(built.folder, 'tmp-'));
      const run = start(argv, { ...account, TMPDIR }, { stdout: writer });
      // More than the pipe holds is on its way, or still to come.
      if (argv.includes('--json') && argv[0] === 'mirror') await hasWorked(run.child);
      else await read();
      return async () => {
        run.child.kill(signal);
        const ended = await inTime(run);
        for (const end of [leave, close]) end();
        expect([argv, ended.code, readdirSync(TMPDIR)], ended.stderr).toEqual([argv, code, []]);
      };
    });
    await Promise.all((await Promise.all(started)).map((end) => end()));
  });

  test('rows that wait for their reader are not left behind by a second signal', { tags: ['long'] }, async () => {
    const { writer, read, leave, close } = await pipe();
    const TMPDIR = mkdtempSync(join(built.folder, 'tmp-'));
    const run = start(query, { ...account, TMPDIR }, { stdout: writer });
    await read();
    await hasOpened(run.child, new RegExp(`^${TMPDIR}/.*`, 'u'));
    run.child.kill('SIGTERM');
    setTimeout(() => run.child.kill('SIGTERM'), 300).unref();
    expect(await inTime(run)).toMatchObject({ code: 143 });
    expect(readdirSync(TMPDIR)).toEqual([]);
    for (const end of [leave, close]) end();
  });

  test('mcp, whose answers nobody takes', { tags: ['long'] }, async () => {
    const { writer, read, leave, close } = await pipe();
    const run = start(['mcp'], account, { stdout: writer, stdin: 'keep' });
    const list = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`;
    run.child.stdin?.write(Array.from({ length: 60 }, (_, id) => list(id)).join(''));
    await read();
    run.child.kill('SIGTERM');
    expect(await inTime(run)).toMatchObject({ code: 0 });
    for (const end of [leave, close]) end();
  });
});

describe('a full standard output is 1 and says so', () => {
  test.each(inTurn(kinds, 1, 2))('for %s', { tags: ['long'] }, async (_, argv) => {
    const full = openSync('/dev/full', 'w');
    const { code, stderr } = await inTime(start(argv, account, { stdout: full }));
    closeSync(full);
    expect(code).toBe(1);
    expect(stderr).toContain('Standard output could not be written: the disk is full.');
    expect(stderr).not.toMatch(/^ +at /mu);
  });

  test('for mcp, whose answer is lost', { tags: ['long'] }, async () => {
    const full = openSync('/dev/full', 'w');
    const stdin = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
    const { code, stderr } = await inTime(start(['mcp'], account, { stdout: full, stdin }));
    closeSync(full);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error: Standard output could not be written: the disk is full.\n',
    });
  });
});

describe('a folder that cannot be written to is refused at once', () => {
  const refused: readonly (readonly [folder: string, argv: readonly string[]])[] = [
    ['/dev/null/svc', ['mirror', 'pull']],
    ['/dev/null/svc', ['watch']],
    ['/dev/null/svc', ['webhooks', 'inbox', 'list']],
    ['/proc/svc', ['mirror', 'pull']],
    ['/proc/svc', ['watch']],
    ['/proc/svc', ['webhooks', 'listen']],
  ];
  const clearly = /^Error: (?!.*unexpectedly).*svc/mu;

  test.each(refused)('%s, by %j', async (folder, argv) => {
    const { exitCode, stderr } = await svc({ ...sandboxWorld(), folder }, argv, {
      env: { SVC_STATE_DIR: folder, SVC_WEBHOOK_SECRET: 'sample' },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(clearly);
  });

  test.each(inTurn(refused, 0, 5))('%s, by %j, as a process', { tags: ['long'] }, async (folder, argv) => {
    const env = { ...account, SVC_STATE_DIR: folder, SVC_WEBHOOK_SECRET: 'sample', ...tellingExit(built.folder) };
    const { code, stderr } = await inTime(start(argv, env));
    expect(code).toBe(1);
    expect(stderr).toMatch(clearly);
    expect(stderr).not.toContain(forcedEnd);
  });
});

describe('every command, as a process', () => {
  const reason = 'Set SVC_TEST_ENDS=all to run every command as a process: it takes about a minute.';
  let lines: readonly CommandLine[];
  beforeAll(async () => {
    const found = (await allCommands()).map((leaf) => lineOf(leaf, account.SVC_API_KEY ?? ''));
    // The others are above.
    const isPlain = ({ name }: CommandLine) => !/^(webhooks listen|watch|mcp|sandbox .*)$/u.test(name);
    lines = found.filter((line) => line !== undefined).filter(isPlain);
  });

  const told = ({ name }: CommandLine, { code, stderr }: Ended) => `${name}: ${code} ${stderr.slice(0, 300)}`;
  /** With folders that nobody else has, and a copy of the account in them. */
  const world = (line: CommandLine, name: string) => {
    const own = `${name} ${line.name}`;
    cpSync(join(built.folder, 'shared'), join(built.folder, own), { recursive: true });
    return { ...account, ...folders(own), ...line.env };
  };

  test('with nobody who reads, or a full standard output: without a crash, never a success', async ({ skip }) => {
    if (!isAll) skip(reason);
    const wrong: string[] = [];
    await someAtOnce(lines, async (line) => {
      const { writer, leave, close } = await pipe();
      leave();
      const full = openSync('/dev/full', 'w');
      const { argv, stdin } = line;
      const [closed, lost] = await Promise.all([
        inTime(start(argv, world(line, 'closed'), { stdout: writer, stdin })).finally(close),
        inTime(start(argv, world(line, 'full'), { stdout: full, stdin })).finally(() => closeSync(full)),
      ]);
      const isCrash = [closed, lost].some(({ code, stderr }) => !(code < 12) || /^ +at |unexpectedly/mu.test(stderr));
      if (isCrash || /could not be written/u.test(closed.stderr)) wrong.push(told(line, closed), told(line, lost));
    });
    expect(wrong).toEqual([]);
  });

  test('at a signal while the service is silent: with its own code, and a second one changes nothing', {
    tags: ['long'],
  }, async () => {
    const wrong: string[] = [];
    const some = isAll ? lines : lines.filter(({ name }) => /^(contacts (list|export|sync)|mirror pull)$/u.test(name));
    let asking = 0;
    const end = async (line: CommandLine, signal: NodeJS.Signals, code: number): Promise<boolean> => {
      const { url, arrived, close } = await silentService();
      const argv = line.argv.filter((word) => word !== '--dry-run');
      const env = { ...world(line, signal), SVC_BASE_URL: url, SVC_AUTH_URL: url };
      const run = start(argv, env, { stdin: line.stdin });
      const isAsking = await Promise.race([arrived, run.ended.then(() => false)]);
      run.child.kill(signal);
      setTimeout(() => run.child.kill(signal), 300).unref();
      const ended = await inTime(run).finally(close);
      if (isAsking ? ended.code !== code : Number.isNaN(ended.code)) wrong.push(`${signal}, ${told(line, ended)}`);
      return isAsking;
    };
    const signals: readonly (readonly [NodeJS.Signals, number])[] = [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
      ['SIGINT', 130],
    ];
    await someAtOnce(some, async (line) => {
      const [first, ...others] = isAll ? signals : inTurn(signals, some.indexOf(line), signals.length);
      // What asks nobody is over before it could be told to end.
      if (!first || !(await end(line, ...first))) return;
      asking++;
      for (const other of others) await end(line, ...other);
    });
    expect(wrong).toEqual([]);
    expect(asking).toBeGreaterThanOrEqual(isAll ? 40 : some.length);
  });
});

describe('a second Ctrl-C ends at once what a first one lets finish, and what it started; one that arrives twice does not', () => {
  const pidOf = (file: string) => Number(readFileSync(join(built.folder, file), 'utf8'));
  const lives = (pid: number) => {
    try {
      return !/^\d+ \(.*\) Z/u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  const written = (file: string) => {
    const path = join(built.folder, file);
    return until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  };

  test('watch --exec', { tags: ['long'] }, async () => {
    const exec = `sh -c 'echo $$ > watched.pid; exec sleep 60'`;
    const run = start(['watch', 'contacts', '--since', '1d', '--interval', '1', '--exec', exec], account);
    await written('watched.pid');
    const pid = pidOf('watched.pid');
    run.child.kill('SIGINT');
    await until(() => /Ctrl-C again/u.test(run.stderr()));
    expect(lives(pid)).toBe(true);
    const again = setInterval(() => run.child.kill('SIGINT'), 100);
    expect(await inTime(run).finally(() => clearInterval(again))).toMatchObject({ code: 130 });
    await until(() => !lives(pid));
  });

  test('serve with a program as its sink', { tags: ['long'] }, async () => {
    writeFileSync(join(built.folder, 'serve.yaml'), config);
    const secret = { SVC_WEBHOOK_SECRET: 'sample' };
    const run = start(['webhooks', 'serve', '--config', 'serve.yaml'], { ...account, ...secret });
    await until(() => /Listening on (\S+),/u.test(run.stderr()));
    const url = /Listening on (\S+),/u.exec(run.stderr())?.[1] ?? '';
    expect(
      await start(['webhooks', 'trigger', 'ticket.created', '--to', url], { ...account, ...secret }).ended,
    ).toMatchObject({ code: 0 });
    await written('served.pid');
    const pid = pidOf('served.pid');
    // From the system and from whoever started svc, in whatever order they arrive: one stop. Both are there when svc hears of it.
    for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) run.child.kill(signal);
    await until(() => /Ending/u.test(run.stderr()));
    expect(lives(pid)).toBe(true);
    // Later than one stop that arrives twice.
    setTimeout(() => run.child.kill('SIGTERM'), 300).unref();
    expect(await inTime(run)).toMatchObject({ code: 143 });
    await until(() => !lives(pid));
  });
});
