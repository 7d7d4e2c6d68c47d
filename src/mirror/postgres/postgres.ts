import type { Client } from 'pg';
import { connectOrEnd, placeOf, readUrl } from '../../database/postgres.ts';
import { requireOwnCode, requireTrusted } from '../../database/trust.ts';
import { oneByOne } from '../../promise/one-by-one.ts';
import type { Sql, Store } from '../tables/store.ts';
import { transaction } from '../tables/transaction.ts';
import { postgresFailure } from './failure.ts';
import { analyzeTables, lockTables, ownSchema, type PostgresPorts, rowsTaken, takeLock } from './lock.ts';
import { query } from './query.ts';
import { ownPolicy } from './row-security.ts';
import { ownSession, typeParser } from './values.ts';

/**
 * One connection, made when it is first needed; a transaction that finds it broken makes another. Nothing outside of a
 * transaction is relied on: a pooler may give each one another session of the server.
 */
export async function openPostgres(ctx: PostgresPorts, url: string): Promise<Store> {
  const { default: pg } = await import('pg');
  const config = {
    ...(await readUrl(url, ctx.env)),
    connectionTimeoutMillis: 10_000,
    types: { getTypeParser: typeParser(pg.types) },
    application_name: 'svc mirror',
  };
  const place = placeOf(config);
  let wasConnected = false;
  const fail = (error: unknown) => postgresFailure(place, error, wasConnected);

  const connect = async (lost: (error?: unknown) => void = () => {}): Promise<Client> => {
    const client = new pg.Client(config);
    // A connection that breaks while nothing is asked is told by the next question.
    client.on('error', lost);
    await connectOrEnd(client).catch((error) => {
      throw fail(error);
    });
    wasConnected = true;
    return client;
  };
  let main: Promise<Client> | undefined;
  const client = async (): Promise<Client> => {
    const present = await main?.catch(() => undefined);
    // The library marks a connection that has ended, and does not say so in its types.
    if (present && !(present as Client & { readonly _ended?: boolean })._ended) return present;
    const opened: Promise<Client> = connect(() => {
      if (main === opened) main = undefined;
    });
    main = opened;
    return opened;
  };
  // A connection has one transaction at a time.
  const work = oneByOne();
  const inTransaction =
    (begin: string) =>
    <T>(job: (sql: Sql) => Promise<T>): Promise<T> =>
      work(async () => within(await client(), `${begin}; ${ownSession}`, job, fail));
  const writing = inTransaction('BEGIN');
  let isTrusted = false;

  return {
    engine: 'postgres',
    holdsThread: false,
    place,
    write: (job, what = 'rows') =>
      writing(async (sql) => {
        await lockTables(sql, what);
        await (isTrusted ? requireOwnCode : requireTrusted)(sql.all, place, {
          ...ownSchema,
          ...(what === 'tables' && { remade: ownPolicy }),
        });
        isTrusted = true;
        return job(sql);
      }),
    read: inTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    alone: async (account, job, maxWaitMs) => {
      // A connection of its own: the lock is that of one transaction, which is open for as long as the pull takes.
      let lost: unknown;
      const holder = await connect((error) => {
        lost = error ?? new Error('Connection terminated');
      });
      try {
        await takeLock({ ctx, client: holder, fail }, account, maxWaitMs);
        return await job(() => {
          if (lost !== undefined) throw fail(lost);
        });
      } finally {
        await holder.query('ROLLBACK').catch(() => {});
        await holder.end().catch(() => {});
      }
    },
    query: (question, signal) => query({ connect, fail }, question, signal),
    analyze: () => writing(analyzeTables),
    // The server does both by itself.
    compact: async () => {},
    remove: async () => {},
    close: async () => {
      await work(async () => (await main?.catch(() => undefined))?.end().catch(() => {}));
    },
  };
}

async function within<T>(
  client: Client,
  begin: string,
  job: (sql: Sql) => Promise<T>,
  fail: (error: unknown) => unknown,
): Promise<T> {
  const ask = async (text: string, values: readonly unknown[] = []) =>
    client.query(text, [...values]).catch((error) => {
      throw fail(error);
    });
  const sql: Sql = {
    engine: 'postgres',
    all: async (text, values) => (await ask(text, values)).rows,
    run: async (text, values, rows) => {
      const { rowCount } = await ask(text, values);
      if (rows !== undefined && rowCount !== rows) throw rowsTaken(text);
    },
  };
  return transaction(ask, begin, () => job(sql));
}
