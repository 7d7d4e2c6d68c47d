import type { Client, QueryArrayConfig } from 'pg';
import { Failure } from '../../errors.ts';
import { type Answer, literal, type Question, queryEnded } from '../tables/store.ts';
import { roleForQueries, unboundRoles } from './row-security.ts';
import { intervalType, schemaName } from './values.ts';

const piece = 500;

type Source = { readonly connect: () => Promise<Client>; readonly fail: (error: unknown) => unknown };

/**
 * As a cursor in a read-only transaction on a connection of its own, bound to the account: a cursor takes queries alone, and
 * the extended protocol one statement alone, whatever the text says.
 *
 * @throws Failure `usage` for a superuser, and for whoever can become one: nothing would hold the query
 */
export async function query(
  { connect, fail }: Source,
  { text, account, views }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const client = await connect();
  const session: Session = { backend: undefined, isOver: false };
  const stop = () => void cancel(connect, session);
  const end = async () => {
    session.isOver = true;
    signal.removeEventListener('abort', stop);
    await client.query('ROLLBACK').catch(() => {});
    await client.end().catch(() => {});
  };
  const ask = async (statement: string) => {
    // A cancel between two statements ends neither.
    if (signal.aborted) throw queryEnded(signal);
    const asked: Statement = { text: statement, queryMode: 'extended', rowMode: 'array' };
    try {
      return await client.query<unknown[]>(asked);
    } catch (error) {
      throw signal.aborted ? queryEnded(signal) : fail(error);
    }
  };
  const askTheirs = (statement: string) => ask(statement).catch((error) => Promise.reject(ofQuery(error)));
  signal.addEventListener('abort', stop);
  try {
    // All of it in one transaction: behind a pooler the next one may be in another session, which is not bound.
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await ask('SET LOCAL search_path TO pg_catalog, pg_temp');
    await endWithUs(client, ask);
    const [powerful] = (await ask(unboundRoles)).rows;
    if (powerful) throw tooPowerful(String(powerful[0]));
    [session.backend] = (await ask('SELECT pg_backend_pid()')).rows[0] ?? [];
    const { service, id } = account;
    await ask(
      `CREATE OR REPLACE TEMP VIEW svc_whose AS SELECT ${literal(service)}::text AS service, ${literal(id)}::text AS account_id`,
    );
    for (const { name, text: query } of views) await ask(`CREATE OR REPLACE TEMP VIEW "${name}" AS ${query}`);
    await ask(`SET LOCAL search_path TO pg_temp, ${schemaName}, public`);
    await ask("SET LOCAL TIME ZONE 'UTC'");
    await ask('SET LOCAL intervalstyle TO iso_8601');
    await ask('SET LOCAL row_security TO on');
    await ask('SET TRANSACTION READ ONLY');
    await askTheirs(`DECLARE svc_query NO SCROLL CURSOR FOR ${text}\n`);
    const fetch = () => askTheirs(`FETCH ${piece} FROM svc_query`);
    const first = await fetch();
    async function* rows() {
      try {
        for (let part = first; part.rows.length > 0; part = await fetch()) {
          yield* part.rows;
        }
      } finally {
        await end();
      }
    }
    const columns = distinct(first.fields.map(({ name }) => name));
    const durations = columns.filter((_, at) => first.fields[at]?.dataTypeID === intervalType);
    return { columns, durations, rows: rows() };
  } catch (error) {
    await end();
    throw error;
  }
}

/** What a query may not do is no reason to give its role more. */
const ofQuery = (error: unknown): unknown =>
  error instanceof Failure && error.kind === 'forbidden'
    ? new Failure(error.kind, error.message, {
        hint: 'A query reads the copy, with the rights of its role.',
        cause: error,
      })
    : error;

const tooPowerful = (role: string): Failure =>
  new Failure(
    'usage',
    `A query would have the rights of ${role}, which reads other accounts and the server's files. Nothing was asked.`,
    {
      hint: `Make a role for it, and name that in SVC_MIRROR_DB. To pull, give the URL of the copy's owner in --db:\n${roleForQueries}`,
    },
  );

/** The library knows `queryMode`, its types do not. */
type Statement = QueryArrayConfig & { readonly queryMode: 'extended' };

/** A second column of one name is `name:1`, as in SQLite. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}:${times}`;
  });
}

/** `backend`: the server's own number of the session. That which the connection was told may be a pooler's. */
type Session = { backend: unknown; isOver: boolean };

/** Again until the session is over: a cancel that arrives before the statement has begun ends nothing. */
async function cancel(connect: () => Promise<Client>, session: Session): Promise<void> {
  if (session.backend === undefined || session.isOver) return;
  const other = await connect().catch(() => undefined);
  while (other && !session.isOver) {
    const wait = 'SELECT pg_catalog.pg_cancel_backend($1), pg_catalog.pg_sleep(0.1)';
    if (!(await other.query(wait, [session.backend]).catch(() => false))) break;
  }
  await other?.end().catch(() => {});
}

/**
 * The server looks every two seconds whether svc is still there: a process that was killed cancels nothing, and its query would work
 * on for ever. PostgreSQL before 14 has no such setting, and a server on Windows refuses it.
 */
async function endWithUs(client: Client, ask: (statement: string) => Promise<unknown>): Promise<void> {
  const set = `SELECT set_config(name, '2000', true) FROM pg_settings WHERE name = 'client_connection_check_interval'`;
  try {
    await client.query(`SAVEPOINT svc_looks; ${set}; RELEASE SAVEPOINT svc_looks`);
  } catch {
    await ask('ROLLBACK TO SAVEPOINT svc_looks');
    await ask('RELEASE SAVEPOINT svc_looks');
  }
}
