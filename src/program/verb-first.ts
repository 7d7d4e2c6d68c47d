import { aliasesOf, runOf } from '../command/command.ts';
import { entries, entryNamed, loadEntry } from '../commands/index.ts';
import { Failure } from '../errors.ts';
import { typedLine } from '../text/shell-word.ts';
import { didYouMean } from './did-you-mean.ts';
import { commandHabits, habitIn, habitualCommand } from './habit-words.ts';
import { leadingWords } from './leading-words.ts';
import { notThere } from './not-there.ts';

const verbs: Readonly<Record<string, string>> = {
  ...{ list: 'list', ls: 'list', get: 'get', show: 'get', view: 'get', describe: 'get' },
  ...{ create: 'create', new: 'create', add: 'create', make: 'create', update: 'update', edit: 'update' },
  ...{ delete: 'delete', rm: 'delete', remove: 'delete' },
};

/** `svc get ticket 8`, as kubectl has it: the command that is meant, or why there is none. */
export async function verbFirst(argv: readonly string[]): Promise<Failure | undefined> {
  const [typed = '', noun = '', ...rest] = leadingWords(argv);
  const verb = Object.hasOwn(verbs, typed) ? (verbs[typed] ?? '') : '';
  const entry =
    entryNamed(noun) ?? entries.find(({ name }) => name === `${noun}s` || name === habitIn(commandHabits, '', noun));
  // `list` is one of the lists too.
  const isOther = typed === 'list' && (rest.length > 0 || entry?.name === 'lists');
  if (verb === '' || !entry || isOther) return undefined;
  const group = await loadEntry(entry);
  if (!('commands' in group)) return undefined;
  const { commands, name } = group;
  const child = commands.find((one) =>
    [verb, typed].some((word) => one.name === word || aliasesOf(one, commands).includes(word)),
  );
  const own = child?.name ?? habitualCommand(typed, group);
  if (own === undefined) {
    const { fact, instead } = notThere(typed, name) ?? { fact: '', instead: `Run: svc ${name} --help` };
    return new Failure('usage', `Unknown command '${typed}'. ${fact}`.trimEnd(), { hint: instead });
  }
  const at = argv.indexOf(typed);
  const line = argv.with(at, name).with(argv.indexOf(noun, at + 1), own);
  const command = runOf(commands.find((one) => one.name === own));
  const hint = command ? didYouMean(line, [name, own], command) : `Did you mean: svc ${typedLine(line)}`;
  return new Failure('usage', `Unknown command '${typed}'.`, { hint });
}
