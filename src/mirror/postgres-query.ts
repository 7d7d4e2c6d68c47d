import type { Client, QueryArrayConfig } from 'pg';
import { Failure, interruption } from '../errors.ts';
import { schemaName } from './postgres-values.ts';
import { roleForQueries, unboundRoles } from './row-security.ts';
import { type Answer, literal, type Question } from './store.ts';

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
  const stop = () => void cancel(connect, client);
  const end = async () => {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => {});
  };
  const ask = async (statement: string): Promise<Fetched> => {
    const asked: Statement = { text: statement, queryMode: 'extended', rowMode: 'array' };
    try {
      return await client.query<unknown[]>(asked);
    } catch (error) {
      if (signal.aborted) throw interruption(signal, 'Interrupted; the query was ended.');
      throw fail(error);
    }
  };
  signal.addEventListener('abort', stop);
  try {
    const [powerful] = (await ask(unboundRoles)).rows;
    if (powerful) throw tooPowerful(String(powerful[0]));
    const { service, id } = account;
    await ask(
      `CREATE TEMP VIEW svc_whose AS SELECT ${literal(service)}::text AS service, ${literal(id)}::text AS account_id`,
    );
    for (const { name, text: query } of views) await ask(`CREATE TEMP VIEW "${name}" AS ${query}`);
    await ask(`SET search_path TO pg_temp, ${schemaName}, public`);
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await ask(`DECLARE svc_query NO SCROLL CURSOR FOR ${text}\n`);
    const fetch = () => ask(`FETCH ${piece} FROM svc_query`);
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
    return { columns: distinct(first.fields.map(({ name }) => name)), rows: rows() };
  } catch (error) {
    await end();
    throw error;
  }
}

const tooPowerful = (role: string): Failure =>
  new Failure(
    'usage',
    `A query would have the rights of ${role}, which reads other accounts and the server's files. Nothing was asked.`,
    { hint: `Make a role for it, and name that in SVC_MIRROR_DB:\n${roleForQueries}` },
  );

/** The library knows `queryMode`, its types do not. */
type Statement = QueryArrayConfig & { readonly queryMode: 'extended' };

type Fetched = { readonly fields: readonly { readonly name: string }[]; readonly rows: readonly unknown[][] };

/** A second column of one name is `name:1`, as in SQLite. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}:${times}`;
  });
}

async function cancel(connect: () => Promise<Client>, client: Client): Promise<void> {
  const { processID } = client as Client & { readonly processID?: number };
  const other = await connect().catch(() => undefined);
  await other?.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => {});
  await other?.end().catch(() => {});
}
