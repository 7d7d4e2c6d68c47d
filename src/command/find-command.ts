import { type AnyCommand, descend, type Group, runOf } from './command.ts';

/** The command that words of a command line name; undefined where there is none. Flags in between are not understood. */
export type FindCommand = (words: readonly string[]) => Promise<AnyCommand | undefined>;

/** What the first word of a command line names. */
export type LoadNamed = (word: string) => Promise<Group | AnyCommand | undefined>;

export const findingBy =
  (load: LoadNamed): FindCommand =>
  async ([first = '', ...words]) =>
    runOf(descend(await load(first), words).node);
