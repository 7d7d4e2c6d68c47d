import { type Account, owned, ownerOf, putRow, type Sql, type Store } from '../tables/store.ts';
import { hasTable } from './has-table.ts';
import { needTable } from './later-tables.ts';

/** What a queue began with when it was last looked at: drawn at once, while it is looked at again. Made when it is first kept. */
const table = 'svc_first_rows';
const columns = 'view TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (service, account_id, view)';

export async function firstRows(sql: Sql, account: Account, view: string): Promise<string | undefined> {
  if (!(await hasTable(sql, table))) return undefined;
  const [row] = await sql.all(`SELECT data FROM ${table} WHERE ${owned} AND view = $3`, [...ownerOf(account), view]);
  return row && String(row.data);
}

export async function keepFirstRows(store: Store, account: Account, view: string, data: string): Promise<void> {
  await needTable(store, table, () => columns);
  await store.write((sql) => putRow(sql, account, table, { key: { view }, values: { data } }));
}
