import type { Operation } from '../api/operation.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Output, Settings } from '../config/settings.ts';
import type { Choice, Context } from '../context.ts';
import type { Env } from '../env.ts';
import type { View } from '../output/view.ts';
import type { Fields } from '../text/record.ts';
import type { RowOf } from './row.ts';

/** A flag or an argument, as data. `T` is what a command receives. */
export type Param<T> = {
  /** As typed, without the dashes, where it is not simply the key in kebab-case. */
  readonly name?: string;
  /** Other names that are accepted and not shown in help. */
  readonly aliases?: readonly string[];
  readonly description: string;
  /** Shown in help in place of the value: `ID`, `FILE`, `KEY=VALUE`. Without one the flag is a switch. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  /** Said of a value that is taken and may yet be a mistake. */
  readonly doubt?: (texts: readonly string[], flag: string, env: Env) => string | undefined;
  /** May be given several times; `parse` gets every value. */
  readonly many?: boolean;
  /** Takes a list with commas between: given again it adds to it. */
  readonly commas?: true;
  readonly required?: boolean;
  /** The key of the flag beside which alone it says something. */
  readonly needs?: 'from';
  /** Required, but not where one of these flags of the same command is given. */
  readonly unless?: readonly string[];
  /** An empty text says something too: elsewhere it is refused, as what a variable leaves that is not set. */
  readonly takesEmpty?: true;
  /** So do blanks, such as one that stands between the items of a list. */
  readonly takesBlanks?: true;
  /** The words of another command line: only the first of them must say something. */
  readonly isLine?: true;
  /** A longer text: on a terminal the editor opens for it, so no question is asked. */
  readonly written?: true;
  /** Words that somebody reads: `-` or `@FILE` alone was meant to be read from there. */
  readonly prose?: boolean;
  /** A file that the command writes: never one of svc's own. */
  readonly isWritten?: true;
  /** A time, which may be given from now on, such as `tomorrow 9:00`. */
  readonly moment?: true;
  /** Whose id it is: one can be picked from a list, and a ticket's number or a contact's email is taken too. */
  readonly record?: ResourceName;
  /** Of those in the list: one that nobody means here, such as a ticket that is closed already. It may be typed. */
  readonly needless?: (record: Fields) => boolean;
  /** What a question calls it, where the description is of several. */
  readonly asks?: string;
  /** What is not a record of the service, and can be picked from a list too. */
  readonly from?: Listed;
  /** One letter, for a flag that people type all day. */
  readonly short?: string;
  /** Keys of flags of the same command that cannot be given beside it. */
  readonly conflicts?: readonly string[];
  /** The heading in help that it stands under. */
  readonly group?: string;
  /** What completions offer for the value. */
  readonly completes?: 'files' | 'logins' | 'aliases' | 'commands';
  /** Words that completions offer as well, where any other may be typed too: fixed ones, or those of the configuration folder. */
  readonly offers?: Offer;
  /** The same for an argument whose values go by the argument before it. */
  readonly offersBy?: Readonly<Record<string, Offer>>;
  /** Text as typed → the value. Throws a usage Failure that names `flag`. `now`: for times like `2d`. */
  readonly parse: (texts: readonly string[], flag: string, now?: Date) => T;
  readonly fallback?: T;
};

export type Offer = readonly string[] | 'profiles' | 'logins' | 'aliases' | 'templates' | 'views';

/** Where the values of an argument come from. */
export type Listed = {
  /** The command that lists them: `webhooks inbox list`. */
  readonly command: string;
  /** What there is to choose from; `flags`: as they were typed, by key. */
  readonly choices: (
    ctx: Context,
    settings: Settings,
    flags: Readonly<Record<string, readonly string[]>>,
  ) => Promise<readonly Choice[]>;
};

// biome-ignore lint/suspicious/noExplicitAny: a table of flags holds values of every type
export type Params = Readonly<Record<string, Param<any>>>;

export type Values<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** What a command is run with: each value is parsed, their combination is not yet checked. */
export type Given<A extends Params = Params, F extends Params = Params> = {
  readonly args: Values<A>;
  readonly flags: Values<F>;
  readonly settings: Settings;
  /** Arguments that were given by the name that people have, such as T-1008; `args` has the id. */
  readonly names?: Readonly<Record<string, string>>;
};

export type Command<A extends Params = Params, F extends Params = Params> = {
  readonly name: string;
  /** One line, no full stop: shown in lists of commands. */
  readonly summary: string;
  /** Further paragraphs of help. */
  readonly details?: string;
  /** Positional arguments in order; only the last may be `many`. */
  readonly args: A;
  /** Flags by key; the key `dueAt` or `due_at` is typed `--due-at`. */
  readonly flags: F;
  /** Lines that work when pasted into `svc sandbox exec -- sh`. */
  readonly examples: readonly string[];
  /** What the examples need that is not there at first: `a copy of the account: svc mirror pull`. */
  readonly needs?: string;
  readonly aliases?: readonly string[];
  /** Everything after the arguments belongs to another program (`sandbox exec -- CMD`). */
  readonly passThrough?: boolean;
  /** It runs also where the configuration cannot be read, and reports that itself (`doctor`). */
  readonly judgesConfig?: boolean;
  /** It changes records of the account, so it takes `--dry-run`. A command with `row` does without being told. */
  readonly writes?: boolean;
  /** It may reach a customer or the public, so it takes `--draft`. A command that is one operation does by its entry. */
  readonly sends?: boolean;
  /** It publishes, by several operations and without being asked: `each` asks for it. */
  readonly publishes?: true;
  /** Whether it surely only reads with these words behind its name, where they decide that. */
  readonly onlyReads?: (words: readonly string[]) => boolean;
  /** How a row of a file becomes what it writes: such a command takes `--from FILE`. */
  readonly row?: RowOf;
  /** What it asks of the service, where that is one thing: its answer is what is printed. By default that of `row` (`operationOf`). */
  readonly operation?: Operation;
  /** It takes `--output md` and `html` too. */
  readonly hasPages?: true;
  /** The only forms of output that it has, where it has not all: what comes line by line is no CSV and no YAML. */
  readonly forms?: readonly Output[];
  /** The fields of what it prints, where they are others than those of the operation's answer. */
  readonly prints?: () => Promise<readonly string[]>;
  readonly run: (ctx: Context, given: Given<A, F>) => Promise<View>;
};

export type Group = {
  /** Plural noun, as typed. */
  readonly name: string;
  readonly summary: string;
  /** What the group does where none of its commands is named: `svc mcp`. Its commands may take its flags too. */
  readonly itself?: AnyCommand;
  readonly commands: readonly (AnyCommand | Group)[];
};

/** A group of `commands/index.ts`: its entry there has its name, and its summary where this says no other. */
export type TopGroup = Omit<Group, 'name' | 'summary'> & Partial<Pick<Group, 'summary'>>;

// biome-ignore lint/suspicious/noExplicitAny: a group holds commands of every signature
export type AnyCommand = Command<any, any>;

export const operationOf = ({ operation, row }: Pick<AnyCommand, 'operation' | 'row'>): Operation | undefined =>
  operation ?? row?.operation;

/** Whether it changes nothing in the account, whatever is typed. */
export const isReader = ({ writes, onlyReads, ...command }: AnyCommand): boolean =>
  writes !== true && (operationOf(command)?.method === 'GET' || onlyReads?.([]) === true);

const habits: Readonly<Record<string, readonly string[]>> = {
  list: ['ls'],
  get: ['view', 'show'],
  show: ['view', 'get'],
  create: ['new'],
  delete: ['rm'],
};

/** Its own other names, and those that people bring along from other programs, unless a sibling has that name. */
export const aliasesOf = (node: AnyCommand | Group, siblings: Group['commands']): readonly string[] => {
  const habitual = (habits[node.name] ?? []).filter((alias) => !siblings.some(({ name }) => name === alias));
  return [...('aliases' in node ? (node.aliases ?? []) : []), ...habitual];
};

/** Where words lead below it, the names of what is on the way, and the words behind them that name nothing there. */
export function descend(root: AnyCommand | Group | undefined, words: readonly string[]) {
  let node = root;
  let siblings: Group['commands'] = [];
  const path: string[] = [];
  for (const word of words) {
    const inside = node && 'commands' in node ? node.commands : [];
    const child = inside.find((one) => one.name === word || aliasesOf(one, inside).includes(word));
    if (!child) break;
    siblings = inside;
    path.push(child.name);
    node = child;
  }
  return { node, siblings, path, rest: words.slice(path.length) };
}

/** The command, or what a group does by itself. */
export const runOf = (node: AnyCommand | Pick<Group, 'commands' | 'itself'> | undefined): AnyCommand | undefined =>
  node && 'commands' in node ? node.itself : node;

/** Of a command that takes nothing. */
type Nothing = Readonly<Record<never, never>>;

type Defined<A extends Params, F extends Params> = Omit<Command<A, F>, 'args' | 'flags'> & {
  readonly args?: A;
  readonly flags?: F;
};

/** Infers the types of `args` and `flags` for `run`; a command that names none has none. */
export const defineCommand = <A extends Params = Nothing, F extends Params = Nothing>(
  command: Defined<A, F>,
): Command<A, F> =>
  // The compiler does not know that what is not given was inferred as nothing.
  ({ args: {} as A, flags: {} as F, ...command });
