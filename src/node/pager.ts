import { execa } from 'execa';
import { located } from '../disk/place/program.ts';
import { startingFolder } from '../disk/place/working-folder.ts';
import { interruption } from '../errors.ts';
import { endOf, inPlace } from './foreground.ts';

type Around = { readonly env: Readonly<Record<string, string | undefined>>; readonly signal: AbortSignal };

/**
 * Shows a text in the pager that the user named, a command line of their shell, or in less. False where nothing was
 * shown: no pager is wanted (empty, or `cat`), or there is none.
 */
export async function page(command: string | undefined, text: string, { env, signal }: Around): Promise<boolean> {
  const named = command?.trim();
  if (named === '' || named === 'cat') return false;
  const isPosix = process.platform !== 'win32';
  const options = {
    input: text,
    stdout: 'inherit',
    stderr: 'inherit',
    cwd: startingFolder(),
    reject: false,
    cancelSignal: endOf(signal),
    // As git does: a bare `less` still shows colours, and leaves a text that fits on the screen.
    env: { LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
  } as const;
  const ended =
    named === undefined
      ? await execa(await located('less'), ['-FRX'], options)
      : await execa(isPosix ? inPlace(named) : named, { ...options, shell: true });
  if (ended.isCanceled) throw interruption(signal);
  // A shell says 127 where there is no such command. Leaving early is no failure of the pager.
  return ended.exitCode !== undefined ? ended.exitCode !== 127 : ended.signal !== undefined;
}
