import type { AnyCommand, Param } from './command.ts';
import { isHelpFlag, longName } from './flag-words.ts';
import { globalFlags, switchFlags } from './global-flags.ts';
import { flagName } from './param.ts';

export type TypedFlag = {
  /** As typed, with its dashes. */
  readonly name: string;
  readonly value: string | undefined;
  /** In which word the value is; the flag's own where it has none. */
  readonly at: number;
  /** Its key among those of the command, or the long name of a global flag: the same whichever of its names was typed. */
  readonly key: string | undefined;
  /** Undefined for a global flag, and for one that the command does not know. */
  readonly param: Param<unknown> | undefined;
};

/** The flags of a line, and nothing that is the value of one: a text may read `--dry-run`. In doubt a word is a value. */
export function typedFlags(words: readonly string[], command: Pick<AnyCommand, 'flags'>): TypedFlag[] {
  const known = new Map<string, { readonly key: string; readonly param: Param<unknown> }>();
  for (const [key, param] of Object.entries<Param<unknown>>(command.flags)) {
    for (const name of [flagName(key, param), ...(param.aliases ?? [])]) known.set(`--${name}`, { key, param });
    if (param.short !== undefined) known.set(`-${param.short}`, { key, param });
  }
  const isSwitch = (name: string): boolean => {
    const param = known.get(name)?.param;
    return param ? param.placeholder === undefined : switchFlags.has(name) || isHelpFlag(name);
  };
  const flags: TypedFlag[] = [];
  const add = (name: string, value: string | undefined, at: number) =>
    flags.push({ name, value, at, param: undefined, key: globalName(name), ...known.get(name) });
  for (let at = 0; at < words.length && words[at] !== '--'; at++) {
    const word = words[at] ?? '';
    if (!/^-./u.test(word)) continue;
    const { switches, last, joined } = word.startsWith('--') ? longFlag(word) : shortFlags(word, isSwitch);
    for (const name of switches) add(name, undefined, at);
    if (last === undefined) continue;
    const value = joined ?? (isSwitch(last) ? undefined : words[++at]);
    add(last, value, at);
  }
  return flags;
}

/** Of those the ones that the command does not know. */
export const strangeFlags = (words: readonly string[], command: Pick<AnyCommand, 'flags'>): readonly TypedFlag[] =>
  typedFlags(words, command).filter(({ key, name }) => key === undefined && !isHelpFlag(name));

/** The words that are neither a flag nor the value of one. */
export function wordsBeside(words: readonly string[], flags: readonly TypedFlag[]): readonly string[] {
  const ofFlags = new Set(flags.flatMap(({ value, at }) => (value === words[at] ? [at - 1, at] : [at])));
  return words.filter((_, at) => !ofFlags.has(at));
}

/** The long name of a global flag. */
function globalName(name: string): string | undefined {
  const [term] = globalFlags.find(([term]) => term.split(/, | /u).includes(name)) ?? [];
  return term && longName(term);
}

/** What one word names; `joined` is the value of the last, where the word holds it. */
type Named = { readonly switches: readonly string[]; readonly last?: string; readonly joined?: string };

function longFlag(word: string): Named {
  const end = word.indexOf('=');
  return end === -1
    ? { switches: [], last: word }
    : { switches: [], last: word.slice(0, end), joined: word.slice(end + 1) };
}

/** Letters in one word: switches, and at the end one that takes a value, perhaps with the value (`-yp acme`, `-ojson`). */
function shortFlags(word: string, isSwitch: (name: string) => boolean): Named {
  const letters = [...word.slice(1)].map((letter) => `-${letter}`);
  const count = letters.findIndex((name) => !isSwitch(name));
  if (count === -1) return { switches: letters };
  const rest = word.slice(2 + count);
  return { switches: letters.slice(0, count), last: letters[count], ...(rest !== '' && { joined: rest }) };
}
