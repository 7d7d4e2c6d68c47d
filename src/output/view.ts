import type { Output } from '../config/settings.ts';
import type { Failure } from '../errors.ts';

/**
 * How people read a field. `id`, `email`: never cut. `seconds`, `minutes`: how long something took; `duration`: the same as ISO 8601 writes it. `whole`: a short text
 * that means nothing when it is cut. `text`: may be cut.
 */
export type Kind = 'time' | 'status' | 'id' | 'email' | 'phone' | 'seconds' | 'minutes' | 'duration' | 'whole' | 'text';

/** A column of a table: a dotted path into the record, and how people read it. Its functions know the records of their own listing. */
export type Column =
  | string
  | {
      readonly path: string;
      /** A word for people; without one it is made from the path. Never cut. */
      readonly header?: string;
      readonly as?: Kind;
      /** Where room is short, columns go from the highest rank down. Without one it is the place in the list. */
      readonly rank?: number;
      /** Of a text: where it is longer, others are left out before it has less room than so many cells. */
      readonly least?: number;
      /** What people see on a terminal in place of the field. Of a person a pipe has the same names; else it keeps the field. */
      see?(record: unknown): unknown;
      /** A pipe has what people see too: words that no field holds. */
      readonly sees?: 'everywhere';
      /** What the cell is made of, where that is more than its path. */
      readonly fields?: readonly string[];
    };

/** What a terminal can show. `width` in cells; `paint` honours NO_COLOR. */
export type Terminal = {
  readonly width: number;
  readonly paint: Paint;
  /** Times of the last week are told from here. Undefined where what is written stays: a file, a pipe. */
  readonly now: Date | undefined;
};

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'orange' | 'blue' | 'magenta' | 'cyan';

export type Paint = (style: Style, text: string) => string;

/** The data of a View: what `--json` and its siblings print, exactly. */
export type Data =
  | {
      readonly shape: 'record';
      readonly record: unknown;
      readonly columns?: readonly Column[];
      /** What people see it called, for --fields: its page has words of its own. */
      readonly labels?: readonly Column[];
    }
  | {
      readonly shape: 'list';
      readonly records: Iterable<unknown> | AsyncIterable<unknown>;
      readonly columns: readonly Column[];
      readonly labels?: readonly Column[];
      /** Every field of a record: the columns of csv, the same for every page. Without it, the first record's. */
      readonly fields?: readonly string[];
      /**
       * What a record may have, for --fields where the list is empty; without it, `fields`. `any`: the service may show what
       * its document does not name.
       */
      readonly known?: readonly string[] | 'any';
      /** The user named the columns, as with --fields: one that has no room is told. */
      readonly asked?: boolean;
      /** Printed on a terminal where the list is empty. */
      readonly empty?: string;
    }
  /** Records that come while people watch: a line each; with --json one JSON object a line. */
  | {
      readonly shape: 'stream';
      readonly records: AsyncIterable<unknown>;
      line(record: unknown, terminal: Terminal | undefined): string;
      /** Each record tells of something that was changed: their outcome holds also where nobody reads them. */
      readonly isDone?: boolean;
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
  /**
   * One line about what a write changed: all that a terminal shows, unless a format or fields were asked for. Where it
   * is among the notes too, it is said with the record elsewhere.
   */
  readonly done?: string;
  /** Sentences in place of the table or the record: a terminal shows them broken between words, a pipe as they are. */
  readonly said?: string;
  /** What people see on a terminal instead of the plain table or record. Must sanitize customer text itself. */
  readonly human?: (terminal: Terminal) => string | Promise<string>;
  /** The same in a pipe, where it differs from rows of `data`. */
  readonly plain?: () => string;
  /** One value or one text: the setting `output` is for tables and records, and would break `$(…)`. A flag and SVC_OUTPUT hold. */
  readonly isBare?: true;
  /** Lines for standard error, after the data. A function is asked once the data is out. */
  readonly notes?: readonly string[] | (() => readonly string[]);
  /** Finished, but not with exit 0. `failed`: what was asked for was found not to hold (doctor, verify). */
  readonly outcome?: 'partial' | 'differs' | 'failed' | (() => 'partial' | 'differs' | 'failed' | undefined);
  /** Of `partial`: what programs are told in place of the first note. */
  readonly why?: string | undefined;
  /** Printed once the data is out, as if it were thrown: what was done until then is worth its report. */
  readonly failure?: Failure;
  /** Ends with this code instead; only for a command that runs another program. */
  readonly exitCode?: number | (() => number);
};

/** Its notes, asked for now: once the data is out. */
export const notesIn = ({ notes = [] }: Pick<View, 'notes'>): readonly string[] =>
  typeof notes === 'function' ? notes() : notes;
