import { type Failure, interruption } from '../../errors.ts';
import { hexDigestOfShort } from '../../text/short-digest.ts';

export type Value = string | number | boolean | null;

export type Row = Readonly<Record<string, unknown>>;

export type Engine = 'sqlite' | 'postgres';

/** Statements inside of one transaction. Parameters are $1, $2, … in the order of their first use. */
export type Sql = {
  readonly engine: Engine;
  all(text: string, values?: readonly Value[]): Promise<Row[]>;
  /**
   * `rows`: how many it has to change. In PostgreSQL a trigger or a policy may take rows away without a word: then this throws,
   * and nothing of the transaction is done.
   */
  run(text: string, values?: readonly Value[], rows?: number): Promise<void>;
};

/** Whose records: part of the key of every table, so that several accounts live in one database. */
export type Account = {
  /** The origin of the service. */
  readonly service: string;
  /** The account's id; of a credential that may not ask for it, a name made from the credential. */
  readonly id: string;
  readonly name?: string;
};

/** The rows of one account; every statement on records begins with these parameters. */
export const owned = 'service = $1 AND account_id = $2';

export const ownerOf = ({ service, id }: Account): readonly [string, string] => [service, id];

/** For names of files. */
export const shortNameOf = ({ service, id }: Account): string => hexDigestOfShort(`${service}\n${id}`).slice(0, 12);

/** The answer of a query, in pieces while it is read. */
export type Answer = {
  readonly columns: readonly string[];
  /** Those that hold how long something took, as ISO 8601 writes it: `P1DT2H5M`. */
  readonly durations?: readonly string[];
  readonly rows: AsyncIterable<readonly unknown[]>;
};

/** The database of the copy. `sqlite.ts` and `postgres.ts` are the two there are; the same tests run on both. */
export type Store = {
  readonly engine: Engine;
  /** While a query looks for its next row nothing else runs in this process, and no signal is heard. */
  readonly holdsThread: boolean;
  /** For messages; without a password. */
  readonly place: string;
  /** One transaction, alone; durable when it resolves, and undone where `work` throws. `what`: that it changes. */
  write<T>(work: (sql: Sql) => Promise<T>, what?: 'rows' | 'tables'): Promise<T>;
  /** One consistent look. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * `work` while no other pull of that account runs, in this or any other process. Waits for the other as long as
   * `--max-wait` says, or two minutes. `check` throws where another process has taken its place; to be asked right
   * before each request. `write` asks it by itself.
   */
  alone<T>(account: Account, work: (check: () => void) => Promise<T>, maxWaitMs?: number): Promise<T>;
  /** A query that somebody typed: read-only, whatever it says, and ended by `signal`. */
  query(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Lets the database count what it holds, after many rows were written. */
  analyze(): Promise<void>;
  /** Leaves nothing of what was deleted in the file. */
  compact(): Promise<void>;
  /** Removes the file, where nothing is left in it. */
  remove(): Promise<void>;
  close(): Promise<void>;
};

/** A signal has ended a query. */
export const queryEnded = (signal: AbortSignal): Failure => interruption(signal, 'Interrupted; the query was ended.');

/** A query, whose records it may see, and under which names. */
export type Question = { readonly text: string; readonly account: Account; readonly views: readonly View[] };

/** A view of one table for one query. */
export type View = { readonly name: string; readonly text: string };

/** `$3, $4, $5` */
export const placeholders = (first: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `$${first + at}`).join(', ');

/** How many rows there are; `from`: the table, and which of its rows. */
export async function countRows(sql: Sql, from: string, values: readonly Value[]): Promise<number> {
  const [row] = await sql.all(`SELECT count(*) AS n FROM ${from}`, values);
  return Number(row?.n);
}

/** Puts a row of the account in the place of the one with the same key. */
export async function putRow(
  sql: Sql,
  account: Account,
  table: string,
  { key, values }: Readonly<Record<'key' | 'values', Readonly<Record<string, Value>>>>,
): Promise<void> {
  const row = { ...key, ...values };
  const columns = ['service', 'account_id', ...Object.keys(row)];
  const changed = Object.keys(values).map((name) => `${name} = excluded.${name}`);
  await sql.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders(1, columns.length)}) ` +
      `ON CONFLICT (service, account_id, ${Object.keys(key).join(', ')}) DO UPDATE SET ${changed.join(', ')}`,
    [...ownerOf(account), ...Object.values(row)],
    1,
  );
}

/** Some columns are named like words of SQL. */
export const quoted = (name: string): string => `"${name}"`;

/** A text as it stands in a statement. Only for what has no parameters, such as a view. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const pieceSizes = [100, 10];

/** In hundreds, tens and ones: so there are few statements, and each is prepared once. */
export function* pieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; ) {
    const left = all.length - at;
    const size = pieceSizes.find((one) => one <= left) ?? 1;
    yield all.slice(at, at + size);
    at += size;
  }
}
