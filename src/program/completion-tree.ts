import { aliasesOf, type Command, type Group, type Offer, type Param } from '../command/command.ts';
import { globalFlags } from '../command/global-flags.ts';
import { flagName } from '../command/param.ts';
import { entries, loadEntry } from '../commands/index.ts';
import { outputs } from '../config/outputs.ts';
import { pageForms } from '../config/settings.ts';
import { topics } from './topics.ts';

/** What stands where a value is typed. */
export type Value = {
  readonly choices?: readonly string[];
  readonly from?: Exclude<Offer, readonly string[]>;
  /** Names of files too. */
  readonly files?: true;
  /** By the argument before it. */
  readonly by?: Readonly<Record<string, Value>>;
};

export type Flag = Value & {
  readonly about: string;
  readonly short?: string;
  /** A switch takes no value. */
  readonly takesValue?: true;
  readonly many?: true;
  /** Accepted, not offered. */
  readonly hidden?: true;
};

/** A command or a group, with all that completions need to know of it. */
export type Branch = {
  readonly about: string;
  readonly aliases?: readonly string[];
  readonly children?: Readonly<Record<string, Branch>>;
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly args?: readonly (Value & { readonly many?: true })[];
  /** Behind the flags stands another command line: of any program, or of svc with or without its name. */
  readonly runs?: 'program' | 'command';
};

/**
 * The whole tree of commands as plain data. Loads every group, so it is made when svc is built, and read when somebody
 * presses Tab.
 */
export async function completionTree(): Promise<Branch> {
  const children: Record<string, Branch> = {};
  for (const entry of entries) {
    const { name, summary, aliases } = entry;
    children[name] = { ...branchOf(await loadEntry(entry)), about: summary, ...(aliases && { aliases }) };
  }
  const topicsAndCommands = [...topics, ...entries].map(({ name }) => name);
  children.help = { about: 'Help on a command or a topic', args: [{ choices: topicsAndCommands }] };
  return { about: 'svc', children, flags: Object.fromEntries(globalFlags.map(globalFlag)) };
}

function branchOf(node: Command | Group): Branch {
  if ('commands' in node) {
    const children = Object.fromEntries(
      node.commands.map((child) => {
        const aliases = aliasesOf(child, node.commands);
        return [child.name, { ...branchOf(child), ...(aliases.length > 0 && { aliases }) }];
      }),
    );
    return { ...(node.itself && branchOf(node.itself)), about: node.summary, children };
  }
  const flags = Object.entries<Param<unknown>>(node.flags).flatMap(([key, flag]) => [
    [flagName(key, flag), flagOf(flag)] as const,
    ...(flag.aliases ?? []).map((name) => [name, { ...flagOf(flag), short: undefined, hidden: true }] as const),
  ]);
  if (node.hasPages) flags.push(...globalFlags.map(globalFlag).flatMap(withPages));
  return {
    about: node.summary,
    ...(flags.length > 0 && { flags: Object.fromEntries(flags) }),
    args: Object.values<Param<unknown>>(node.args).map((arg) => ({
      ...offered(arg),
      ...(arg.many && { many: true as const }),
    })),
    ...runsOf(node),
  };
}

/** `rehearse` becomes a line of `sandbox exec` before it is read. */
function runsOf({ name, passThrough, args }: Command): Pick<Branch, 'runs'> {
  if (passThrough || name === 'rehearse') return { runs: 'program' };
  const isOfSvc = Object.values<Param<unknown>>(args).some(({ completes }) => completes === 'commands');
  return isOfSvc ? { runs: 'command' } : {};
}

const flagOf = (flag: Param<unknown>): Flag => ({
  about: flag.description,
  ...offered(flag),
  ...(flag.short && { short: flag.short }),
  ...(flag.placeholder && { takesValue: true as const }),
  ...(flag.many && { many: true as const }),
});

function offered({ choices, completes, offers, offersBy }: Param<unknown>): Value {
  const offer = choices ?? offers ?? (completes === 'files' || completes === 'commands' ? undefined : completes);
  return {
    ...(offer && offerAsValue(offer)),
    ...(completes === 'files' && { files: true as const }),
    ...(offersBy && {
      by: Object.fromEntries(Object.entries(offersBy).map(([word, offer]) => [word, offerAsValue(offer)])),
    }),
  };
}

const offerAsValue = (offer: Offer): Value => (typeof offer === 'string' ? { from: offer } : { choices: offer });

/** `-o, --output <FORMAT>` as commander reads it. */
function globalFlag([term, about]: readonly [term: string, about: string]): [name: string, flag: Flag] {
  const [, short, name = '', value] = /^(?:-(\w), )?--([\w-]+)(?: <(.+)>)?$/u.exec(term) ?? [];
  return [name, { about, ...(short && { short }), ...(value && { takesValue: true as const }), ...globalValues[name] }];
}

/** The global flag for the form, as a command takes it that has pages, too. */
const withPages = ([name, flag]: readonly [string, Flag]) =>
  name === 'output' ? [[name, { ...flag, choices: [...outputs, ...pageForms] }] as const] : [];

const globalValues: Readonly<Record<string, Value>> = {
  output: { choices: outputs },
  profile: { from: 'profiles' },
};
