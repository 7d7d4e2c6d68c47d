import type { Client, QueryArrayConfig } from 'pg';
import { interruption } from '../errors.ts';
import { schemaName } from './postgres-values.ts';
import type { Answer, View } from './store.ts';

const piece = 500;

type Source = { readonly connect: () => Promise<Client>; readonly fail: (error: unknown) => unknown };

/**
 * As a cursor in a read-only transaction on a connection of its own: a cursor takes queries alone, and the extended
 * protocol one statement alone, whatever the text says.
 */
export async function query(
  { connect, fail }: Source,
  text: string,
  views: readonly View[],
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
    for (const { name, text: query } of views) await ask(`CREATE TEMP VIEW "${name}" AS ${query}`);
    await ask(`SET search_path TO pg_temp, ${schemaName}, public`);
    const { rows: role } = await ask('SELECT rolsuper FROM pg_roles WHERE rolname = current_user');
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // A superuser's query could write files through functions.
    if (role[0]?.[0] === true) await ask('SET LOCAL ROLE pg_read_all_data');
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
