import type { Row } from '../tables/store.ts';

/** What a connection to the file does, and what it answers. */
export type Answers = Readonly<Record<'open' | 'run' | 'exec' | 'close', undefined>> & {
  /** Once it is known that the file is svc's: how it is written from now on. */
  readonly settle: undefined;
  readonly all: Row[];
  /** The names of the columns. */
  readonly query: string[];
  readonly next: { readonly rows: readonly (readonly unknown[])[]; readonly done: boolean };
};

export type Work = keyof Answers;

/** SQLite at work on one file, by either engine. */
export type Connection = {
  readonly readOnly: boolean;
  ask<W extends Work>(work: W, given?: object): Promise<Answers[W]>;
  /** Ends it, whatever it is doing. */
  end(): Promise<void>;
};

export type Mode = {
  readonly readOnly: boolean;
  /** The file has a write-ahead log. */
  readonly isWal: boolean;
  /** It is only looked at: no lock is taken, no journal heeded, and nothing made beside it. */
  readonly isFixed?: boolean;
};
