import type { Context } from '../context.ts';
import type { Failure } from '../errors.ts';
import type { Output, Settings } from '../settings.ts';

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
  /** May be given several times; `parse` gets every value. */
  readonly many?: boolean;
  readonly required?: boolean;
  /** One letter, for a flag that people type all day. */
  readonly short?: string;
  /** Not shown in help, still accepted. */
  readonly hidden?: boolean;
  /** What completions offer for the value. */
  readonly completes?: 'files' | 'profiles';
  /** Text as typed → the value. Throws a usage Failure that names `flag`. */
  readonly parse: (texts: readonly string[], flag: string) => T;
  readonly fallback?: T;
};

// biome-ignore lint/suspicious/noExplicitAny: a table of flags holds values of every type
export type Params = Readonly<Record<string, Param<any>>>;

export type Values<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** What a command is run with: parsed, not yet checked against each other. */
export type Given<A extends Params = Params, F extends Params = Params> = {
  readonly args: Values<A>;
  readonly flags: Values<F>;
  readonly settings: Settings;
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
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  /** Everything after the arguments belongs to another program (`sandbox exec -- CMD`). */
  readonly passThrough?: boolean;
  /** It runs without a configuration that cannot be read, which it says itself (`doctor`). */
  readonly judgesConfig?: boolean;
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

// biome-ignore lint/suspicious/noExplicitAny: a group holds commands of every signature
export type AnyCommand = Command<any, any>;

/** Infers the types of `args` and `flags` for `run`. */
export const defineCommand = <A extends Params, F extends Params>(command: Command<A, F>): Command<A, F> => command;

/** A column of a table: a dotted path into the record, and how people read it. */
export type Column = string | { readonly path: string; readonly header?: string; readonly as?: 'time' | 'status' };

/** What a terminal can show. `width` in cells; `paint` honours NO_COLOR. */
export type Terminal = {
  readonly width: number;
  readonly paint: Paint;
  readonly now: Date;
};

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

export type Paint = (style: Style, text: string) => string;

/** The data of a View: what `--json` and its siblings print, exactly. */
export type Data =
  | { readonly shape: 'record'; readonly record: unknown; readonly columns?: readonly Column[] }
  | {
      readonly shape: 'list';
      readonly records: Iterable<unknown> | AsyncIterable<unknown>;
      readonly columns: readonly Column[];
      /** Every field of a record: the columns of csv, the same for every page. Without it, the first record's. */
      readonly fields?: readonly string[];
      /** Printed on a terminal where the list is empty. */
      readonly empty?: string;
    }
  /** Records that come while people watch: a line each; with --json one JSON object a line. */
  | {
      readonly shape: 'stream';
      readonly records: AsyncIterable<unknown>;
      readonly line: (record: never, terminal: Terminal | undefined) => string;
      /** Whether another record is there already: then both are written together. */
      readonly more?: () => boolean;
    }
  /** Printed as it is, whatever the output format; a newline is added where it lacks one. */
  | { readonly shape: 'text'; readonly text: string }
  | { readonly shape: 'nothing' };

/** What a command returns. `print.ts` alone turns it into bytes. */
export type View = {
  readonly data: Data;
  /** Nothing was changed to get the data, so a field of --fields that does not exist may still end in exit 2. */
  readonly read?: boolean;
  /** The format where none is asked for; without it a table on a terminal and rows in a pipe. */
  readonly output?: Output;
  /** Printed as it is before the data (`svc api -i`). */
  readonly head?: string;
  /** Data goes to this file instead of standard output; it appears once it is whole. */
  readonly file?: string;
  /** What people see on a terminal instead of the plain table or record. Must sanitize customer text itself. */
  readonly human?: (terminal: Terminal) => string | Promise<string>;
  /** The same in a pipe, where it differs from rows of `data`. */
  readonly plain?: () => string;
  /** Lines for standard error, after the data. A function is asked once the data is out. */
  readonly notes?: readonly string[] | (() => readonly string[]);
  /** Finished, but not with exit 0. `failed`: what was asked for was found not to hold (doctor, verify). */
  readonly outcome?: 'partial' | 'differs' | 'failed' | (() => 'partial' | 'differs' | 'failed' | undefined);
  /** Printed once the data is out, as if it were thrown: what was done until then is worth its report. */
  readonly failure?: Failure;
  /** Ends with this code instead; only for a command that runs another program. */
  readonly exitCode?: number;
};
