import type { Client, ClientConfig } from 'pg';
import type { Context } from '../context.ts';
import { Failure, interruption, messageOf } from '../errors.ts';
import { digestOf } from '../text/digest.ts';
import type { Account, Answer, Sql, Store, View } from './store.ts';

type Needs = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice' | 'env'>;

/** Where the copy lives among the tables of others. */
export const schemaName = 'svc_mirror';

/** One connection, made when it is first needed; a transaction that finds it broken makes another. */
export async function openPostgres(ctx: Needs, url: string): Promise<Store> {
  const [{ default: pg }, { parse }] = [await import('pg'), await import('pg-connection-string')];
  const parsed = parse(url);
  const password = parsed.password ?? ctx.env.PGPASSWORD;
  const config = {
    ...parsed,
    ...(password !== undefined && { password }),
    connectionTimeoutMillis: 10_000,
    types: { getTypeParser: typeParser(pg.types) },
    application_name: 'svc mirror',
  } as ClientConfig;
  const place = placeOf(config);
  const fail = (error: unknown) => postgresFailure(place, error);

  const connect = async (): Promise<Client> => {
    const client = new pg.Client(config);
    // A connection that breaks while nothing is asked is told by the next question.
    client.on('error', () => {});
    await client.connect().catch((error) => {
      throw fail(error);
    });
    await client.query(`SET search_path TO ${schemaName}, public; SET TIME ZONE 'UTC'`);
    return client;
  };
  let main: Promise<Client> | undefined;
  const client = async (): Promise<Client> => {
    const present = await main?.catch(() => undefined);
    // The library marks a connection that has ended, and does not say so in its types.
    if (present && !(present as Client & { readonly _ended?: boolean })._ended) return present;
    main = connect();
    return main;
  };
  const work = oneByOne();
  const transaction =
    (begin: string) =>
    <T>(job: (sql: Sql) => Promise<T>): Promise<T> =>
      work(async () => within(await client(), begin, job, fail));

  return {
    engine: 'postgres',
    place,
    write: transaction('BEGIN'),
    read: transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    alone: async (account, job) => {
      // A connection of its own: the lock is the session's, and ends with it.
      const holder = await connect();
      try {
        await takeLock(ctx, holder, account);
        return await job();
      } finally {
        await holder.end().catch(() => {});
      }
    },
    query: (text, views, signal) => query({ connect, fail }, text, views, signal),
    remove: () => transaction('BEGIN')(async ({ run }) => run(`DROP SCHEMA IF EXISTS ${schemaName} CASCADE`)),
    close: async () => {
      await work(async () => (await main?.catch(() => undefined))?.end().catch(() => {}));
    },
  };
}

/** Host, port and database, as a person names them. */
export function placeOf({ host, port, database, user }: ClientConfig): string {
  const name = database ?? user ?? '';
  return host?.startsWith('/')
    ? `postgres:///${name} at ${host}`
    : `postgres://${host ?? ''}${port ? `:${port}` : ''}/${name}`;
}

async function within<T>(
  client: Client,
  begin: string,
  job: (sql: Sql) => Promise<T>,
  fail: (error: unknown) => unknown,
): Promise<T> {
  const ask = async (text: string, values: readonly unknown[] = []) => {
    try {
      return await client.query(text, values as unknown[]);
    } catch (error) {
      throw fail(error);
    }
  };
  const sql: Sql = {
    engine: 'postgres',
    all: async (text, values) => (await ask(text, values)).rows,
    run: async (text, values) => void (await ask(text, values)),
  };
  await ask(begin);
  try {
    const value = await job(sql);
    await ask('COMMIT');
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

/** Asked again and again rather than waited for, so that Ctrl-C is heard. */
async function takeLock(ctx: Needs, client: Client, { service, id }: Account): Promise<void> {
  const key = digestOf(`svc mirror\n${service}\n${id}`).readBigInt64BE(0).toString();
  const began = ctx.clock.ticks();
  for (let told = false; ; ) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1::bigint) AS taken', [key]);
    if (rows[0]?.taken) return ctx.progress(undefined);
    if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted while waiting.');
    const waitedMs = ctx.clock.ticks() - began;
    if (waitedMs > longestWaitMs) {
      throw new Failure('failed', 'Another svc has had the copy of this account for more than 120 s.', {
        hint: 'Wait for it, or end it.',
      });
    }
    ctx.progress('Waiting for another pull of this account');
    if (!told && waitedMs > 5000) {
      ctx.notice('Waiting for another pull of this account.');
      told = true;
    }
    await ctx.clock.sleep(100, ctx.signal);
  }
}

const longestWaitMs = 120_000;
const piece = 500;

type Source = { readonly connect: () => Promise<Client>; readonly fail: (error: unknown) => unknown };

/**
 * As a cursor in a read-only transaction on a connection of its own: a cursor takes queries alone, and the extended
 * protocol one statement alone, whatever the text says.
 */
async function query(
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
  const ask = async (statement: string) => {
    try {
      return await client.query({ text: statement, queryMode: 'extended', rowMode: 'array' } as never);
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
    if ((role as unknown as unknown[][])[0]?.[0] === true) await ask('SET LOCAL ROLE pg_read_all_data');
    await ask(`DECLARE svc_query NO SCROLL CURSOR FOR ${text}\n`);
    const first = (await ask(`FETCH ${piece} FROM svc_query`)) as unknown as Fetched;
    async function* rows() {
      try {
        for (let part = first; part.rows.length > 0; part = (await ask(`FETCH ${piece} FROM svc_query`)) as never) {
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

/** Whole numbers as numbers where they are exact, times as the service writes them, JSON as it was stored. */
function typeParser(types: typeof import('pg')['types']) {
  const parsers: Readonly<Record<number, (text: string) => unknown>> = {
    20: exactNumber,
    1700: exactNumber,
    114: (text) => text,
    3802: (text) => text,
    1114: (text) => `${text.replace(' ', 'T')}Z`,
    1184: isoTime,
    1082: (text) => text,
  };
  return (oid: number, format?: 'text' | 'binary') =>
    (parsers[oid] ?? types.getTypeParser(oid as never, format as never)) as (text: string) => unknown;
}

function exactNumber(text: string): number | string {
  const value = Number(text);
  return String(value) === text || (Number.isFinite(value) && /^-?\d{1,14}(?:\.\d+)?$/u.test(text)) ? value : text;
}

const isoTime = (text: string): string => {
  const time = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/u, '$1:00'));
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
};

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ECONNRESET',
  'EAI_AGAIN',
]);

/** The server's own words hold no password. */
function postgresFailure(place: string, error: unknown): unknown {
  if (error instanceof Failure) return error;
  const { code = '' } = (error ?? {}) as { code?: string };
  const said = messageOf(error) || code;
  if (unreachable.has(code) || /terminated|timeout|ended|closed/iu.test(said)) {
    return new Failure('network', `The database ${place} cannot be reached: ${said}.`, {
      hint: 'Is it running? What it holds is not lost.',
    });
  }
  if (code.startsWith('28') || /password|SASL/iu.test(said)) {
    return new Failure('auth', `The database ${place} does not let svc in: ${said}.`, {
      hint: 'Give the password in PGPASSWORD, in .pgpass, or in the URL of SVC_MIRROR_DB.',
    });
  }
  if (code.startsWith('53')) {
    return new Failure('failed', `The database ${place} has no room: ${said}.`, { hint: 'What it holds is not lost.' });
  }
  if (code === '42501') {
    return new Failure('forbidden', `The database ${place} does not allow it: ${said}.`, {
      hint: 'The role needs CREATE and TEMPORARY on the database.',
    });
  }
  return new Failure('usage', `The database refused this: ${said}.`, { hint: 'What there is: svc mirror schema' });
}
