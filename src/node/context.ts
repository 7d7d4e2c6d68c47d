import type { Ask, Context, TokenStore } from '../context.ts';
import { ownFolder } from '../disk/place/home.ts';
import { hearErrors, unlessStuck } from '../output/write.ts';
import { once } from '../promise/once.ts';
import { message } from '../text/layout.ts';
import { sanitize } from '../text/sanitize.ts';
import { sleep, ticks } from '../ticks.ts';
import { ownEnvironment } from './environment.ts';
import { type Going, note } from './going.ts';
import { isTerminal, letGoOfLostTerminal, takeHangups } from './hung-up.ts';
import type { lineReader } from './line-reader.ts';
import type { Parts } from './progress.ts';
import { screenHush } from './screen-hush.ts';
import { isStderrWritten, isUnread, openStderr, openStdout } from './standard-streams.ts';
import type { Lent } from './terminal.ts';

/** The real world, each part loaded when it is first used. */
export function nodeContext(): Context {
  const env = ownEnvironment();
  const hangups = new Set<() => void>();
  const lent: Lent = { isLent: false };
  const { signal, hungUp } = interruptSignal(hangups, lent);
  process.once('exit', () => letGoOfLostTerminal(isTerminal));
  // Looked for when they are needed: who has no home learns it as of any other failure.
  const files = {
    get config() {
      return ownFolder('config', env);
    },
    get state() {
      return ownFolder('state', env);
    },
  };
  const clock: Context['clock'] = { now: () => new Date(), ticks, sleep };
  const random = (bytes: number) => process.getBuiltinModule('node:crypto').randomBytes(bytes);
  const said = new Set<string>();
  const [stdout, stderr] = [once(openStdout), openStderr];
  const screen = screenHush(() => progress(undefined));
  const awaited = { isLine: false };
  const isHidden = () => screen.isTaken() || awaited.isLine;
  const progress = lazyProgress({ env, said, isHidden }, stderr);
  const notice = (text: string) => {
    if (screen.isTaken()) return screen.later(() => notice(text));
    progress(undefined);
    // A note may tell what a customer or a service wrote: none of it becomes a line of its own.
    const [line, { isTTY, columns }] = [sanitize(text), stderr()];
    said.add(line);
    stderr().write(`${isTTY && columns ? message(line, columns) : line}\n`);
  };
  const exchange = once(async () => (await import('./exchange.ts')).createExchange(env));

  return {
    // Touching the streams opens them, so each is a getter.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return stdout();
    },
    get stderr() {
      return stderr();
    },
    env,
    files,
    clock,
    random,
    signal,
    progress,
    notice,
    itself: async () => (await import('../disk/place/installed.ts')).itself(),
    exchange: async (request) => (await exchange())(request),
    tokens: lazyTokens(async () => {
      const { tokenStore } = await import('../auth/token-store.ts');
      return tokenStore({ env, files, clock, random, notice, progress, signal, platform: process.platform });
    }),
    ask: lazyAsk({ progress, signal, env, files, hungUp, awaited }),
    page: async (command, text) => (await import('./pager.ts')).page(command, text, { env, signal }),
    onHangup(call) {
      hangups.add(call);
      return () => hangups.delete(call);
    },
    get terminal() {
      if (!process.stdin.isTTY || !stdout().isTTY) return undefined;
      return async () => screen.over((await import('./terminal.ts')).openTerminal(env, lent));
    },
    openBrowser: async (url, visited) => (await import('./browser.ts')).openBrowser(url, env, visited),
  };
}

const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * Waits for the run and gives the process its exit code. Where nothing is left that could end the run, Node ends the
 * process with 0; then this says what happened, with another code.
 */
export async function runToItsEnd(running: Promise<number>, ctx: Pick<Context, 'signal' | 'clock'>): Promise<void> {
  const isLeft = () => {
    const [, code] = Object.entries(signalCodes).find(([name]) => name === ctx.signal.reason) ?? [];
    process.exitCode = code ?? 1;
    if (code === undefined)
      openStderr().write('Error: svc ended before its work was done. What it has sent may be done or not.\n');
  };
  process.once('beforeExit', isLeft);
  process.exitCode = await running;
  process.off('beforeExit', isLeft);
  // Who reads its notes slowly gets all of them.
  await unlessStuck(isStderrWritten(), 'Standard error', ctx).catch(() => {});
  // What nobody has read since the signal would keep the process for seconds.
  if (ctx.signal.aborted && isUnread()) process.exit();
}

/**
 * One press of Ctrl-C, or one stop of a service, may arrive twice: from the system, which tells the whole group, and from
 * npx or a supervisor that passes it on. Nobody presses twice within this time.
 */
const sameStopMs = 100;

/**
 * Fires on the first SIGINT, SIGTERM or SIGHUP, so that whatever runs can end well; a second one ends the process at
 * once, but for a second hangup. As long as somebody listens to hangups, they are told of a SIGHUP instead.
 */
function interruptSignal(hangups: ReadonlySet<() => void>, lent: Lent): { signal: AbortSignal; hungUp: () => void } {
  const interrupt = new AbortController();
  // Each request and each wait listens to it; Node takes more than ten for a leak and warns on the screen.
  process.getBuiltinModule('node:events').setMaxListeners(0, interrupt.signal);
  let isSameStop = false;
  const fire = (name: string) => {
    if (interrupt.signal.aborted) return;
    isSameStop = true;
    // What arrived in that time while svc was busy is heard later, but before this.
    setTimeout(() => setImmediate(() => (isSameStop = false)), sameStopMs).unref();
    interrupt.abort(name);
  };
  for (const [name, code] of Object.entries(signalCodes)) {
    process.on(name, () => {
      if (name === 'SIGINT' && lent.isLent) return;
      if (name === 'SIGHUP' && hangups.size > 0) {
        for (const call of hangups) call();
        return;
      }
      // One terminal that is closed is told of by the system, by its shell, and by what reads it.
      if (name === 'SIGHUP' && interrupt.signal.reason === 'SIGHUP') return;
      if (interrupt.signal.aborted && !isSameStop) process.exit(code);
      fire(name);
    });
  }
  return { signal: interrupt.signal, hungUp: () => fire('SIGHUP') };
}

function lazyTokens(open: () => Promise<TokenStore>): TokenStore {
  const tokens = once(open);
  return {
    read: async (name) => (await tokens()).read(name),
    update: async (...change) => (await tokens()).update(...change),
    names: async (prefix) => (await tokens()).names(prefix),
    where: async (name) => (await tokens()).where(name),
  };
}

type Asking = Pick<Context, 'progress' | 'signal' | 'env' | 'files'> & {
  readonly hungUp: () => void;
  /** While a line is awaited other work goes on, and draws nothing over the question. */
  readonly awaited: { isLine: boolean };
};

const lazyAsk = (asking: Asking): Ask => {
  let lines: ReturnType<typeof lineReader> | undefined;
  return {
    get canAsk() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true;
    },
    confirm: async (...question) => (await asker(asking)).confirm(...question),
    text: async (...question) => (await asker(asking)).text(...question),
    secret: async (...question) => (await asker(asking)).secret(...question),
    choose: async (...question) => (await asker(asking)).choose(...question),
    edit: async (...text) => (await asker(asking)).edit(...text),
    async line(question, { isConsent = false } = {}) {
      lines ??= (await import('./line-reader.ts')).lineReader(process.stdin, asking.signal);
      if (isConsent && process.stdin.isTTY) {
        lines.forget();
        await (await import('./typed-ahead.ts')).dropTypedAhead(process.stdin);
      }
      asking.progress(undefined);
      asking.awaited.isLine = true;
      const asked = () => void process.stdout.write(question);
      // What was asked, and typed since, is gone from the screen after Ctrl-Z and fg; who sees it may press that at once.
      process.on('SIGCONT', asked);
      asked();
      return lines.next().finally(() => {
        process.off('SIGCONT', asked);
        asking.awaited.isLine = false;
      });
    },
  };
};

async function asker({ progress, signal, env, files, hungUp }: Asking) {
  progress(undefined);
  const [{ createAsk }, { wantsColor }] = [await import('./ask.ts'), await import('../output/paint.ts')];
  const [input, output] = [process.stdin, process.stderr];
  hearErrors(output);
  takeHangups(input, hungUp);
  const color = wantsColor({ env }, { color: 'auto' }, output);
  return createAsk({ input, output, env, signal, color, files });
}

/** Nothing is loaded before something has taken its time. */
function lazyProgress(parts: Omit<Parts, 'stream' | 'going'>, stderr: () => Context['stderr']): Context['progress'] {
  let show: Context['progress'] | undefined;
  let isDue = false;
  const going: Going = new Map();
  const load = async () => {
    const { createProgress } = await import('./progress.ts');
    show = createProgress({ ...parts, stream: stderr(), going });
  };
  return (text, doing = 'wait') => {
    if (show) return show(text, doing);
    note(going, doing, text);
    if (isDue) return;
    isDue = true;
    setTimeout(() => void load(), 200).unref();
  };
}
