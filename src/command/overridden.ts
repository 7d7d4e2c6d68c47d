import type { Unaliased } from '../config/aliases.ts';
import type { AnyCommand } from './command.ts';
import { typedFlags } from './typed-flags.ts';

/** The words without the flags of an alias that are given again behind it: what is typed there holds. */
export function withoutOverridden({ words, depths }: Unaliased, command: AnyCommand | undefined): readonly string[] {
  if (!command) return words;
  const flags = typedFlags(words, command).filter(
    ({ key, value, param }) => key !== undefined && value !== undefined && !param?.many,
  );
  const depth = (at: number) => depths[at] ?? 0;
  const dropped = flags.flatMap(({ key, name, at }) => {
    if (!flags.some((other) => other.key === key && other.at > at && depth(other.at) < depth(at))) return [];
    // The value is a word of its own, or in the flag's. Letters in one word, as `-yp acme`, are left together.
    if (words[at - 1] === name) return [at - 1, at];
    return words[at]?.startsWith(name) ? [at] : [];
  });
  return words.filter((_, at) => !dropped.includes(at));
}
