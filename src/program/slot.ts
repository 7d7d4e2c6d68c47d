import type { Param } from '../command/command.ts';
import type { Invocation } from './invocation.ts';

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
