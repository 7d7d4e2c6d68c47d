import { applicationId } from '../../disk/place/copy-mark.ts';
import { Failure } from '../../errors.ts';
import type { Answer, Sql, Value, View } from '../tables/store.ts';
import type { Connection, Mode } from './connection.ts';
import { damaged, isBusy } from './failure.ts';
import type { LockNeeds } from './locks.ts';
import { areOurs, belongsToAnother, type Found, lookAt, notOurs } from './ownership.ts';

export type Use = 'read' | 'write';

export type CopyFile = { readonly ctx: LockNeeds; readonly path: string; readonly isOwn: boolean };

/** One of the two programs that read and write SQLite files. */
export type SqliteEngine = {
  /** `check` throws where a pull of this process has lost its lock: then nothing more is written. */
  transact<T>(use: Use, begin: string, job: (sql: Sql) => Promise<T>, check: () => void): Promise<T>;
  /** A statement outside of a transaction. */
  exec(text: string): Promise<void>;
  query(text: string, views: readonly View[], signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
};

export type Start = (mode: Mode) => Connection;

/**
 * Open, and for writing, if the file is svc's or nobody's: that is settled in one transaction, with the mark. `entry`: of the
 * lock without which nothing may be written, where the engine has no locks of its own.
 */
export function openedForWriting(
  place: CopyFile,
  start: Start,
  { isWal, entry }: { readonly isWal: boolean; readonly entry?: string },
): Promise<Connection> {
  return opened(start({ readOnly: false, isWal }), async (connection) => {
    await connection.ask('open', { ...(entry !== undefined && { entry }) });
    // Neither may be written into another program's database, which is not known to be one before.
    await connection.ask('exec', { text: 'PRAGMA page_size = 8192' });
    await connection.ask('settle', { isMixed: await claim(connection, place.path) });
  });
}

export const openedForReading = (start: Start, mode: Omit<Mode, 'readOnly'>): Promise<Connection> =>
  opened(start({ readOnly: true, ...mode }), (connection) => connection.ask('open'));

/** The connection once it is begun with, ended where that fails. */
async function opened(
  connection: Connection,
  begin: (connection: Connection) => Promise<unknown>,
): Promise<Connection> {
  try {
    await begin(connection);
    return connection;
  } catch (error) {
    await connection.end();
    throw error;
  }
}

/** Closes the database, and then what works on it. */
export async function endOf(connection: Connection): Promise<void> {
  await connection.ask('close').catch(() => {});
  await connection.end();
}

/** Marks the file as svc's. Returns whether another program has tables in it too: then it keeps its own mark. */
async function claim(connection: Connection, path: string): Promise<boolean> {
  if (await isMarked(connection)) return false;
  await connection.ask('exec', { text: 'BEGIN IMMEDIATE' });
  try {
    const names = await tableNames(connection);
    // Another program may have made it since svc looked.
    if (names.length > 0 && !areOurs(names)) throw notOurs(path, belongsToAnother);
    const { isOurs } = await import('./own-names.ts');
    const isMixed = !names.every(isOurs);
    if (!isMixed) await connection.ask('exec', { text: `PRAGMA application_id = ${applicationId}` });
    await connection.ask('exec', { text: 'COMMIT' });
    return isMixed;
  } catch (error) {
    await connection.ask('exec', { text: 'ROLLBACK' }).catch(() => {});
    throw error;
  }
}

async function isMarked(connection: Connection): Promise<boolean> {
  const [row] = await connection.ask('all', { text: 'PRAGMA application_id', values: [] });
  return row?.application_id === applicationId;
}

const tableNames = async (connection: Connection): Promise<string[]> =>
  (
    await connection.ask('all', {
      text: "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'",
      values: [],
    })
  ).map(({ name }) => String(name));

/**
 * Looks whose file it is; nothing is changed, and no lock of it is taken. A database without a mark is svc's if it has svc's
 * tables.
 *
 * @throws Failure `usage` where it is not svc's
 */
export async function requireOurs({ path, isOwn }: CopyFile, start: Start): Promise<Found['whose']> {
  const { whose } = await lookAt(path, isOwn);
  if (whose === 'damaged') throw damaged(path, 'it is no database any more');
  if (whose !== 'unmarked') return whose;
  let names: string[];
  try {
    const connection = await openedForReading(start, { isWal: false, isFixed: true });
    names = await tableNames(connection).finally(connection.end);
  } catch (error) {
    if (isOwn || !(error instanceof Failure)) throw error;
    throw notOurs(path, 'is a database that cannot be read, and has no mark of svc');
  }
  if (!areOurs(names)) throw notOurs(path, belongsToAnother);
  return 'ours';
}

export const sqlOn = (connection: Connection): Sql => ({
  engine: 'sqlite',
  all: (text, values = []) => connection.ask('all', { text, values: plain(values) }),
  run: async (text, values = []) => void (await connection.ask('run', { text, values: plain(values) })),
});

/** SQLite has no truth values. */
const plain = (values: readonly Value[]): readonly Value[] =>
  values.map((value) => (typeof value === 'boolean' ? Number(value) : value));

const mostBusyMs = 120_000;

/** Again and again while another program has the file, so that Ctrl-C is heard; `--max-wait`, or two minutes, at most. */
export async function patiently({ ctx }: CopyFile, work: () => Promise<unknown>): Promise<void> {
  for (const began = ctx.clock.ticks(); ; ) {
    try {
      return void (await work());
    } catch (error) {
      if (!isBusy(error) || ctx.signal.aborted || ctx.clock.ticks() - began >= (ctx.maxWaitMs ?? mostBusyMs))
        throw error;
      await ctx.clock.sleep(20, ctx.signal);
    }
  }
}
