import { type Entry, entries } from '../commands/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { valuedFlags } from './global-flags.ts';

/** The first word of argv that names a command, behind any global flags. */
export function firstWord(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (!word.startsWith('-')) return word;
    if (valuedFlags.has(word)) i++;
  }
  return undefined;
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
