import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Clock } from '../../context.ts';
import { endGroup, endWithSvc } from '../../disk/log/group.ts';
import { located } from '../../disk/place/program.ts';
import { codeOf, messageOf } from '../../errors.ts';
import { aborted } from '../../promise/aborted.ts';
import { within } from '../../promise/in-time.ts';
import { type Opening, type Sink, single } from './sink.ts';

/** `hidden`: it is started without them. svc's own secrets are not there in the first place (`node/environment.ts`). */
type About = Pick<Opening, 'name' | 'timeoutMs' | 'folder'> & {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly hidden?: Opening['hidden'];
  /** Secrets that it gets on purpose, and other variables. */
  readonly given?: Readonly<Record<string, string | undefined>>;
};

/**
 * A program for each event, with the envelope on its standard input. There is no shell, and what a customer wrote
 * stands in no argument. It runs in a group of its own, which ends with it: whatever it started does not pile up.
 */
export const programSink = (about: About, clock: Clock): Sink =>
  single(about.name, async (event, cut) => {
    const given = { ...about.given, SVC_ACCOUNT: event.account };
    const running = await start({ ...about, given }, Buffer.concat([event.body, Buffer.from('\n')]));
    if (running.error !== undefined) return { how: 'refused', error: running.error };
    const { child, exit, said } = running;
    const isOver = endWithSvc(child.pid);
    const over = new AbortController();
    const late = setTimeout(() => over.abort(), about.timeoutMs);
    const end = () => over.abort();
    if (cut.aborted) end();
    cut.addEventListener('abort', end, { once: true });
    const ended = await Promise.race([exit, aborted(over.signal)]);
    clearTimeout(late);
    cut.removeEventListener('abort', end);
    endGroup(child.pid, 'SIGTERM');
    if (ended === undefined) await within(clock, 2_000, exit);
    endGroup(child.pid, 'SIGKILL');
    isOver();
    child.stderr?.destroy();
    if (ended?.exitCode === 0) return { how: 'taken' };
    if (ended === undefined) return cut.aborted ? { how: 'cut' } : { how: 'refused', error: 'timeout' };
    return { how: 'refused', error: whyOf(ended, said()) };
  });

type Ended = { readonly exitCode: number | null; readonly signal: string | null };

/**
 * Where the system has no file, process or memory left, that is a failure like any other: it is tried again. `said`: the
 * end of what it wrote to standard error.
 */
async function start({ command, folder, hidden = () => [], given = {} }: About, input: Buffer) {
  const [program, ...args] = command;
  const options: SpawnOptions = {
    cwd: folder,
    env: { ...process.env, ...Object.fromEntries(hidden().map((name) => [name, undefined])), ...given },
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  };
  try {
    const { child } = await spawned(program, args, options);
    let text = '';
    const begun = new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.on('error', reject);
    });
    // Its children may hold its output open for longer than it lives, so it is the program's own end that counts.
    const exit = new Promise<Ended>((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    // One that does not read its input, or dies, is no reason for svc to end. Without a file there are no streams.
    child.stdin?.on('error', () => {});
    child.stderr?.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-400);
    });
    await begun;
    child.stdin?.end(input);
    return { child, exit, said: () => text };
  } catch (error) {
    return { error: whyNot(program, error) };
  }
}

type Child = Pick<ChildProcess, 'pid' | 'stdin' | 'stderr' | 'once' | 'on'>;

/**
 * Windows finds its kinds of programs by execa. Elsewhere execa throws beyond reach where no file is left. In an object,
 * because what execa starts is a promise of its end, too: returned alone it would be waited for.
 */
async function spawned(program: string, args: readonly string[], options: SpawnOptions) {
  if (process.platform !== 'win32') return { child: spawn(program, args, options) };
  const { execa } = await import('execa');
  const child: Child = execa(await located(program), args, {
    cwd: options.cwd ?? '.',
    env: options.env ?? {},
    reject: false,
    buffer: false,
    stdout: 'ignore',
    windowsHide: true,
  });
  return { child };
}

function whyNot(program: string, error: unknown): string {
  if (codeOf(error) === 'ENOENT') return `the program ${program} is not there`;
  if (codeOf(error) === 'EACCES') return `the program ${program} may not be run`;
  return `the program ${program} could not be started: ${messageOf(error)}`.slice(0, 200);
}

function whyOf({ signal, exitCode }: Ended, said: string): string {
  const last = said.trim().split('\n').at(-1)?.trim();
  const how = signal ? `ended by ${signal}` : `exit ${exitCode}`;
  return [how, last].filter(Boolean).join(': ').slice(0, 200);
}
