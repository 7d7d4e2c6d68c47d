import type { Client } from 'pg';
import type { Context } from '../../context.ts';
import type { OwnSchema } from '../../database/foreign-code.ts';
import { Failure, interruption } from '../../errors.ts';
import { digestOf } from '../../text/digest.ts';
import type { Account, Sql } from '../tables/store.ts';
import { allTables } from '../tables/tables.ts';
import { schemaName } from './values.ts';

export type PostgresPorts = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice' | 'env'>;

export const ownSchema: OwnSchema = { schema: schemaName, tables: allTables };

/**
 * Until the end of the transaction nobody adds a trigger or a foreign key to the tables that are there; other pulls go on. Where
 * tables are changed they do not: of two that come first, the second waits and finds it done.
 */
export async function lockTables(sql: Sql, what: 'rows' | 'tables'): Promise<void> {
  if (what === 'tables') await sql.run("SELECT pg_advisory_xact_lock(hashtext('svc mirror schema'))");
  const all = await tablesWritten(sql);
  if (all === '') return;
  await sql.run(`LOCK TABLE ${all} IN ${what === 'tables' ? 'SHARE ROW EXCLUSIVE' : 'ROW EXCLUSIVE'} MODE`);
}

/** Those that are there and may be written, with commas; empty where there is none. */
async function tablesWritten(sql: Sql): Promise<string> {
  const names = await sql.all(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('${schemaName}') AND relkind = 'r'
     AND relname IN (${ownSchema.tables.map((name) => `'${name}'`).join(', ')})
     AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY relname`,
  );
  return names.map(({ name }) => `${schemaName}.${name}`).join(', ');
}

/** The server does so by itself within minutes. Until then it takes the tables for empty, and a question for a long one. */
export async function analyzeTables(sql: Sql): Promise<void> {
  const all = await tablesWritten(sql);
  // Of a table of another role it says that it did not.
  if (all !== '') await sql.run(`ANALYZE ${all}`);
}

/** @param text the statement; its values are no part of it */
export const rowsTaken = (text: string): Failure =>
  new Failure(
    'failed',
    `A trigger, a rule or a policy of the database takes rows away: ${text.split(/ (?:\(|SET|WHERE)/u)[0]}.`,
    { hint: 'Nothing of it was written. To see what there is: \\d svc_mirror.* in psql.' },
  );

type Holder = { readonly ctx: PostgresPorts; readonly client: Client; readonly fail: (error: unknown) => unknown };

/**
 * One pull at a time: the lock lasts as long as the transaction, which stays open. A lock of the session would, behind a pooler,
 * be that of whoever has the session next. Asked again and again rather than waited for, so that Ctrl-C is heard.
 */
export async function takeLock(
  { ctx, client, fail }: Holder,
  { service, id }: Account,
  maxWaitMs = defaultMaxWaitMs,
): Promise<void> {
  const key = digestOf(`svc mirror\n${service}\n${id}`).readBigInt64BE(0).toString();
  const began = ctx.clock.ticks();
  for (let told = false; ; ) {
    if (await isTaken(client, key).catch((error) => Promise.reject(fail(error)))) return ctx.progress(undefined);
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

/** Between two tries no transaction is open, which would take a session of the pooler. */
async function isTaken(client: Client, key: string): Promise<boolean> {
  await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1::bigint) AS taken', [key]);
  if (rows[0]?.taken) return true;
  await client.query('ROLLBACK');
  return false;
}

const defaultMaxWaitMs = 120_000;
