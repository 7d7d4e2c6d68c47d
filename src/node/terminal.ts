import type { Context } from '../context.ts';
import { codeOf, orElse } from '../errors.ts';
import type { TerminalEvents, TerminalPort } from '../terminal-port.ts';
import { letGoOfLostTerminal } from './hung-up.ts';

/** Whether another program has the terminal: a Ctrl-C there is its own, and may mean something else. */
export type Lent = { isLent: boolean };

/** The terminal of standard input and output. Whoever opens it has seen that both are one. */
export function openTerminal(env: Context['env'], lent: Lent): TerminalPort {
  const { stdin, stdout } = process;
  let events: TerminalEvents | undefined;
  const out = output(() => events);
  const job = jobSignals(() => events);
  // That they were terminals is known here on any system.
  process.once('exit', () => letGoOfLostTerminal(() => true));

  return {
    env,
    size() {
      // Where it is gone, who writes to it hears of that.
      const [columns, rows] = orElse(() => stdout.getWindowSize(), [0, 0]);
      return { columns, rows };
    },
    listen(told) {
      events = told;
      const ends = [listen(told, lent), job.listen()];
      return () => {
        for (const end of ends) end();
        events = undefined;
        out.forget();
      };
    },
    takeInput() {
      // Node sets nothing where it believes the mode to be set already; another program may have changed it.
      setRaw(stdin, 'off');
      setRaw(stdin, 'on');
      stdin.resume();
      // Node asks for the size where the system tells of a change, and it tells only who has the terminal then.
      if (process.platform !== 'win32') process.kill(process.pid, 'SIGWINCH');
    },
    giveInput() {
      stdin.pause();
      setRaw(stdin, 'off');
    },
    write: out.write,
    writeNow: out.writeNow,
    lend() {
      const putBack = notedModes();
      lent.isLent = true;
      return async () => {
        putBack();
        // A Ctrl-C that ended the program may be heard only after its end.
        await new Promise((resolve) => setImmediate(resolve));
        lent.isLent = false;
      };
    },
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
    stop: job.stop,
    after(ms, call) {
      const timer = setTimeout(call, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

function setRaw(stdin: NodeJS.ReadStream, mode: 'on' | 'off'): void {
  // Where it is gone, who reads it hears of that.
  orElse(() => stdin.setRawMode(mode === 'on'), undefined);
}

/** The signals of Ctrl-Z and `fg`. While the process stops itself, the first is the system's, and the second ends it. */
function jobSignals(events: () => TerminalEvents | undefined) {
  let goesOn: (() => void) | undefined;
  const stopping = () => events()?.stopping();
  const continued = () => (goesOn ? goesOn() : events()?.continued());
  const listen = () => {
    const ends = [on(process, 'SIGTSTP', stopping), on(process, 'SIGCONT', continued)];
    return () => {
      for (const end of ends) end();
    };
  };
  return {
    listen,
    async stop(): Promise<void> {
      if (process.platform === 'win32' || goesOn) return;
      process.off('SIGTSTP', stopping);
      await new Promise<void>((resolve) => {
        goesOn = resolve;
        // Where nobody could let it go on again, the system does not stop it. What has arrived meanwhile comes first.
        setTimeout(() => setImmediate(resolve), arrivalMs);
        // The whole job: a shell waits for the program that it has started, which may be another one than this.
        process.kill(0, 'SIGTSTP');
      });
      goesOn = undefined;
      if (events()) process.on('SIGTSTP', stopping);
    },
  };
}

/** Long enough for a signal to arrive that this process sends to itself. */
const arrivalMs = 50;

function listen(events: TerminalEvents, lent: Lent): () => void {
  const { stdin, stdout } = process;
  const ended = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') =>
    on(process, name, () => {
      if (name !== 'SIGINT' || !lent.isLent) events.ended(name);
    });
  const ends = [
    ended('SIGINT'),
    ended('SIGTERM'),
    ended('SIGHUP'),
    on(stdin, 'data', (bytes) => events.input(bytes)),
    on(stdin, 'end', () => events.ended('closed')),
    on(stdout, 'resize', () => events.resized()),
    on(process, 'exit', () => events.exiting()),
  ];
  // Never taken off: an error that nobody hears ends the process, and one may come after the end.
  stdin.on('error', () => events.ended('closed'));
  return () => {
    for (const end of ends) end();
  };
}

function on(emitter: NodeJS.EventEmitter, name: string, call: (told: Buffer) => void): () => void {
  emitter.on(name, call);
  return () => emitter.off(name, call);
}

/**
 * Writes without waiting. Node's own stream of a terminal waits for it, and on a slow line every key would wait as
 * well: so the same terminal is opened once more, and takes what it has room for.
 */
function output(events: () => TerminalEvents | undefined) {
  const { writeSync } = process.getBuiltinModule('node:fs');
  const fd = openAgain();
  // There Node turns text into what the console takes.
  const writeSome = (bytes: Buffer): number => {
    if (process.platform !== 'win32') return writeSync(fd, bytes);
    process.stdout.write(bytes);
    return bytes.length;
  };
  let rest = Buffer.alloc(0);
  let retry: NodeJS.Timeout | undefined;

  /** Writes what there is room for. */
  const push = (): 'all' | 'some' | 'gone' => {
    try {
      while (rest.length > 0) rest = rest.subarray(writeSome(rest));
      return 'all';
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return 'some';
      rest = Buffer.alloc(0);
      return 'gone';
    }
  };

  const later = (ms: number) => {
    retry = setTimeout(() => {
      const before = rest.length;
      const fate = push();
      if (fate === 'some') return later(rest.length < before ? shortestWait : Math.min(2 * ms, longestWait));
      retry = undefined;
      if (fate === 'all') events()?.drained();
      else events()?.ended('closed');
    }, ms);
  };

  return {
    write(text: string): boolean {
      rest = Buffer.concat([rest, Buffer.from(text)]);
      if (retry) return false;
      const fate = push();
      if (fate === 'some') later(shortestWait);
      // Whoever writes is not told in the midst of it.
      if (fate === 'gone') setImmediate(() => events()?.ended('closed'));
      return fate === 'all';
    },
    writeNow(text: string): void {
      clearTimeout(retry);
      retry = undefined;
      rest = Buffer.concat([rest, Buffer.from(text)]);
      const pause = new Int32Array(new SharedArrayBuffer(4));
      for (let waited = 0; push() === 'some' && waited < patienceMs; waited += shortestWait) {
        Atomics.wait(pause, 0, 0, shortestWait);
      }
      rest = Buffer.alloc(0);
    },
    forget() {
      clearTimeout(retry);
      retry = undefined;
    },
  };
}

const shortestWait = 4;
const longestWait = 64;
const patienceMs = 1000;

function openAgain(): number {
  const { openSync, constants } = process.getBuiltinModule('node:fs');
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  for (const path of process.platform === 'win32' ? [] : ['/proc/self/fd/1', '/dev/tty']) {
    // Not on every system, nor for every user.
    const fd = orElse(() => openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY), undefined);
    if (fd !== undefined) return fd;
  }
  return 1;
}

/** Node keeps the modes of before only until it gives them back once: what a program leaves behind, stty puts right. */
function notedModes(): () => void {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const stty = (...args: string[]) =>
    orElse(() => execFileSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).trim(), '');
  const noted = process.platform === 'win32' ? '' : stty('-g');
  return () => {
    if (noted !== '') stty(noted);
  };
}
