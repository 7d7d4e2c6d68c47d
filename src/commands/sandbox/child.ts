import type { Context } from '../../context.ts';
import { located } from '../../disk/place/program.ts';

/** Why a program never ran, and what a shell says then. */
export type NotRun = { readonly exitCode: 126 | 127; readonly problem: string };

/** Runs a program with svc's own streams. Its exit code, or why there is none. */
export async function runChild(
  ctx: Context,
  [program = '', ...args]: readonly string[],
  env: Context['env'],
): Promise<number | NotRun> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { constants } = process.getBuiltinModule('node:os');
  const child = spawn(await located(program), args, { stdio: 'inherit', env: env as NodeJS.ProcessEnv });
  // A second signal ends svc at once; the command must not outlive its sandbox.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const handOn = () => {
    // On a terminal Ctrl-C reaches the command by itself; a second one would be taken for impatience.
    if (ctx.signal.reason === 'SIGINT' && ctx.stdin.isTTY) return;
    child.kill(ctx.signal.reason as NodeJS.Signals);
  };
  ctx.signal.addEventListener('abort', handOn, { once: true });
  if (ctx.signal.aborted) handOn();
  try {
    return await new Promise<number | NotRun>((ended) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') ended({ exitCode: 127, problem: `${program}: command not found` });
        else ended({ exitCode: 126, problem: `${program} cannot be run: ${error.message}` });
      });
      child.once('exit', (code, signal) => ended(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
    });
  } finally {
    ctx.signal.removeEventListener('abort', handOn);
    process.off('exit', end);
  }
}
