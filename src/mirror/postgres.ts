import type { Client } from 'pg';
import type { Context } from '../context.ts';
import { connectOrEnd, placeOf, readUrl } from '../database/postgres.ts';
import { Failure, interruption } from '../errors.ts';
import { digestOf } from '../text/digest.ts';
import { postgresFailure } from './postgres-failure.ts';
import { query } from './postgres-query.ts';
import { schemaName, typeParser } from './postgres-values.ts';
import type { Account, Sql, Store } from './store.ts';
import { oneByOne, transaction } from './transaction.ts';

type Needs = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice' | 'env'>;

/** One connection, made when it is first needed; a transaction that finds it broken makes another. */
export async function openPostgres(ctx: Needs, url: string): Promise<Store> {
  const { default: pg } = await import('pg');
  const config = {
    ...(await readUrl(url, ctx.env)),
    connectionTimeoutMillis: 10_000,
    types: { getTypeParser: typeParser(pg.types) },
    application_name: 'svc mirror',
  };
  const place = placeOf(config);
  const fail = (error: unknown) => postgresFailure(place, error);

  const connect = async (lost = () => {}): Promise<Client> => {
    const client = new pg.Client(config);
    // A connection that breaks while nothing is asked is told by the next question.
    client.on('error', lost);
    await connectOrEnd(client).catch((error) => {
      throw fail(error);
    });
    await client.query(`SET search_path TO ${schemaName}, public; SET TIME ZONE 'UTC'`).catch((error) => {
      throw fail(error);
    });
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
  const work = oneByOne();
  const inTransaction =
    (begin: string) =>
    <T>(job: (sql: Sql) => Promise<T>): Promise<T> =>
      work(async () => within(await client(), begin, job, fail));

  return {
    engine: 'postgres',
    place,
    write: inTransaction('BEGIN'),
    read: inTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    alone: async (account, job, maxWaitMs) => {
      // A connection of its own: the lock is the session's, and ends with it.
      const holder = await connect();
      try {
        await takeLock({ ctx, client: holder, fail }, account, maxWaitMs);
        // A session that has lost its connection holds nothing, and says so at the next statement.
        return await job(() => {});
      } finally {
        await holder.end().catch(() => {});
      }
    },
    query: (question, signal) => query({ connect, fail }, question, signal),
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
  const ask = async (text: string, values: readonly unknown[] = []) => {
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      throw fail(error);
    }
  };
  const sql: Sql = {
    engine: 'postgres',
    all: async (text, values) => (await ask(text, values)).rows,
    run: async (text, values) => void (await ask(text, values)),
  };
  return transaction(ask, begin, () => job(sql));
}

/** Asked again and again rather than waited for, so that Ctrl-C is heard. */
type Holder = { readonly ctx: Needs; readonly client: Client; readonly fail: (error: unknown) => unknown };

async function takeLock(
  { ctx, client, fail }: Holder,
  { service, id }: Account,
  maxWaitMs = defaultMaxWaitMs,
): Promise<void> {
  const key = digestOf(`svc mirror\n${service}\n${id}`).readBigInt64BE(0).toString();
  const began = ctx.clock.ticks();
  for (let told = false; ; ) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1::bigint) AS taken', [key]).catch((error) => {
      throw fail(error);
    });
    if (rows[0]?.taken) return ctx.progress(undefined);
    if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted while waiting.');
    const waitedMs = ctx.clock.ticks() - began;
    if (waitedMs > maxWaitMs) {
      throw new Failure(
        'failed',
        `Another svc has used the copy of this account for more than ${Math.round(maxWaitMs / 1000)} s.`,
        {
          hint: 'Wait for it, or end it.',
        },
      );
    }
    ctx.progress('Waiting for another pull of this account');
    if (!told && waitedMs > 5000) {
      ctx.notice('Waiting for another pull of this account.');
      told = true;
    }
    await ctx.clock.sleep(100, ctx.signal);
  }
}

const defaultMaxWaitMs = 120_000;
