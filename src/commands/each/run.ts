import type { Context } from '../../context.ts';
import { itself } from '../../disk/installed.ts';
import type { Login } from './chosen.ts';

/** What one run printed, and how it ended. */
export type Ran = {
  readonly login: Login;
  readonly exitCode: number;
  /** It was ended by a signal, so nobody knows what it has done. */
  readonly isEnded: boolean;
  readonly stdout: string;
  readonly stderr: string;
};

/** Of one command; what is more is left out. */
const mostKept = 32 * 1024 * 1024;

type Command = {
  /** Behind `svc`. */
  readonly words: readonly string[];
  /** Where the command does not say how it prints, it prints JSON. */
  readonly isJson: boolean;
};

/** Runs svc itself with a profile. It gets no standard input, and is told of Ctrl-C: on a terminal by the terminal. */
export async function runFor(ctx: Context, login: Login, { words, isJson }: Command): Promise<Ran> {
  const { execa } = await import('execa');
  const [program, ...before] = itself();
  const { config, state } = ctx.files;
  const child = execa(program ?? '', [...before, ...words], {
    stdin: 'ignore',
    reject: false,
    buffer: false,
    // It is svc, so it gets what other programs do not.
    extendEnv: false,
    env: {
      ...ctx.env,
      ...(isJson && { SVC_OUTPUT: 'json' }),
      ...{ SVC_PROFILE: login.profile, SVC_CONFIG_DIR: config, SVC_STATE_DIR: state, SVC_NO_INPUT: '1' },
    },
  });
  const handOn = () => {
    if (ctx.signal.reason === 'SIGINT' && ctx.stdin.isTTY) return;
    child.kill(ctx.signal.reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
  };
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  ctx.signal.addEventListener('abort', handOn, { once: true });
  if (ctx.signal.aborted) handOn();
  const [stdout, stderr] = [kept(child.stdout), kept(child.stderr)];
  try {
    const { exitCode, signal, failed, shortMessage = '' } = await child;
    const isEnded = exitCode === undefined;
    const why = failed && isEnded && signal === undefined ? shortMessage : '';
    return { login, exitCode: exitCode ?? 9, isEnded, stdout: stdout(), stderr: stderr() + why };
  } finally {
    process.off('exit', end);
    ctx.signal.removeEventListener('abort', handOn);
  }
}

/** Read to its end, so that the program is never held up. */
function kept(stream: NodeJS.ReadableStream | null): () => string {
  const pieces: Buffer[] = [];
  let size = 0;
  stream?.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= mostKept) pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString('utf8') + (size > mostKept ? '\n[more was left out]\n' : '');
}

/** `work` for each of `all`, so many at once, as they end. None is begun once `signal` is aborted or nobody asks for more. */
export async function* inParallel<T, R>(
  all: readonly T[],
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
  work: (one: T) => Promise<R>,
): AsyncGenerator<R> {
  const waiting = [...all];
  const running = new Map<number, Promise<{ readonly at: number; readonly value: R }>>();
  let begun = 0;
  try {
    for (;;) {
      while (!signal.aborted && waiting.length > 0 && running.size < most) {
        const one = waiting.shift() as T;
        const at = begun++;
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
