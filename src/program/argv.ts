import { isHelpFlag } from '../command/flag-words.ts';
import { firstWordAt, switchFlags } from '../command/global-flags.ts';
import { entryNamed, loadNamed } from '../commands/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';

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
  const [{ readConfig }, { findingBy }, { unaliased }, { withoutOverridden }] = [
    await import('../config/config-file.ts'),
    await import('../command/find-command.ts'),
    await import('../config/aliases.ts'),
    await import('../command/overridden.ts'),
  ];
  const config = await readConfig(files);
  const expanded = unaliased(line, config, find);
  if (expanded.words === line) return argv;
  const command = findingBy(loadNamed);
  // What `each` runs may be such a name too.
  return withoutOverridden(expanded, (words) => command(unaliased(words, config, find).words));
}

/** `svc help contacts sync` is `svc contacts sync --help`, and `svc help --json` is `svc --help --json`. */
export function asFlag(typed: readonly string[]): readonly string[] {
  const at = firstWordAt(typed);
  if (typed[at] !== 'help') return typed;
  const rest = [...typed.slice(0, at), ...typed.slice(at + 1)];
  const word = firstWord(rest);
  return word === undefined || entryNamed(word) ? [...rest, '--help'] : rest;
}

/** `svc --help tickets list` is `svc tickets list --help`: what stands behind it names the command. */
export function withHelpLast(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => isHelpFlag(word) || word === '--');
  const [next] = argv.slice(at + 1);
  if (at < 0 || argv[at] === '--' || next === undefined || next.startsWith('-')) return argv;
  // Behind a command's own flag it may be that flag's value, and behind another program's name it is that program's.
  const isOurs = argv
    .slice(0, at)
    .every((word) => (word.startsWith('-') ? switchFlags.has(word) : !/^(?:exec|rehearse|each)$/u.test(word)));
  return isOurs ? [...argv.slice(0, at), ...argv.slice(at + 1), '--help'] : argv;
}

/** `--sort -updated_at` gives a value, not another flag. */
export function withSortJoined(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('--sort');
  const field = argv[at + 1];
  if (at < 0 || argv.slice(0, at).includes('--') || field === undefined) return argv;
  const joined = /^-\w\w/u.test(field) ? [`--sort=${field}`] : ['--sort', field];
  return [...argv.slice(0, at), ...joined, ...withSortJoined(argv.slice(at + 2))];
}

/** `svc rehearse …` is `svc sandbox exec --seed mirror --diff …`, unless its help is asked for. */
export function asRehearsal(argv: readonly string[]): readonly string[] {
  const at = firstWordAt(argv);
  if (argv[at] !== 'rehearse') return argv;
  const rest = argv.slice(at + 1);
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (rest.length === 0 || isHelpFlag(own[0] ?? '')) return argv;
  return [...argv.slice(0, at), 'sandbox', 'exec', '--seed', 'mirror', '--diff', ...rest];
}

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
