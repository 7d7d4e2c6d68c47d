import { pathToFileURL } from 'node:url';
import { messageOf } from '../../errors.ts';
import type { Value, View } from '../tables/store.ts';
import type { Answers, Connection, Mode, Work } from './connection.ts';
import { sqliteFailure } from './failure.ts';
import type { NodeDatabase, NodeSqlite, NodeStatement } from './node-sqlite.ts';
import { oneStatement } from './one-statement.cjs';
import { allowQueries } from './query-guard.ts';

/** How long SQLite itself waits for another; the rest of the wait leaves room for Ctrl-C (sqlite.ts). */
const timeoutMs = 250;

type Prepared = { readonly statement: NodeStatement; readonly order: readonly number[] };

/** Node's own SQLite, in this thread. The operating system's locks keep it from every other program. */
export function startNative({ DatabaseSync }: NodeSqlite, path: string, { readOnly, isFixed }: Mode): Connection {
  let db: NodeDatabase | undefined;
  let rows: Iterator<readonly unknown[]> | undefined;
  const kept = new Map<string, Prepared>();
  const opened = (): NodeDatabase => {
    if (!db) throw new Error('the database is closed');
    return db;
  };
  const prepared = (text: string): Prepared => {
    const known = kept.get(text);
    if (known) return known;
    if (kept.size >= 32) kept.delete(String(kept.keys().next().value));
    const made = { statement: opened().prepare(text.replaceAll(parameter, '?')), order: orderIn(text) };
    kept.set(text, made);
    return made;
  };
  const bound = ({ order }: Prepared, values: readonly Value[]) => order.map((at) => values[at - 1] ?? null);
  const close = (): undefined => {
    kept.clear();
    rows = undefined;
    db?.close();
    db = undefined;
  };

  type Given = { text: string; isMixed: boolean; values: readonly Value[]; views: readonly View[]; most: number };
  const works: { readonly [W in Work]: (given: Given) => Answers[W] | Promise<Answers[W]> } = {
    open() {
      const place = isFixed ? `${pathToFileURL(path).href}?immutable=1` : path;
      db = new DatabaseSync(place, { readOnly, timeout: timeoutMs, enableForeignKeyConstraints: false });
      // Its first look at the file.
      db.exec('PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY; SELECT count(*) FROM sqlite_schema');
      return undefined;
    },
    settle({ isMixed }) {
      opened().exec('PRAGMA synchronous = FULL');
      try {
        if (!isMixed) opened().exec('PRAGMA journal_mode = WAL');
      } catch {
        // Another program reads it: the next one that opens it will.
      }
      return undefined;
    },
    run({ text, values }) {
      const made = prepared(text);
      // Its `run` would also read the last row's id, which in a full-text index can be larger than a number holds.
      made.statement.all(...bound(made, values));
      return undefined;
    },
    all({ text, values }) {
      const made = prepared(text);
      return made.statement.all(...bound(made, values));
    },
    exec: ({ text }) => void opened().exec(text),
    query({ text, views }) {
      for (const { name, text: query } of views) opened().exec(`CREATE TEMP VIEW "${name}" AS ${query}`);
      opened().setAuthorizer(allowQueries);
      const alone = oneStatement(text, (each) => opened().prepare(each));
      // Only a query can be a view: the engine itself refuses everything else here.
      opened().exec(`CREATE TEMP VIEW svc_query AS ${alone}`);
      const columns = opened().prepare("SELECT name FROM pragma_table_info('svc_query')").all();
      const statement = opened().prepare(alone);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      rows = statement.iterate();
      return columns.map(({ name }) => String(name));
    },
    next: ({ most }) => killable(() => piece(rows, most)),
    close,
  };
  return {
    readOnly,
    async ask<W extends Work>(work: W, given = {}): Promise<Answers[W]> {
      try {
        return await works[work](given as Given);
      } catch (error) {
        throw sqliteFailure(path, saidBy(error));
      }
    },
    end: async () => close(),
  };
}

/** `SQLITE_IOERR_WRITE` and `_SHMSIZE` (https://sqlite.org/rescode.html): why, the engine tells of a full disk alone. */
const failedWrites: readonly unknown[] = [778, 4874];

const saidBy = (error: unknown): string =>
  error instanceof Error && 'errcode' in error && failedWrites.includes(error.errcode)
    ? `${error.message} at a write: the disk fails, or a file may not grow any more (ulimit -f)`
    : messageOf(error);

/** Which value each mark takes. By their names, Node would look through all of a statement's thousands for each one. */
const orderIn = (text: string): number[] => [...text.matchAll(parameter)].map(([mark]) => Number(mark.slice(1)));

/** svc's own statements have none inside of a text. */
const parameter = /\$\d+/gu;

function piece(rows: Iterator<readonly unknown[]> | undefined, most: number): Answers['next'] {
  const some: (readonly unknown[])[] = [];
  while (rows && some.length < most) {
    const next = rows.next();
    if (next.done) return { rows: some, done: true };
    some.push(next.value.map(plain));
  }
  return { rows: some, done: rows === undefined };
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

/**
 * A query may take for ever, and nothing else runs in this thread meanwhile: so that a signal is not kept until it is
 * over, it ends the process, as it does where no program listens.
 */
async function killable<T>(work: () => T): Promise<T> {
  // One that has come already is heard first.
  await new Promise<void>((done) => setImmediate(done));
  const heard = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => ({ name, calls: process.listeners(name) }));
  for (const { name } of heard) process.removeAllListeners(name);
  try {
    return work();
  } finally {
    for (const { name, calls } of heard) for (const call of calls) process.on(name, call);
  }
}
