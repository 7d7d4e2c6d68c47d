import type { Sql, Store } from '../tables/store.ts';
import type { laterTables } from '../tables/tables.ts';
import { hasTable } from './has-table.ts';

type LaterTable = (typeof laterTables)[number];

/** Makes it where it is missing. A copy without it is none of an older svc, and what only reads needs no right to make it. */
export async function needTable(store: Store, table: LaterTable, columnsOf: (sql: Sql) => string): Promise<void> {
  if (await store.read((sql) => hasTable(sql, table))) return;
  await store.write(async (sql) => {
    if (await hasTable(sql, table)) return;
    await sql.run(`CREATE TABLE ${table} (service TEXT NOT NULL, account_id TEXT NOT NULL, ${columnsOf(sql)})`);
    if (sql.engine === 'postgres') await (await import('../postgres/row-security.ts')).guardTable(sql, table);
  }, 'tables');
}
