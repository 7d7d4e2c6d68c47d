import type { Client, QueryResult } from 'pg';
import type { Env } from '../env.ts';
import { codeOf, type Failure, messageOf } from '../errors.ts';
import type { Fields } from '../text/record.ts';

export type Statement = {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
  /** Of what writes: what is locked first, so that what `guard` sees stays so until the end. */
  readonly lock?: string;
  /** Looks at the rows before they are committed: what it throws undoes the statement. */
  readonly check?: (rows: readonly Fields[]) => void;
};

export type Opening = {
  readonly url: string;
  readonly env: Env;
  /** What the server's list of connections shows. */
  readonly application: string;
  /** Where a password may be given, for a hint. */
  readonly passwordHint: string;
  /** `name = value`, for all that is asked. */
  readonly settings?: readonly string[];
  /** Asked before each statement with a lock: a row of it is what stands against writing. */
  readonly guard?: { readonly text: string; readonly refuse: (found: Fields, place: string) => Failure };
};

/** A connection on which each statement has the settings and the guard, whatever lies between it and the server. */
export type Session = Awaited<ReturnType<typeof beginSession>>;

/**
 * The server would compile a statement that it takes for long. Ours are short; what steers their plans (`enable_seqscan = off`) only
 * makes them look long, and compiling one takes a hundred times as long as running it.
 */
const always = ['jit = off'];

/**
 * Behind a pooler (PgBouncer with `pool_mode=transaction`) the next transaction may be in another session of the server, and what is
 * set in a session is found by whoever has it next. So there each statement is in a transaction of its own that begins with the
 * settings, and none is prepared by name. A pooler is known by the number of the session, which it makes up.
 */
export async function beginSession(
  client: Client,
  { settings = [], guard }: Pick<Opening, 'settings' | 'guard'>,
  place: string,
) {
  const [own] = (await client.query('SELECT pg_catalog.pg_backend_pid() AS pid')).rows;
  const isPooled = own?.pid !== numberOf(client);
  const all = [...always, ...settings].map((one) => `SET${isPooled ? ' LOCAL' : ''} ${one}; `).join('');
  const look = isPooled ? (guard?.text ?? '') : 'EXECUTE svc_guard';
  if (!isPooled) await client.query(`${all}${guard ? `PREPARE svc_guard AS ${guard.text}` : ''}`);
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; ${isPooled ? all : ''}`;

  const inTransaction = async ({ lock, check, ...asked }: Statement): Promise<readonly Fields[]> => {
    try {
      const [found] = rowsOf(await client.query(lock && guard ? `${begin}${lock}; ${look}` : begin));
      if (found && lock && guard) throw guard.refuse(found, place);
      const rows = rowsOf(await client.query(asked));
      check?.(rows);
      await commit(client);
      return rows;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => client.end().catch(() => {}));
      throw error;
    }
  };
  return {
    async ask({ name, ...statement }: Statement) {
      const asked = { ...statement, name: isPooled ? undefined : name };
      return isPooled || asked.lock || asked.check ? inTransaction(asked) : rowsOf(await client.query(asked));
    },
    end: () => client.end().catch(() => {}),
  };
}

/** The answer to COMMIT was lost: what was written may stand, or not. */
export class CommitLost extends Error {}

async function commit(client: Client): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (isSqlState(error)) throw error;
    throw new CommitLost(messageOf(error), { cause: error });
  }
}

/** Said by the server; those that end the connection are not among them. */
export const isSqlState = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && !/^(?:08|57P)/u.test(codeOf(error) ?? '');

/** What the server said at the beginning that the session's number is. The library keeps it, and does not say so in its types. */
const numberOf = (client: Client & { readonly processID?: unknown }): unknown => client.processID;

/** Of several statements in one text the rows of the last. The library's types know of one answer only. */
function rowsOf(answer: QueryResult | QueryResult[]): readonly Fields[] {
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  return last?.rows ?? [];
}
