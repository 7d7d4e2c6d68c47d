import type { AnyCommand } from '../command/command.ts';
import { strangeFlags } from '../command/typed-flags.ts';
import { listed } from '../text/listed.ts';
import { typedLine } from '../text/shell-word.ts';

/**
 * The advice to run a line. Of one with flags that the command does not know the command alone is named: whether the word behind
 * such a flag is its value nobody can tell, and a line without it could act on something else.
 */
export function didYouMean(
  line: readonly string[],
  path: readonly string[],
  command: Pick<AnyCommand, 'flags'>,
): string {
  const names = [...new Set(strangeFlags(line, command).map(({ name }) => name))];
  if (names.length === 0) return `Did you mean: svc ${typedLine(line)}`;
  const own = `svc ${path.join(' ')}`;
  return `Did you mean ${own}? It has no ${listed(names, 'and')}: ${own} --help`;
}
