import { guardTable } from '../postgres/row-security.ts';
import { owned, ownerOf } from '../tables/owner.ts';
import type { Account, Sql, Store } from '../tables/store.ts';
import { hasTable } from './schema.ts';

/** What a queue began with when it was last looked at: drawn at once, while it is looked at again. Made when it is first kept. */
const table = 'svc_first_rows';

export async function firstRows(sql: Sql, account: Account, view: string): Promise<string | undefined> {
  if (!(await hasTable(sql, table))) return undefined;
  const [row] = await sql.all(`SELECT data FROM ${table} WHERE ${owned} AND view = $3`, [...ownerOf(account), view]);
  return row && String(row.data);
}

export async function keepFirstRows(store: Store, account: Account, view: string, data: string): Promise<void> {
  if (!(await store.read((sql) => hasTable(sql, table)))) await store.write(makeTable, 'tables');
  await store.write((sql) =>
    sql.run(
      `INSERT INTO ${table} (service, account_id, view, data) VALUES ($1, $2, $3, $4) ` +
        'ON CONFLICT (service, account_id, view) DO UPDATE SET data = excluded.data',
      [...ownerOf(account), view, data],
      1,
    ),
  );
}

async function makeTable(sql: Sql): Promise<void> {
  if (await hasTable(sql, table)) return;
  await sql.run(
    `CREATE TABLE ${table} (service TEXT NOT NULL, account_id TEXT NOT NULL, view TEXT NOT NULL, data TEXT NOT NULL, ` +
      'PRIMARY KEY (service, account_id, view))',
  );
  if (sql.engine === 'postgres') await guardTable(sql, table);
}

/** Of an account that is forgotten. */
export async function forgetFirstRows(sql: Sql, account: Account): Promise<void> {
  if (await hasTable(sql, table)) await sql.run(`DELETE FROM ${table} WHERE ${owned}`, ownerOf(account));
}
