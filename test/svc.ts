import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type Keyring, openStore } from '../src/auth/store-file.ts';
import type { Ask, Clock, Context, Exchange } from '../src/context.ts';
import { Failure } from '../src/errors.ts';
import { main } from '../src/main.ts';
import type { TerminalPort } from '../src/terminal-port.ts';

/** A clock that only moves when somebody sleeps, or when a test says so. */
export type VirtualClock = Clock & {
  advance(ms: number): void;
  /** Somebody sets the machine's wall clock by so much; time itself goes on as before. */
  set(ms: number): void;
};

export function virtualClock(start = '2026-03-01T12:00:00.000Z'): VirtualClock {
  let now = Date.parse(start);
  let wallAhead = 0;
  const asleep = new Set<{ readonly at: number; readonly wake: () => void }>();
  // Of several that sleep at once each wakes at its own time, the earliest first: their sleeps do not add up.
  const wakeNext = () => {
    const [next] = [...asleep].sort((a, b) => a.at - b.at);
    if (!next) return;
    now = Math.max(now, next.at);
    next.wake();
  };
  return {
    now: () => new Date(now + wallAhead),
    ticks: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { at: signal?.aborted ? now : now + ms, wake };
        function wake() {
          asleep.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
        asleep.add(sleeper);
        signal?.addEventListener('abort', wake);
        // A macrotask, so that sockets and other sleepers get their turn.
        setImmediate(wakeNext);
      }),
    advance(ms) {
      now += ms;
    },
    set(ms) {
      wallAhead += ms;
    },
  };
}

/** What a run of svc touches, as a test sees it. The folder is real and fresh. */
export type World = {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export function createWorld(exchange: Exchange, parts: Partial<World> = {}): World {
  return {
    exchange,
    clock: virtualClock(),
    folder: mkdtempSync(join(tmpdir(), 'svc-test-')),
    env: { SVC_BASE_URL: 'https://service.test', SVC_API_KEY: 'key_acme' },
    ...parts,
  };
}

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly keyring?: Keyring;
  readonly progress?: Context['progress'];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whole, or as it comes. */
  readonly stdin?: string | Uint8Array | AsyncIterable<string>;
  /** What standard input is read from, where it is no pipe. */
  readonly stdinFd?: number;
  /** Typed at the terminal, to its end. */
  readonly typed?: string;
  /** Instead of one that takes everything; `Ran.stdout` is then empty. */
  readonly stdout?: Writable;
  /** A terminal of that many columns instead of a pipe. */
  readonly columns?: number;
  /** Answers to questions, in order; a missing one fails the test. */
  readonly answers?: readonly (string | boolean)[];
  /** What happens while a line, or a yes, is awaited. */
  readonly whileAsked?: (question: string) => Promise<void>;
  /** Asked in place of the answers for what goes by itself. */
  readonly countdown?: () => string | Promise<string>;
  /** Asked in place of the answers where one of several is chosen. */
  readonly chooses?: (names: readonly (string | undefined)[]) => string;
  /** The editor: what it is opened with → what is saved. Without it the next answer is. */
  readonly edit?: (initial: string, options: Parameters<Ask['edit']>[1]) => string | Promise<string>;
  /** The editor saves this and then fails. */
  readonly brokenEdit?: string;
  readonly signal?: AbortSignal;
  /** The terminal of a full screen. */
  readonly terminal?: TerminalPort;
  readonly onHangup?: Context['onHangup'];
  readonly openBrowser?: Context['openBrowser'];
  /** Told of every piece of output as it comes, for commands that run until they are told to end. */
  readonly seen?: (stream: 'stdout' | 'stderr', text: string) => void;
};

/** Runs the real `main` in this process against the world. */
export async function svc(world: World, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const stdout = collector(options.columns, (text) => options.seen?.('stdout', text));
  const stderr = collector(options.columns, (text) => options.seen?.('stderr', text));
  const ctx: Context = {
    stdin: stdinOf(options),
    stdout: options.stdout ?? stdout.stream,
    stderr: stderr.stream,
    env: { TZ: 'UTC', ...world.env, ...options.env },
    files: { config: join(world.folder, 'config'), state: join(world.folder, 'state') },
    exchange: world.exchange,
    clock: world.clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    tokens: openStore({
      folder: join(world.folder, 'config'),
      clock: world.clock,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      warn: (text) => stderr.stream.write(`${text}\n`),
      ...(options.keyring && { keyring: options.keyring }),
    }),
    ask: askWith(options, stderr.stream),
    progress: options.progress ?? (() => {}),
    notice: (text) => stderr.stream.write(`${text}\n`),
    openBrowser: options.openBrowser ?? (async () => {}),
    ...(options.terminal && { terminal: async () => options.terminal as TerminalPort }),
    ...(options.onHangup && { onHangup: options.onHangup }),
    signal: options.signal ?? new AbortController().signal,
  };
  const exitCode = await main(argv, ctx);
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

function collector(columns: number | undefined, seen: (text: string) => void) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      seen(String(chunk));
      done();
    },
  });
  Object.assign(stream, columns === undefined ? {} : { isTTY: true, columns, rows: 1000 });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

const editing =
  (edit: RunOptions['edit'], text: Ask['text']): Ask['edit'] =>
  async (initial, options) =>
    edit ? edit(initial, options) : text(initial);

const failing =
  (text: string): Ask['edit'] =>
  async (_, { failed } = {}) => {
    failed?.(text);
    throw new Failure('failed', 'The editor "vi" ended with code 1, so nothing was sent.');
  };

function stdinOf({ stdin, stdinFd, typed, columns }: RunOptions): Context['stdin'] {
  async function* bytes() {
    if (typed !== undefined) yield Buffer.from(typed);
    if (typeof stdin === 'string' || stdin instanceof Uint8Array) yield Buffer.from(stdin as string);
    else if (stdin) for await (const text of stdin) yield Buffer.from(text);
  }
  return Object.assign(bytes(), { isTTY: stdin === undefined && columns !== undefined, fd: stdinFd });
}

/** The answer of Return alone: the first of the choices. */
export const enter = '\r';

function askWith(options: RunOptions, screen: Writable): Ask {
  const { answers = [], columns, edit, brokenEdit, countdown, chooses, whileAsked } = options;
  const left = [...answers];
  const next = async (question: string) => {
    const answer = left.shift();
    if (answer === undefined) throw new Error(`The test has no answer to: ${question}`);
    return answer;
  };
  const text: Ask['text'] = async (question, { isFleeting = false } = {}) =>
    isFleeting && countdown ? countdown() : String(await next(question));
  return {
    canAsk: columns !== undefined,
    confirm: async (question, { shown } = {}) => {
      if (shown !== undefined) screen.write(`${shown}\n`);
      await whileAsked?.(question);
      return (await next(question)) === true;
    },
    text,
    secret: text,
    line: async (question) => {
      screen.write(question);
      await whileAsked?.(question);
      const answer = left.shift();
      return answer === undefined ? undefined : String(answer);
    },
    choose: async (question, choices) => {
      const [first] = choices;
      const answer = chooses ? chooses(choices.map(({ name }) => name)) : String(await next(question));
      return answer === enter ? (first?.value ?? '') : answer;
    },
    edit: brokenEdit === undefined ? editing(edit, text) : failing(brokenEdit),
  };
}
