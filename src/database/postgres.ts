import type { Client, ClientConfig } from 'pg';
import type { Env } from '../env.ts';
import { codeOf, Failure, messageOf } from '../errors.ts';
import { oneByOne } from '../promise/one-by-one.ts';
import { withStrictTls } from './place.ts';
import { beginSession, CommitLost, isSqlState, type Opening, type Session, type Statement } from './session.ts';

/** One connection to Postgres, made when it is first needed, and again after it broke. */
export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** One statement after the other: `pg` does not keep a queue of its own for long. */
type Connection = { readonly session: Session; readonly inTurn: ReturnType<typeof oneByOne> };

/** Longer than any statement takes on a server that answers; so a cut network is noticed. */
const patienceMs = 10_000;

/** Nothing is sent yet. Throws a usage Failure, without the URL, where it cannot be read. */
export async function openDatabase(opening: Opening) {
  const config = await configOf(opening);
  const { default: pg } = await import('pg');
  /** Host, port and database: never a password. */
  const place = placeOf(config);
  const fail = (error: unknown) => databaseFailure(place, error, opening.passwordHint);
  let present: Promise<Connection> | undefined;
  let closed = false;

  const connect = async (broken: () => void): Promise<Connection> => {
    const client = new pg.Client(config);
    // A connection that breaks while nothing is asked is made again for the next statement.
    client.on('error', broken);
    client.on('end', broken);
    await connectOrEnd(client);
    try {
      return { session: await beginSession(client, opening, place), inTurn: oneByOne() };
    } catch (error) {
      // Its end makes place for another one.
      void client.end().catch(() => {});
      throw error;
    }
  };
  const open = (): Promise<Connection> => {
    const opened: Promise<Connection> = connect(() => {
      if (present === opened) present = undefined;
    });
    return opened;
  };
  return {
    place,
    /**
     * One statement, prepared where it has a name. Several in one text, without values, are one transaction; the rows are
     * those of the last. A lost connection rejects: as `unknown` where the change may have been made, else as `network`.
     */
    async query(statement: Statement) {
      if (closed) throw new Failure('network', `The connection to ${place} is closed.`);
      const connecting = present ?? open();
      present = connecting;
      try {
        const { session, inTurn } = await connecting;
        return await inTurn(() => session.ask(statement)).catch((error: unknown) => {
          // What the server itself refused leaves the connection as it was.
          if (!isRefusal(error)) session.end();
          throw error;
        });
      } catch (error) {
        if (present === connecting && !isRefusal(error)) present = undefined;
        throw fail(error);
      }
    },
    async close(): Promise<void> {
      closed = true;
      const connection = await present?.catch(() => undefined);
      await connection?.session.end();
    },
  };
}

async function configOf({ url, env, application }: Opening): Promise<ClientConfig> {
  return {
    ...(await readUrl(url, env)),
    application_name: application,
    connectionTimeoutMillis: patienceMs / 2,
    query_timeout: patienceMs,
    keepAlive: true,
  };
}

/** What a postgres:// URL says, with the password of the environment where it has none. */
export async function readUrl(url: string, env: Env): Promise<ClientConfig> {
  const { parseIntoClientConfig } = await import('pg-connection-string');
  try {
    const config = parseIntoClientConfig(withStrictTls(url));
    // Empty where the URL has none.
    const password = config.password || env.PGPASSWORD;
    return { ...config, ...(password !== undefined && { password }) };
  } catch {
    throw new Failure('usage', 'The postgres:// URL cannot be read.', {
      hint: 'It looks like postgres://user@host:5432/database',
    });
  }
}

/** One that could not be connected would hold its socket, and with it the process. */
export async function connectOrEnd(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

/** What the server or the library says, in words that do not need either's manual. */
export function reasonOf(error: unknown): string {
  const said = messageOf(error) || (codeOf(error) ?? '');
  // The library's own word for a connection that broke while nothing was asked.
  if (/not queryable/u.test(said)) return 'the connection broke';
  return /client password must be a/u.test(said) ? 'it asks for a password, and none is given' : said;
}

/** It does not answer, whatever it has done: another time it may. */
export const isAway = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'network' || error.kind === 'unknown');

/** Host, port and database, as a person names them. */
export function placeOf({ host, port, database, user }: ClientConfig): string {
  const name = database ?? user ?? '';
  return host?.startsWith('/')
    ? `postgres:///${name} at ${host}`
    : `postgres://${host ?? ''}${port ? `:${port}` : ''}/${name}`;
}

const isRefusal = (error: unknown): boolean => error instanceof Failure || isSqlState(error);

/** The server's own words hold no password. */
function databaseFailure(place: string, error: unknown, passwordHint: string): Failure {
  if (error instanceof Failure) return error;
  const code = codeOf(error) ?? '';
  const said = reasonOf(error);
  if (error instanceof CommitLost)
    return new Failure(
      'unknown',
      `${place} did not say whether it made the change, so it may or may not be there: ${said}.`,
      {
        hint: 'Look before you repeat it.',
        cause: error,
      },
    );
  if (code.startsWith('28') || /password|SASL/iu.test(said)) {
    return new Failure('auth', `The database ${place} refuses the login: ${said}.`, { hint: passwordHint });
  }
  if (!isSqlState(error)) {
    return new Failure('network', `The database ${place} cannot be reached: ${said}.`, {
      hint: 'Is it running? What it holds is not lost.',
      cause: error,
    });
  }
  if (code.startsWith('53')) return new Failure('failed', `The database ${place} is full: ${said}.`);
  if (code === '42501') {
    return new Failure('forbidden', `The database ${place} does not allow it: ${said}.`, {
      hint: 'The role needs CREATE on the database.',
    });
  }
  return new Failure('failed', `The database ${place} refused: ${said}.`, { cause: error });
}
