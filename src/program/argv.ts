import { type Entry, entries } from '../commands/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { firstWordAt } from './global-flags.ts';

export const firstWord = (argv: readonly string[]): string | undefined => argv[firstWordAt(argv)];

/**
 * The command line with a name of the user's own replaced by its command. The configuration is read only where the
 * first word is no command, so aliases cost nobody else anything, and can never take a command's place.
 */
export async function withoutAlias(argv: readonly string[], files: Context['files']): Promise<readonly string[]> {
  const isHelp = argv[0] === 'help';
  const line = isHelp ? [...argv.slice(1), '--help'] : argv;
  const find = (words: readonly string[]) => {
    const at = firstWordAt(words);
    return at >= 0 && entryNamed(words[at]) ? -1 : at;
  };
  if (find(line) < 0) return argv;
  const [{ readConfig }, { unaliased }] = [
    await import('../config/config-file.ts'),
    await import('../config/aliases.ts'),
  ];
  const expanded = unaliased(line, await readConfig(files), find);
  return expanded === line ? argv : expanded;
}

export const entryNamed = (word: string | undefined): Entry | undefined =>
  entries.find(({ name, aliases }) => name === word || aliases?.includes(word ?? ''));

/** `svc help contacts sync` is `svc contacts sync --help`. */
export const asFlag = (typed: readonly string[]): readonly string[] =>
  typed[0] !== 'help' ? typed : [...typed.slice(1), ...(entryNamed(typed[1]) ? ['--help'] : [])];

/** How the failure of a command line is wanted that may not even parse. */
export const wishesOf = (
  argv: readonly string[],
  env: Context['env'],
): Pick<Settings, 'color'> & Partial<Pick<Settings, 'output'>> => ({
  output: wantsJson(argv, env) ? 'json' : undefined,
  color: argv.includes('--no-color') ? 'never' : 'auto',
});

const wantsJson = (argv: readonly string[], env: Context['env']): boolean =>
  /^jsonl?$/u.test(env.SVC_OUTPUT ?? '') ||
  argv.some(
    (word, i) =>
      /^(?:--json|--output=jsonl?|-ojsonl?)$/u.test(word) ||
      (/^jsonl?$/u.test(word) && /^(-o|--output)$/u.test(argv[i - 1] ?? '')),
  );
