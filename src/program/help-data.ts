import { aliasesOf, type Command, descend, type Group, type Param, runOf } from '../command/command.ts';
import { isHelpFlag, longName } from '../command/flag-words.ts';
import { globalFlags, valuedFlags } from '../command/global-flags.ts';
import { argName, flagName } from '../command/param.ts';
import { type TypedFlag, typedFlags } from '../command/typed-flags.ts';
import { entries } from '../commands/index.ts';
import { leadingWords } from './leading-words.ts';
import { needsOf } from './needs.ts';
import { exitMeanings } from './topic-texts.ts';
import { topics } from './topics.ts';

/**
 * `svc COMMAND --help --json`: `{command, summary, details, usage, aliases, arguments, flags, examples, examples_need,
 * exit_codes, global_flags}`; of a group `commands` too. Undefined where --help belongs to another program, or is a text.
 */
export function helpData(loaded: Group | Command, argv: readonly string[]): string | undefined {
  const { node = loaded, siblings, path, rest } = descend(loaded, leadingWords(argv).slice(1));
  if (rest.length > 0 && 'passThrough' in node && node.passThrough) return undefined;
  const runs = runOf(node);
  // A text may read -h: `--body -h`.
  const isAsked = !runs || typedFlags(argv, runs).some(isHelp);
  const aliases = path.length > 0 ? aliasesOf(node, siblings) : [];
  return isAsked ? `${JSON.stringify(dataOf(node, [loaded.name, ...path].join(' '), aliases), null, 2)}\n` : undefined;
}

/** Also behind a flag that nobody knows, which may take no value. */
const isHelp = ({ name, value, param }: TypedFlag): boolean =>
  isHelpFlag(name) || (param === undefined && !valuedFlags.has(name) && isHelpFlag(value ?? ''));

/** The same of svc itself. */
export const rootData = (): string =>
  `${JSON.stringify(
    {
      command: 'svc',
      usage: 'svc <command> [flags]',
      commands: entries.map(({ name, summary }) => ({ name, summary })),
      topics: topics.map(({ name, summary }) => ({ name, summary })),
      ...everywhere,
    },
    null,
    2,
  )}\n`;

const everywhere = {
  exit_codes: [{ code: 0, kind: null, meaning: 'done; also an empty list' }, ...exitMeanings],
  global_flags: globalFlags.map(([term, description]) => ({ name: longName(term), description })),
};

function dataOf(node: Group | Command, command: string, aliases: readonly string[]) {
  const runs = runOf(node);
  const args = Object.entries<Param<unknown>>(runs?.args ?? {});
  const flags = Object.entries<Param<unknown>>(runs?.flags ?? {});
  return {
    command,
    summary: node.summary,
    details: runs?.details ?? null,
    usage: ['svc', command, ...(runs ? args.map(([key, arg]) => wordFor(key, arg)) : ['<command>']), '[flags]'].join(
      ' ',
    ),
    aliases,
    ...('commands' in node && { commands: node.commands.map(({ name, summary }) => ({ name, summary })) }),
    arguments: args.map(([key, arg]) => ({ name: argName(key, arg), ...paramData(arg) })),
    flags: flags.map(([key, flag]) => ({
      name: `--${flagName(key, flag)}`,
      short: flag.short === undefined ? null : `-${flag.short}`,
      ...paramData(flag),
    })),
    examples: runs?.examples ?? [],
    examples_need: (runs && needsOf(runs)) ?? null,
    ...everywhere,
  };
}

const wordFor = (key: string, arg: Param<unknown>): string => {
  const word = `${argName(key, arg)}${arg.many ? '...' : ''}`;
  return arg.required ? `<${word}>` : `[${word}]`;
};

function paramData(param: Param<unknown>) {
  return {
    type: typeOf(param),
    required: param.required === true,
    repeatable: param.many === true,
    default: param.fallback ?? null,
    choices: param.choices ?? null,
    description: param.description,
  };
}

/** Of one value. `name`: an id, or what people call the record: a ticket's number, a contact's email. */
function typeOf({ placeholder, record, completes }: Param<unknown>): string {
  if (placeholder === undefined) return record === undefined ? 'boolean' : 'id';
  if (completes === 'files') return 'file';
  if (record === 'contacts' || record === 'tickets') return 'name';
  return types[placeholder] ?? 'string';
}

const types: Readonly<Record<string, string>> = {
  N: 'integer',
  SECONDS: 'integer',
  ID: 'id',
  TIME: 'time',
  URL: 'url',
  'KEY=VALUE': 'pair',
  'NETWORK=URL': 'pair',
};
