import { execa } from 'execa';
import type { KeptFile } from '../context.ts';
import { throughTempFile } from '../disk/draft/temp-file.ts';
import { startingFolder } from '../disk/place/working-folder.ts';
import { Failure, interruption } from '../errors.ts';
import { endOf, inPlace } from './foreground.ts';

type Around = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** Told what was written where the editor failed or was killed: it may have been saved before. */
  readonly failed?: (text: string) => void;
  /** See `Ask.edit`. */
  readonly kept?: (file: KeptFile) => void;
  /** A file that is too large to be a text is kept there. */
  readonly files: { readonly state: string };
  /** What is written becomes a file, and is sent to nobody. */
  readonly isFile?: boolean;
  /** See `Ask.edit`. */
  readonly otherwise?: string;
};

/** Opens the text in the editor that VISUAL or EDITOR names, a command line such as `code --wait`; else in a usual one. */
export async function edit(
  initial: string,
  extension: string,
  {
    env,
    signal,
    failed,
    kept,
    files,
    isFile = false,
    otherwise = `nothing was ${isFile ? 'written' : 'sent'}`,
  }: Around,
): Promise<string> {
  const named = env.VISUAL?.trim() || env.EDITOR?.trim();
  const usual = process.platform === 'win32' ? ['notepad'] : ['editor', 'nano', 'vi'];
  const hint = `Name another in VISUAL or EDITOR, or give the text ${isFile ? 'with --text' : 'in a file with --body-file'}.`;
  const changed = failed && ((text: string) => (text === initial ? undefined : failed(text)));
  return throughTempFile(initial, `text${extension}`, { failed: changed, kept, files, otherwise }, async (path) => {
    for (const command of named ? [named] : usual) {
      const end = await run(command, path, { signal, otherwise });
      if (end === 0) return;
      if (end === notThere && command !== named) continue;
      const fact = end === notThere ? 'could not be started' : endWords(end);
      throw new Failure('failed', `The editor "${command}" ${fact}, so ${otherwise}.`, { hint });
    }
    throw new Failure('failed', `There is no editor here, so ${otherwise}.`, { hint: hint.replace('another', 'one') });
  });
}

const endWords = (end: number | string): string =>
  typeof end === 'string' ? `was ended by ${end}` : `ended with code ${end}`;

/** What a shell says of a command that does not exist. */
const notThere = 127;

/** Its exit code, or the signal that ended it. By the shell, as git does it: the command may have arguments, and quotes around a path with spaces. */
async function run(
  command: string,
  path: string,
  { signal = new AbortController().signal, otherwise }: Pick<Around, 'signal' | 'otherwise'>,
): Promise<number | string> {
  const [file, args, shell] =
    process.platform === 'win32'
      ? [`${command} "${path}"`, [], true]
      : ['sh', ['-c', `${inPlace(command)} "$@"`, command, path], false];
  // Standard output may be a file or a pipe of the user's; an editor draws on the terminal.
  const stdout = process.stdout.isTTY ? 'inherit' : process.stderr;
  const cancelSignal = endOf(signal);
  const streams = { stdin: 'inherit', stdout, stderr: 'inherit' } as const;
  const ended = await execa(file, args, { shell, ...streams, cwd: startingFolder(), reject: false, cancelSignal });
  if (ended.isCanceled) throw interruption(signal, `Interrupted: ${otherwise}.`);
  return ended.signal ?? ended.exitCode ?? 1;
}
