import type { AnyCommand } from '../command/command.ts';
import { type TypedFlag, typedFlags } from '../command/typed-flags.ts';
import { listed } from '../text/listed.ts';
import { typedLine } from '../text/shell-word.ts';

/** The flags of a line that the command does not know. */
export const strangeFlags = (words: readonly string[], command: Pick<AnyCommand, 'flags'>): readonly TypedFlag[] =>
  typedFlags(words, command).filter(({ key, name }) => key === undefined && !/^(?:-h|--help)$/u.test(name));

/** The line that advice proposes, which can be typed: without what the command does not know, and what stands behind that. */
export function typableLine(words: readonly string[], command: Pick<AnyCommand, 'flags'>): string {
  const strange = strangeFlags(words, command);
  const left = new Set(
    strange.flatMap(({ name, value, at }) => {
      if (words[at]?.startsWith(name)) return [at];
      return value?.startsWith('-') ? [at - 1] : [at - 1, at];
    }),
  );
  const line = typedLine(words.filter((_, at) => !left.has(at)));
  if (strange.length === 0) return line;
  const names = [...new Set(strange.map(({ name }) => name))];
  return `${line}\nIt has no ${listed(names, 'and')}.`;
}
