import type { Command, Group } from '../command/command.ts';
import { entries } from '../commands/index.ts';
import { Failure } from '../errors.ts';
import { nearest } from '../text/near.ts';
import { elsewhereHabits, habitIn, habitualCommand, loudHabits, otherHabits } from './habit-words.ts';
import { leadingWords, type Stranger } from './leading-words.ts';
import { notThere } from './not-there.ts';

/** A word behind a group that does something itself: `svc mcp instal` is no argument of `svc mcp`. */
export function slipIn(
  argv: readonly string[],
  { code }: { readonly code: string },
  loaded: Group | Command | undefined,
): Failure | undefined {
  if (code !== 'commander.excessArguments' || !loaded || !('commands' in loaded)) return undefined;
  const [, word = ''] = leadingWords(argv);
  const isNamed = loaded.commands.some(({ name }) => name === word);
  return isNamed ? undefined : unknown({ word, path: ['svc', loaded.name], group: loaded });
}

/** What people type for a command in one group or another. */
const commandWords = new Set(['get', 'show', 'view', 'list', 'ls', 'create', 'new', 'update', 'delete', 'rm', 'set']);

/** What is said of it, with what may be meant. */
export function unknown({ word, path, group }: Stranger): Failure {
  const missing = path.length <= 2 ? notThere(word, path[1] ?? '') : undefined;
  if (missing)
    return new Failure('usage', `There is no '${path.join(' ')} ${word}'. ${missing.fact}`, { hint: missing.instead });
  const elsewhere = group && habitIn(elsewhereHabits, group.name, word);
  // `svc lists get` is meant as it is typed: what is a command elsewhere is no slip of the finger for `set`.
  const own = habitualCommand(word, group) ?? (commandWords.has(word) ? undefined : slipOf(word, group));
  const line = path.join(' ');
  const here = own ? `${line} ${own}` : shown(word, line, group);
  const meant = elsewhere === undefined ? here : `svc ${elsewhere}`;
  const loud = group && habitIn(loudHabits, group.name, word);
  const other = habitIn(otherHabits, group?.name ?? '', word);
  const also = [
    ...(loud === undefined ? [] : [`\nor, which reaches a person: ${line} ${loud}`]),
    ...(other === undefined ? [] : [`\nor: ${line} ${other}`]),
  ].join('');
  return new Failure('usage', `Unknown command '${word}'.`, {
    hint: meant === undefined ? `Run: ${line} --help` : `Did you mean: ${meant}${also}`,
  });
}

/** `svc tickets 8`: a record is shown by `get`. */
function shown(word: string, line: string, group: Group | undefined): string | undefined {
  const get = group?.commands.find((one): one is Command => one.name === 'get' && 'args' in one);
  const takesIt = get?.args.id && /^\d{1,15}$/u.test(word);
  return takesIt ? `${line} get ${word}` : undefined;
}

/** Of two that are as near the one that reaches nobody; one that does is a slip of one letter at most. */
function slipOf(word: string, group: Group | undefined): string | undefined {
  const names = (group?.commands ?? entries).map(({ name }) => name);
  // What reaches somebody can become a draft.
  const isLoud = (name: string) =>
    group?.commands.some((one) => one.name === name && 'flags' in one && 'draft' in one.flags) === true;
  const quiet = names.filter((name) => !isLoud(name));
  const meant = nearest(word, [...quiet, ...names.filter(isLoud)]);
  return meant === undefined || !isLoud(meant) ? meant : (nearest(word, [meant], 1) ?? nearest(word, quiet));
}
