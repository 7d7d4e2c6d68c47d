import { Command as Commander, CommanderError, Option } from 'commander';
import { aliasesOf, type Command, type Group, type Param } from '../command/command.ts';
import { firstWordAt, globalFlags } from '../command/global-flags.ts';
import { argWord, flagName, flagTerm } from '../command/param.ts';
import { entries, entryNamed, loadEntry } from '../commands/index.ts';
import type { GlobalFlags } from '../config/settings.ts';
import { Failure } from '../errors.ts';
import { once } from '../promise/once.ts';
import { helpWidth, usualWidth } from '../text/layout.ts';
import { nearest } from '../text/near.ts';
import { version } from '../version.ts';
import { asFlag, asRehearsal, firstWord, withHelpLast, withSortJoined } from './argv.ts';
import { asksData, fieldsBehindJson, refuseFieldAmongIds, refuseFieldsBehindJson } from './habits.ts';
import { helpConfiguration } from './help.ts';
import type { Invocation } from './invocation.ts';
import { strangerIn } from './leading-words.ts';
import { examplesText } from './needs.ts';
import { withoutTwice } from './twice.ts';

/** Argv asked for help, and this is it. */
export type Help = { readonly help: string };

/** Reads argv; a mistake is a usage Failure. Only the group that argv names is loaded. */
export async function parse(typed: readonly string[], columns?: number): Promise<Invocation | Help> {
  const answered = await helpAsked(typed, columns);
  if (answered !== undefined) return { help: answered };
  const argv = withSortJoined(asRehearsal(withHelpLast(asFlag(typed))));
  const named = entryNamed(firstWord(argv));
  const loaded = named && (await loadEntry(named));
  const data = await saidBefore(argv, loaded);
  if (data !== undefined) return { help: data };
  const written: Record<'out' | 'err', string[]> = { out: [], err: [] };
  const root = rootOf(written, columns);
  let invoked: Invocation | undefined;
  if (named && loaded) {
    const onRun = (invocation: Invocation) => {
      invoked = invocation;
    };
    const built = build(root, loaded, { path: [named.name], onRun, ofGroup: () => ({}) });
    root.addCommand(built.aliases([...(named.aliases ?? [])]));
  } else {
    // Commander finds the root's flags behind a command too, and `svc changelog create --version 1.2.0` has its own.
    root.version(version, '-V, --version');
    for (const { name, aliases = [], summary } of entries)
      root
        .command(name)
        .aliases([...aliases])
        .description(summary);
  }
  let shown = written.out;
  try {
    await root.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that it shows unasked is an answer.
    if (error.code === 'commander.help') shown = written.err;
    else if (error.exitCode !== 0)
      throw fieldsBehindJson(argv, error) ?? (await import('./misread.ts')).misread(error, argv, loaded);
  }
  const help = shown.join('');
  if (!invoked && help !== '') return { help };
  // Nothing was understood, so nothing was done: that is no success.
  if (!invoked)
    throw new Failure('usage', 'svc does not see which command is meant.', {
      hint: 'Put the flags behind the command, each by itself.',
    });
  refuseFieldAmongIds(argv, idsIn(invoked));
  if (hasEmptyText(invoked)) (await import('./no-value.ts')).refuseNoValue(invoked);
  return withoutTwice(typed, invoked);
}

/** What is wrong with the line, also where --help stands behind it; and help as data, where that is asked for. */
async function saidBefore(argv: readonly string[], loaded: Group | Command | undefined): Promise<string | undefined> {
  if (!loaded || firstWord(argv) === 'list') {
    const meant = await (await import('./verb-first.ts')).verbFirst(argv);
    if (meant) throw meant;
  }
  const stranger = strangerIn(argv, loaded);
  if (stranger) throw (await import('./unknown.ts')).unknown(stranger);
  if (asksData(argv)) {
    const { helpData, rootData } = await import('./help-data.ts');
    const data = loaded ? helpData(loaded, argv) : rootData();
    if (data !== undefined) return data;
  }
  refuseFieldsBehindJson(argv, loaded);
  return undefined;
}

/** What commander writes is kept: its mistakes reach the user as Failures. */
function rootOf(written: Readonly<Record<'out' | 'err', string[]>>, columns = usualWidth): Commander {
  const root = new Commander('svc').description('Operate one account from the command line.');
  root.exitOverride().configureOutput({
    writeOut: (text) => written.out.push(text),
    writeErr: (text) => written.err.push(text),
    getOutHelpWidth: () => columns,
    getErrHelpWidth: () => columns,
  });
  root.configureHelp(helpConfiguration).helpOption('-h, --help', 'Show this help');
  for (const [term, description] of globalFlags)
    root.addOption(new Option(term, description).helpGroup('Global flags:'));
  return root;
}

/** Commas alone are an empty list. */
const hasEmptyText = ({ globals, argTexts, flagTexts }: Invocation): boolean =>
  [globals, argTexts, flagTexts].some((texts) =>
    Object.values(texts)
      .flat()
      .some((text) => /^[\s,]*$/u.test(`${text}`)),
  );

const idsIn = ({ command, argTexts }: Invocation): readonly string[] =>
  Object.entries(command.args).flatMap(([key, { record }]) => (record === undefined ? [] : (argTexts[key] ?? [])));

/** `svc help TOPIC` with flags beside it, and `svc help` of what is neither a topic nor a command. */
async function helpAsked(typed: readonly string[], columns?: number): Promise<string | undefined> {
  const at = firstWordAt(typed);
  const word = typed[at] === 'help' ? firstWord(typed.slice(at + 1)) : undefined;
  if (word === undefined || entryNamed(word)) return undefined;
  const { topics } = await import('./topics.ts');
  const topic = topics.find(({ name }) => name === word);
  if (topic) {
    const { name, summary } = topic;
    const text = (await import('./topic-texts.ts')).topicTexts[name];
    if (!asksData([...typed, '--help'])) return text(columns);
    return `${JSON.stringify({ topic: name, summary, text: text(usualWidth) }, null, 2)}\n`;
  }
  const names = topics.map(({ name }) => name);
  const { commandHabits, habitIn, habitualTopic } = await import('./habit-words.ts');
  const meant =
    habitualTopic(word) ??
    names.find((name) => word.length > 2 && name.startsWith(word)) ??
    habitIn(commandHabits, '', word)?.replace(/^help | --.*/gu, '') ??
    nearest(word, [...names, ...entries.map(({ name }) => name)]);
  throw new Failure('usage', `There is no help on '${word}'.`, {
    hint: `${meant === undefined ? '' : `Did you mean: svc help ${meant}\n`}Topics: ${names.join(', ')}. Commands: svc help commands`,
  });
}

/** Where a command stands. `ofGroup`: the flags of its group that were given. */
type CommandPlace = {
  readonly path: readonly string[];
  readonly onRun: (invocation: Invocation) => void;
  readonly ofGroup: () => object;
};

function build(parent: Commander, node: Group | Command, place: CommandPlace): Commander {
  const { path } = place;
  const commander = new Commander(node.name).copyInheritedSettings(parent);
  // In a list it is a phrase, on a page of its own a sentence.
  commander.summary(node.summary).description(`${node.summary}.`);
  commander.exitOverride((error) => {
    throw Object.assign(error, { command: path, words: commander.args });
  });
  if (!('commands' in node)) return laterLeaf(parent, commander, node, place);
  if (node.itself) buildLeaf(commander, node.itself, place);
  // Of a flag that a group and its command both have, commander tells the group, wherever it stands.
  const ofGroup = node.itself ? () => commander.opts() : () => ({});
  // What stands behind `sandbox exec --` is the other program's; commander wants to hear that from the group.
  if (node.commands.some((child) => 'passThrough' in child && child.passThrough)) commander.enablePositionalOptions();
  addHelpCommand(commander);
  for (const child of node.commands) {
    const built = build(commander, child, { ...place, path: [...path, child.name], ofGroup });
    commander.addCommand(built.aliases([...aliasesOf(child, node.commands)]));
  }
  return commander;
}

/** Its flags are made once argv has named it: a group has hundreds, and nobody reads those of its other commands. */
function laterLeaf(parent: Commander, commander: Commander, command: Command, place: CommandPlace): Commander {
  const build = once(() => buildLeaf(commander, command, place));
  parent.hook('preSubcommand', (_, named) => {
    if (named === commander) build();
  });
  return commander.summary(command.summary).on('beforeHelp', build);
}

/** `svc contacts help sync` is `svc contacts sync --help`. */
function addHelpCommand(group: Commander): void {
  const shown = (names: readonly string[]) => {
    let at = group;
    for (const name of names) {
      const next = at.commands.find((one) => one.name() === name || one.aliases().includes(name));
      if (!next) throw new Failure('usage', `Unknown command '${name}'.`, { hint: `Run: svc ${group.name()} --help` });
      at = next;
    }
    at.outputHelp();
  };
  const help = group.createCommand('help').copyInheritedSettings(group).argument('[command...]').action(shown);
  group.helpCommand(false).addCommand(help, { hidden: true });
}

function buildLeaf(commander: Commander, command: Command, { path, onRun, ofGroup }: CommandPlace): Commander {
  commander.summary(command.summary);
  if (command.details) commander.description(`${command.summary}.\n\n${command.details}`);
  // Required arguments are judged by ourselves, so that a person can be asked for them.
  for (const [key, arg] of Object.entries(command.args)) commander.argument(argWord(key, arg), arg.description);
  for (const [key, flag] of Object.entries(command.flags)) {
    const rivals = (flag.conflicts ?? []).flatMap((rival) => {
      const other = command.flags[rival];
      return other ? optionsFor(rival, other).map((option) => option.attributeName()) : [];
    });
    for (const option of optionsFor(key, flag)) commander.addOption(option.conflicts(rivals));
  }
  if (command.examples.length > 0) {
    const width = () => helpWidth(commander.configureOutput().getOutHelpWidth?.());
    commander.addHelpText('after', () => `\n${examplesText(command, width())}`);
  }
  if (command.passThrough) commander.passThroughOptions().allowUnknownOption();
  return commander.action((...all: unknown[]) => {
    const texts = all.slice(0, Object.keys(command.args).length);
    const argTexts = Object.fromEntries(Object.keys(command.args).map((key, i) => [key, asTexts(texts[i])]));
    const options: Record<string, unknown> = { ...ofGroup(), ...commander.opts() };
    const flagTexts = Object.fromEntries(
      Object.entries(command.flags).map(([key, flag]) => {
        // Of `--no-browser` commander makes a `browser` that is true until it is given.
        const textsOf = (option: Option) => {
          const value = options[option.attributeName()];
          return asTexts(option.negate ? value === false : value);
        };
        return [key, optionsFor(key, flag).flatMap(textsOf)];
      }),
    );
    onRun({ command, path: path.join(' '), globals: globalsOf(commander.optsWithGlobals()), argTexts, flagTexts });
  });
}

/** The flag itself, then its other names, which help does not show. */
function optionsFor(key: string, flag: Param<unknown>): Option[] {
  const others = (flag.aliases ?? []).map((name) => optionFor(name, { ...flag, short: undefined }).hideHelp());
  return [optionFor(flagName(key, flag), flag), ...others];
}

function optionFor(longName: string, flag: Param<unknown>): Option {
  const option = new Option(flagTerm(longName, flag), flag.description);
  if (flag.many) option.argParser((text, sofar: unknown) => [...(Array.isArray(sofar) ? sofar : []), text]);
  if (flag.group) option.helpGroup(flag.group);
  return option;
}

const asTexts = (value: unknown): readonly string[] =>
  value === undefined || value === false ? [] : [value].flat().map(String);

function globalsOf(options: Record<string, unknown>): GlobalFlags {
  return { ...options, noInput: options.input === false, noColor: options.color === false } as GlobalFlags;
}
