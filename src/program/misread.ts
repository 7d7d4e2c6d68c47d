import type { CommanderError } from 'commander';
import { type AnyCommand, type Group, runOf } from '../command/command.ts';
import { strangeFlags } from '../command/typed-flags.ts';
import { Failure } from '../errors.ts';
import { typedLine } from '../text/shell-word.ts';
import { habitualFlag } from './habit-words.ts';
import { leadingWords } from './leading-words.ts';
import { refusal } from './refusal.ts';
import { slipIn } from './unknown.ts';

/** What is said of a line that commander does not take. */
export const misread = (
  error: CommanderError,
  argv: readonly string[],
  loaded: Group | AnyCommand | undefined,
): Failure => methodBesidePath(argv, loaded) ?? slipIn(argv, error, loaded) ?? refusal(error, argv, loaded);

/** `svc api GET /contacts`: the method is a flag here. */
function methodBesidePath(argv: readonly string[], loaded: Group | AnyCommand | undefined): Failure | undefined {
  const words = leadingWords(argv);
  const method = words.slice(1, 3).find((word) => /^(?:GET|POST|PUT|PATCH|DELETE)$/iu.test(word));
  if (words[0] !== 'api' || words.length !== 3 || method === undefined) return undefined;
  const flag = `-X ${method.toUpperCase()}`;
  const api = runOf(loaded);
  const [strange] = api ? strangeFlags(argv, api) : [];
  // A line with it could not be typed.
  const instead =
    api && strange && (habitualFlag(strange.name, api, 'api') ?? `It has no ${strange.name}: svc api --help`);
  const line = argv.filter((_, at) => at !== argv.indexOf(method));
  return new Failure('usage', `svc api takes a path, and ${method.toUpperCase()} stands beside it.`, {
    hint: instead
      ? `The method is a flag: ${flag}. ${instead}`
      : `The method is a flag. Run: svc ${typedLine(line)} ${flag}`,
  });
}
