import { parseArgsStringToArgv } from 'string-argv';
import { Failure } from '../errors.ts';
import type { Config } from './settings.ts';

/** The words of an alias; `svc` in front is understood, since that is how people copy a line. */
export function wordsOf(command: string): readonly string[] {
  // The splitter leaves the quotes of --jq='…' in place.
  const words = parseArgsStringToArgv(command).map((word) => word.replace(/^(--[\w-]+=)(['"])(.*)\2$/su, '$1$3'));
  return words[0] === 'svc' ? words.slice(1) : words;
}

/** The command that a name of the user's own stands for; undefined where there is no such name. */
export const aliasOf = ({ aliases = {} }: Config, name: string): string | undefined =>
  Object.hasOwn(aliases, name) ? aliases[name] : undefined;

/**
 * The command line with the name at `at` replaced by what it stands for, as long as that is a name of the user's own
 * too. `find` tells where in a command line its command stands.
 */
export function unaliased(
  argv: readonly string[],
  config: Config,
  find: (argv: readonly string[]) => number,
): readonly string[] {
  const seen: string[] = [];
  let line = argv;
  for (;;) {
    const at = find(line);
    const name = line[at];
    const command = name === undefined ? undefined : aliasOf(config, name);
    if (name === undefined || command === undefined) return line;
    if (seen.includes(name)) {
      throw new Failure('usage', `The alias ${name} leads to itself: ${[...seen, name].join(', ')}.`, {
        hint: `Run: svc alias delete ${name}`,
      });
    }
    seen.push(name);
    line = [...line.slice(0, at), ...wordsOf(command), ...line.slice(at + 1)];
  }
}
