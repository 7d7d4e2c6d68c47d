import process from 'node:process';
import type { Ask, Context, Doing, Exchange, TokenStore } from '../context.ts';
import { ownFolder } from '../disk/home.ts';
import { message } from '../text/layout.ts';
import { sanitize } from '../text/sanitize.ts';
import { ownEnvironment } from './environment.ts';
import { lazyStdout } from './standard-output.ts';

/** The real world, each part loaded when it is first used. */
export function nodeContext(): Context {
  const env = ownEnvironment();
  const hangups = new Set<() => void>();
  const signal = interruptSignal(hangups);
  // Looked for when they are needed: who has no home learns it as of any other failure.
  const files = {
    get config() {
      return ownFolder('config', env);
    },
    get state() {
      return ownFolder('state', env);
    },
  };
  const clock: Context['clock'] = { now: () => new Date(), ticks: () => performance.now(), sleep };
  const random = (bytes: number) => process.getBuiltinModule('node:crypto').randomBytes(bytes);
  const said = new Set<string>();
  const [stdout, stderr] = [lazyStdout(), lazyStderr()];
  const progress = lazyProgress(env, stderr, said);
  const notice = (text: string) => {
    progress(undefined);
    said.add(text);
    // A note may tell what a customer or a service wrote.
    const { isTTY, columns } = stderr();
    stderr().write(`${sanitize(isTTY && columns ? message(text, columns) : text, { keepNewlines: true })}\n`);
  };
  let exchange: Promise<Exchange> | undefined;

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
    async exchange(request) {
      exchange ??= import('./exchange.ts').then(({ createExchange }) => createExchange(env));
      return (await exchange)(request);
    },
    tokens: lazyTokens(async () => {
      const { tokenStore } = await import('../auth/token-store.ts');
      return tokenStore({ env, files, clock, random, notice, progress, signal, platform: process.platform });
    }),
    ask: lazyAsk({ progress, signal, env }),
    page: async (command, text) => (await import('./pager.ts')).page(command, text, { env, signal }),
    onHangup(call) {
      hangups.add(call);
      return () => hangups.delete(call);
    },
    openBrowser: async (url, visited) => (await import('./browser.ts')).openBrowser(url, env, visited),
  };
}

/**
 * Fires on the first SIGINT, SIGTERM or SIGHUP, so that whatever runs can end well; a second one ends the process at
 * once. As long as somebody listens to hangups, they are told of a SIGHUP instead.
 */
function interruptSignal(hangups: ReadonlySet<() => void>): AbortSignal {
  const interrupt = new AbortController();
  // Each request and each wait listens to it; Node takes more than ten for a leak and warns on the screen.
  process.getBuiltinModule('node:events').setMaxListeners(0, interrupt.signal);
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(name, () => {
      if (name === 'SIGHUP' && hangups.size > 0) {
        for (const call of hangups) call();
        return;
      }
      if (interrupt.signal.aborted) process.exit(code);
      interrupt.abort(name);
    });
  }
  return interrupt.signal;
}

/** The reader of the notes may have left; svc goes on. */
function lazyStderr(): () => typeof process.stderr {
  let heard = false;
  return () => {
    if (!heard) process.stderr.on('error', () => {});
    heard = true;
    return process.stderr;
  };
}

function lazyTokens(open: () => Promise<TokenStore>): TokenStore {
  let opened: Promise<TokenStore> | undefined;
  const tokens = () => {
    opened ??= open();
    return opened;
  };
  return {
    read: async (name) => (await tokens()).read(name),
    update: async (...change) => (await tokens()).update(...change),
    names: async (prefix) => (await tokens()).names(prefix),
    where: async (name) => (await tokens()).where(name),
  };
}

type Asking = Pick<Context, 'progress' | 'signal' | 'env'>;

const lazyAsk = (asking: Asking): Ask => ({
  get canAsk() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  confirm: async (...question) => (await asker(asking)).confirm(...question),
  text: async (...question) => (await asker(asking)).text(...question),
  secret: async (...question) => (await asker(asking)).secret(...question),
  choose: async (...question) => (await asker(asking)).choose(...question),
  edit: async (...text) => (await asker(asking)).edit(...text),
});

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    // setTimeout takes at most 2^31-1 ms and fires at once beyond.
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
    signal?.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}

async function asker({ progress, signal, env }: Asking) {
  progress(undefined);
  const [{ createAsk }, { wantsColor }] = [await import('./ask.ts'), await import('../output/paint.ts')];
  const { stdin: input, stderr: output } = process;
  return createAsk({ input, output, env, signal, color: wantsColor({ env }, { color: 'auto' }, output.isTTY) });
}

/** What goes on, each with its latest text and, in milliseconds of `performance.now()`, since when. */
export type Going = Map<Doing, { readonly text: string; readonly since: number }>;

/** The moment in which a thing began stays while its text changes. */
export function note(going: Going, doing: Doing, text: string | undefined): void {
  if (text === undefined) going.delete(doing);
  else going.set(doing, { text, since: going.get(doing)?.since ?? performance.now() });
}

/** Nothing is loaded before something has taken its time. */
function lazyProgress(env: Context['env'], stderr: () => NodeJS.WriteStream, said: Set<string>): Context['progress'] {
  let show: Context['progress'] | undefined;
  let isDue = false;
  const going: Going = new Map();
  const load = async () => {
    const { createProgress } = await import('./progress.ts');
    show = createProgress({ stream: stderr(), env, going, said });
  };
  return (text, doing = 'wait') => {
    if (show) return show(text, doing);
    note(going, doing, text);
    if (isDue) return;
    isDue = true;
    setTimeout(() => void load(), 200).unref();
  };
}
