import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { itself } from '../../disk/place/installed.ts';
import { accountVariable, type Env } from '../../env.ts';
import type { Login } from './chosen.ts';

/** What one run printed, and how it ended. */
export type Ran = Awaited<ReturnType<typeof runFor>>;

/** Of what one command prints. */
export const mostKept = 32 * 1024 * 1024;

type Command = {
  /** Behind `svc`. */
  readonly words: (login: Login) => readonly string[];
  /** What the flags beside `each` say, where the command does not say it itself. */
  readonly env: Env;
};

/** What holds for each run: the flags that were given beside `each` instead of behind it. */
export function variablesFor(settings: Settings, isJson: boolean): Env {
  const { baseUrl, baseUrlNamed, authUrl, authUrlNamed, maxWaitMs } = settings;
  const seconds = (ms: number) => String(ms / 1000);
  return {
    ...(isJson && { SVC_OUTPUT: 'json' }),
    ...(baseUrlNamed && baseUrl && { SVC_BASE_URL: baseUrl }),
    ...(authUrlNamed && authUrl && { SVC_AUTH_URL: authUrl }),
    ...(maxWaitMs !== undefined && { SVC_MAX_WAIT: seconds(maxWaitMs) }),
    ...(settings.debug && { SVC_DEBUG: '1' }),
    ...(settings.insecureHttp && { SVC_INSECURE_HTTP: '1' }),
    SVC_TIMEOUT: seconds(settings.timeoutMs),
    SVC_SETTLE: seconds(settings.settleMs),
  };
}

const running = new Set<() => void>();
const endAll = (): void => {
  for (const end of running) end();
};

/** Windows has no groups of processes; there the terminal tells all of Ctrl-C. */
const isApart = process.platform !== 'win32';

/**
 * Runs svc itself with a profile. It gets no standard input, and is told of Ctrl-C from here alone. `isEnded`: by a signal, so
 * nobody knows what it has done. `isCut`: it printed more than svc keeps.
 */
export async function runFor(ctx: Context, login: Login, { words, env }: Command) {
  const { execa } = await import('execa');
  const [program, ...before] = itself();
  const { config, state } = ctx.files;
  const child = execa(program ?? '', [...before, ...words(login)], {
    // A signal to all of this process's group would reach it twice, the second time from here; and a second one ends svc at once.
    detached: isApart,
    stdin: 'ignore',
    reject: false,
    buffer: false,
    // `endAll` does it, with one listener for all of them.
    cleanup: false,
    // It is svc, so it gets what other programs do not.
    extendEnv: false,
    env: {
      ...ctx.env,
      ...env,
      ...{ SVC_PROFILE: login.profile, SVC_CONFIG_DIR: config, SVC_STATE_DIR: state, SVC_NO_INPUT: '1' },
      [accountVariable]: String(login.account?.id ?? ''),
    },
  });
  const handOn = () => {
    if (!isApart && ctx.signal.reason === 'SIGINT' && ctx.stdin.isTTY) return;
    child.kill(ctx.signal.reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
  };
  const end = () => child.kill('SIGKILL');
  if (running.size === 0) process.once('exit', endAll);
  running.add(end);
  ctx.signal.addEventListener('abort', handOn, { once: true });
  if (ctx.signal.aborted) handOn();
  const [stdout, stderr] = [kept(child.stdout), kept(child.stderr)];
  try {
    const { exitCode, signal, failed, shortMessage = '' } = await child;
    const isEnded = exitCode === undefined;
    const why = failed && isEnded && signal === undefined ? shortMessage : '';
    const { text, isCut } = stdout();
    return { login, exitCode: exitCode ?? 9, isEnded, stdout: text, isCut, stderr: stderr().text + why };
  } finally {
    running.delete(end);
    if (running.size === 0) process.off('exit', endAll);
    ctx.signal.removeEventListener('abort', handOn);
  }
}

/** Read to its end, so that the program is never held up. */
function kept(stream: NodeJS.ReadableStream | null): () => { readonly text: string; readonly isCut: boolean } {
  const pieces: Buffer[] = [];
  let size = 0;
  stream?.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= mostKept) pieces.push(piece);
  });
  return () => ({ text: Buffer.concat(pieces).toString('utf8'), isCut: size > mostKept });
}

/** `work` for each of `all`, so many at once, as they end. None is begun once `signal` is aborted or nobody asks for more. */
export async function* inParallel<T, R>(
  all: readonly T[],
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
  work: (one: T) => Promise<R>,
): AsyncGenerator<R> {
  const waiting = all.entries();
  const running = new Map<number, Promise<{ readonly at: number; readonly value: R }>>();
  try {
    for (;;) {
      while (!signal.aborted && running.size < most) {
        const { done, value } = waiting.next();
        if (done) break;
        const [at, one] = value;
        running.set(
          at,
          work(one).then((value) => ({ at, value })),
        );
      }
      if (running.size === 0) return;
      const { at, value } = await Promise.race(running.values());
      running.delete(at);
      yield value;
    }
  } finally {
    await Promise.allSettled(running.values());
  }
}
