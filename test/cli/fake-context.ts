import { Writable } from 'node:stream';
import type { Settings } from '../../src/config/settings.ts';
import type { Context } from '../../src/context.ts';

export const settings: Settings = {
  profile: 'default',
  profileNamed: false,
  profiles: [],
  carried: {},
  baseUrlNamed: false,
  authUrlNamed: false,
  redirectUri: 'http://127.0.0.1:8976/callback',
  partnerSegment: 'partner',
  noInput: false,
  yes: false,
  quiet: false,
  debug: false,
  settleMs: 30_000,
  timeoutMs: 30_000,
  color: 'auto',
  safeCells: false,
  insecureHttp: false,
  audit: 'on',
};

type Options = {
  /** Standard output and error are a terminal of this width. */
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
  /** Fails a write of standard output. */
  readonly failWrite?: (written: string) => NodeJS.ErrnoException | undefined;
};

/** A context for what only prints: two streams that remember, and a clock that stands. */
export function screen({ columns, rows, env = {}, failWrite }: Options = {}) {
  const written = { stdout: '', stderr: '', notices: [] as string[] };
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write(chunk, _, done) {
          const error = name === 'stdout' ? failWrite?.(written.stdout) : undefined;
          if (!error) written[name] += String(chunk);
          done(error);
        },
      }),
      { isTTY: columns !== undefined, columns, rows },
    );
  const refuse = () => {
    throw new Error('not a part of printing');
  };
  const ctx = {
    stdin: Object.assign((async function* () {})(), {}),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env,
    files: { config: '/nowhere', state: '/nowhere' },
    exchange: refuse,
    clock: { now: () => new Date('2026-11-20T12:00:00Z'), ticks: () => 0, sleep: async () => {} },
    random: refuse,
    tokens: { read: refuse, update: refuse, names: refuse, where: refuse },
    ask: { canAsk: false, confirm: refuse, text: refuse, secret: refuse, line: refuse, choose: refuse, edit: refuse },
    progress: () => {},
    notice: (text: string) => {
      written.notices.push(text);
    },
    openBrowser: refuse,
    signal: new AbortController().signal,
  } satisfies Context;
  return { ctx: ctx as Context, written };
}
