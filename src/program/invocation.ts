import type { Command, Param } from '../command/command.ts';
import type { GlobalFlags } from '../config/settings.ts';

/** What argv asks for: a command with the texts of its arguments and flags, not yet parsed. */
export type Invocation = {
  readonly command: Command;
  /** The words that lead to it, for example `contacts sync`. */
  readonly path: string;
  readonly globals: GlobalFlags;
  readonly argTexts: Readonly<Record<string, readonly string[]>>;
  readonly flagTexts: Readonly<Record<string, readonly string[]>>;
};

/** One argument or flag, with what argv gave for it. */
export type Slot = {
  readonly of: 'args' | 'flags';
  readonly key: string;
  /** As the user knows it: `ID`, `--subject`. */
  readonly label: string;
  readonly param: Param<unknown>;
  readonly texts: readonly string[];
  /** What argv gave for the flags beside it. */
  readonly flagTexts: Invocation['flagTexts'];
};
