import type { Command, Param } from '../command/command.ts';
import { isHelpFlag } from '../command/flag-words.ts';
import { flagName } from '../command/param.ts';
import { headOf } from '../disk/file/file-head.ts';
import { Failure } from '../errors.ts';

/**
 * Refuses a flag as the name of a file, unless there is such a file: its name was left out. Commander says so of the
 * flags that every command takes.
 */
export async function refuseFlagAsFile(text: string, label: string, { flags }: Command): Promise<void> {
  const flag = text.replace(/=.*/su, '');
  const isFlag =
    isHelpFlag(flag) || Object.entries<Param<unknown>>(flags).some(([key, own]) => `--${flagName(key, own)}` === flag);
  if (!isFlag || (await headOf(text, 0)).kind !== 'none') return;
  throw new Failure('usage', `${label} needs a value.`, {
    hint: `${flag} stands there, which is a flag. A file of that name is ./${flag}`,
  });
}
