import { parseArgsStringToArgv } from 'string-argv';
import { Failure } from '../errors.ts';
import { ownOf } from '../text/record.ts';
import type { Config } from './settings.ts';

/** The words of an alias; `svc` in front is understood, since that is how people copy a line. */
export function wordsOf(command: string): readonly string[] {
  // The splitter leaves the quotes of --jq='…' in place.
  const words = parseArgsStringToArgv(command).map((word) => word.replace(/^(--[\w-]+=)(['"])(.*)\2$/su, '$1$3'));
  return words[0] === 'svc' ? words.slice(1) : words;
}

/** The command that a name of the user's own stands for; undefined where there is no such name. */
export const aliasOf = ({ aliases = {} }: Config, name: string): string | undefined => ownOf(aliases, name);

/** A command line, and for each word in how many aliases it stands: 0 was typed. */
export type Unaliased = { readonly words: readonly string[]; readonly depths: readonly number[] };

/**
 * The command line with the name at `at` replaced by what it stands for, as long as that is a name of the user's own
 * too. `find` tells where in a command line its command stands.
 */
export function unaliased(
  argv: readonly string[],
  config: Config,
  find: (argv: readonly string[]) => number,
): Unaliased {
  const seen: string[] = [];
  let words = argv;
  let depths = argv.map(() => 0);
  for (;;) {
    const at = find(words);
    const name = words[at];
    const command = name === undefined ? undefined : aliasOf(config, name);
    if (name === undefined || command === undefined) return { words, depths };
    if (seen.includes(name)) {
      throw new Failure('usage', `The alias ${name} leads to itself: ${[...seen, name].join(', ')}.`, {
        hint: `Run: svc alias delete ${name}`,
      });
    }
    seen.push(name);
    const inside = wordsOf(command);
    words = [...words.slice(0, at), ...inside, ...words.slice(at + 1)];
    depths = [...depths.slice(0, at), ...inside.map(() => seen.length), ...depths.slice(at + 1)];
  }
}
