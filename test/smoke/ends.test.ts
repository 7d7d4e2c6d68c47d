import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { allCommands, type CommandLine as Line, lineOf } from '../command-lines.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc, type World } from '../svc.ts';

// Every command ends, whatever happens around it. The commands come from the tree and their lines
// from the examples of the help, so that a new command is here by itself; one without a line that can be run fails.
//
// Here, in this process, with a standard output that refuses, for every command:
// - the pipe is closed at once, or after the first piece: the code of a run that is read, not a word more;
// - standard output is full: never 0, and standard error says that it was standard output;
// - neither the configuration nor the state can be written: a clear error, or none where nothing is to be kept;
// - SIGTERM while the first request is under way: 143.
// ends-for-real.test.ts has what needs a process: the commands that run until they are stopped, threads, the pipe and the
// signals themselves; and with SVC_TEST_ENDS=all every command.

/** They run until they are stopped, or start processes. */
const forReal = ['webhooks listen', 'watch', 'mcp', 'sandbox start', 'sandbox exec', 'sandbox demo'];

const boundMs = 10_000;
const key = 'key_acme';

const lines: Line[] = [];
const without: string[] = [];
for (const leaf of await allCommands()) {
  if (forReal.includes(leaf.name)) continue;
  const line = lineOf(leaf, key);
  // Others ask the copy that it makes.
  if (line && leaf.name === 'mirror pull') lines.unshift(line);
  else if (line) lines.push(line);
  else without.push(leaf.name);
}

let folder: string;
const before = process.cwd();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-ends-'));
  for (const name of ['examples', 'CHANGELOG.md', 'package.json']) {
    await cp(join(import.meta.dirname, '..', '..', name), join(folder, name), { recursive: true });
  }
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

type Ended = { readonly line: Line; readonly ran: Ran };

/** All of them, one after another in one account, as somebody who tries each. */
async function runAll(world: World, stdout?: () => Writable): Promise<Ended[]> {
  const all: Ended[] = [];
  // Whether the usual port of a login is free, others decide that run at the same time.
  await svc(world, ['config', 'set', 'redirect_uri', 'http://127.0.0.1:0/callback'], { env: { HOME: folder } });
  // What asks the copy stands before `mirror` in the tree.
  await svc(world, ['mirror', 'pull']);
  for (const line of lines) all.push(await runOne(world, line, stdout && { stdout: stdout() }));
  return all;
}

async function runOne(world: World, line: Line, options: Pick<RunOptions, 'stdout' | 'signal'> = {}): Promise<Ended> {
  const running = svc(world, line.argv, {
    env: { CI: '1', HOME: folder, ...line.env },
    ...(line.stdin !== undefined && { stdin: line.stdin }),
    ...options,
  });
  return { line, ran: await within(boundMs, running) };
}

async function within(ms: number, running: Promise<Ran>): Promise<Ran> {
  let late: NodeJS.Timeout | undefined;
  const over = new Promise<Ran>((resolve) => {
    late = setTimeout(() => resolve({ exitCode: Number.NaN, stdout: '', stderr: 'It does not end.' }), ms);
  });
  return Promise.race([running, over]).finally(() => clearTimeout(late));
}

/** Takes so many pieces, and then refuses. */
const refusing = (code: string, pieces = 0): Writable => {
  let left = pieces;
  return new Writable({
    write(_chunk, _encoding, done) {
      if (left-- > 0) done();
      else done(Object.assign(new Error(`write ${code}`), { code, syscall: 'write' }));
    },
  });
};

const calm = new Map<string, Ran>();
const codeOf = ({ name }: Line): number => calm.get(name)?.exitCode ?? Number.NaN;
const printed = ({ name }: Line): boolean => calm.get(name)?.stdout !== '';
const told = ({ line, ran }: Ended): string => `${line.name}: ${ran.exitCode} ${ran.stderr.slice(0, 300)}`;

test('every command has an example that can be run here', () => {
  expect(without).toEqual([]);
});

describe('every command ends', () => {
  beforeAll(async () => {
    for (const { line, ran } of await runAll(sandboxWorld({ rateLimit: 'off' }))) calm.set(line.name, ran);
  });

  test('on a quiet day, without a surprise', () => {
    const strange = [...calm].filter(([, { exitCode, stderr }]) => !(exitCode < 12) || /unexpectedly/u.test(stderr));
    expect(strange).toEqual([]);
    // What answers from the copy has none here.
    expect([...calm.values()].filter(({ exitCode }) => exitCode === 0).length).toBeGreaterThan(calm.size * 0.75);
  });

  test.each([
    ['at once', 0],
    ['after the first piece', 1],
  ])(
    'where the pipe is closed %s: with the code of a run that is read, not a word more',
    { tags: ['long'] },
    async (_, pieces) => {
      const all = await runAll(sandboxWorld({ rateLimit: 'off' }), () => refusing('EPIPE', pieces));
      const wrong = all.filter(({ line, ran: { exitCode, stderr } }) => {
        const isMore = stderr.length > (calm.get(line.name)?.stderr.length ?? 0);
        return exitCode !== codeOf(line) || isMore;
      });
      expect(wrong.map(told)).toEqual([]);
    },
  );

  test('where standard output is full: never with 0', { tags: ['long'] }, async () => {
    const all = await runAll(sandboxWorld({ rateLimit: 'off' }), () => refusing('ENOSPC'));
    const wrong = all.filter(({ line, ran: { exitCode, stderr } }) => {
      if (!printed(line)) return exitCode !== codeOf(line);
      return (
        exitCode !== (codeOf(line) || 1) || !stderr.includes('Standard output could not be written: the disk is full.')
      );
    });
    expect(wrong.map(told)).toEqual([]);
  });

  test('where no folder can be written: at once, and it names the folder', { tags: ['long'] }, async () => {
    const root = '/proc/svc-ends';
    const all = await runAll({ ...sandboxWorld({ rateLimit: 'off' }), folder: root });
    const failed = all.filter(({ line, ran }) => ran.exitCode !== codeOf(line));
    const wrong = failed.filter(({ ran: { exitCode, stdout, stderr } }) => {
      // What an earlier command was to keep is not there, for some: 2 to 4.
      const isClear = exitCode === 1 ? `${stdout}${stderr}`.includes(root) : [2, 3, 4].includes(exitCode);
      return !isClear || /unexpectedly/u.test(stderr);
    });
    expect(wrong.map(told)).toEqual([]);
    const names = failed.filter(({ ran }) => ran.exitCode === 1).map(({ line }) => line.name);
    expect(names).toEqual(expect.arrayContaining(['login', 'config set', 'alias set', 'mirror pull']));
  });

  test('at SIGTERM while a request is under way: with 143', { tags: ['long'] }, async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    let control = new AbortController();
    const exchange: Exchange = async (request) => {
      // What is tidied up after the signal.
      if (control.signal.aborted && !request.signal?.aborted) return world.exchange(request);
      control.abort('SIGTERM');
      return { lost: 'after-sending', reason: 'aborted', detail: 'The request was given up.' };
    };
    const all: (Ended & { readonly isInterrupted: boolean })[] = [];
    for (const line of lines) {
      control = new AbortController();
      const ended = await runOne({ ...world, exchange }, line, { signal: control.signal });
      all.push({ ...ended, isInterrupted: control.signal.aborted });
    }
    const wrong = all.filter(({ isInterrupted, ran: { exitCode } }) =>
      isInterrupted ? exitCode !== 143 : Number.isNaN(exitCode),
    );
    expect(wrong.map(told)).toEqual([]);
    expect(all.filter(({ isInterrupted }) => isInterrupted).length).toBeGreaterThan(40);
  });
});
