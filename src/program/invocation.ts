import type { Command } from '../command/command.ts';
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
