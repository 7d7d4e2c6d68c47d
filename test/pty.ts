import { type IPty, spawn } from '@lydell/node-pty';
import { expect } from 'vitest';
import { createEmulator } from './emulator.ts';

export type PtyOptions = {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Added to PATH, TERM and NO_COLOR='' … nothing else of this process is inherited. */
  readonly env?: Readonly<Record<string, string>>;
};

const patternOf = (what: string | RegExp) =>
  typeof what === 'string' ? new RegExp(what.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&'), 'u') : what;

/**
 * A program on a real terminal whose cells can be read. End it with `kill` (afterEach), whatever it did.
 *
 *     const pty = startOnTerminal([process.execPath, built.script, 'inbox'], { columns: 120, rows: 40, env });
 *     await pty.shows('Ada Lovelace');
 *     pty.type('j');
 *     expect(pty.lines()[3]).toContain('T-1008');
 */
export function startOnTerminal([file = '', ...args]: readonly string[], options: PtyOptions = {}) {
  const { columns = 80, rows = 24, cwd, env = {} } = options;
  const emulator = createEmulator({ columns, rows });
  const pty: IPty = spawn(file, args, {
    cols: columns,
    rows,
    cwd,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
  });
  let bytes = '';
  let shown = Promise.resolve();
  pty.onData((text) => {
    bytes += text;
    shown = emulator.write(text);
  });
  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => pty.onExit(resolve));
  /** The cells after everything that has come. */
  const settled = async () => {
    await shown;
    return emulator.lines().join('\n');
  };

  return {
    pid: pty.pid,
    ...emulator,
    /** The keys, as a terminal sends them: `\r` for Enter, `\x1b[A` for up. */
    type: (keys: string) => pty.write(keys),
    /**
     * Each key once the screen shows what the one before did: `until` is a text or a pattern of the whole screen, which
     * must be the key's own doing.
     */
    async press(keys: string, until: string | RegExp) {
      const before = await settled();
      if (patternOf(until).test(before))
        throw new Error(`Before ${JSON.stringify(keys)} the screen shows ${until} already.`);
      pty.write(keys);
      await this.shows(until);
    },
    resize(columns: number, rows: number) {
      emulator.resize(columns, rows);
      pty.resize(columns, rows);
    },
    shows: (what: string | RegExp) => expect.poll(settled, { interval: 10 }).toMatch(patternOf(what)),
    hides: (what: RegExp) => expect.poll(settled, { interval: 10 }).not.toMatch(what),
    /** Everything that came, for what cells do not tell. */
    bytes: () => bytes,
    ended,
    /** Nobody reads the terminal, until `resume`. */
    pause: () => pty.pause(),
    resume: () => pty.resume(),
    /** The window is closed; the program goes on if it can. */
    close() {
      if ('destroy' in pty && typeof pty.destroy === 'function') pty.destroy();
    },
    /** Ends the program, and closes the terminal. */
    kill() {
      try {
        pty.kill('SIGKILL');
      } catch {
        // It has ended.
      }
    },
  };
}
