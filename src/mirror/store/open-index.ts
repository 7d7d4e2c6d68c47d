import { kindNames, kindOf } from '../tables/kinds.ts';
import type { Sql, Store } from '../tables/store.ts';
import { unresolvedIndex } from '../tables/tables.ts';
import { hasTable } from './has-table.ts';

/** What is not resolved is asked for all day, and is a small part of an account that is old. */
const unresolved = "gone_at IS NULL AND coalesce(status, '') NOT IN ('resolved', 'closed')";

const indexed = kindNames.filter((name) => kindOf(name).resolves);

const openIndexes: readonly string[] = indexed.map(
  (table) => `CREATE INDEX ${unresolvedIndex(table)} ON ${table} (service, account_id, id) WHERE ${unresolved}`,
);

/** A copy of an older svc gets them with its next pull, whose role may make them. */
export async function indexUnresolved(store: Store): Promise<void> {
  if (await store.read(areThere)) return;
  await store.write(async (sql) => {
    if (await areThere(sql)) return;
    for (const statement of openIndexes) await sql.run(statement.replace('CREATE INDEX', 'CREATE INDEX IF NOT EXISTS'));
  }, 'tables');
}

async function areThere(sql: Sql): Promise<boolean> {
  if (!(await hasTable(sql, 'svc_schema'))) return true;
  const names = indexed.map((table) => `'${unresolvedIndex(table)}'`).join(', ');
  const rows =
    sql.engine === 'sqlite'
      ? await sql.all(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN (${names})`)
      : await sql.all(`SELECT indexname FROM pg_indexes WHERE schemaname = 'svc_mirror' AND indexname IN (${names})`);
  return rows.length === indexed.length;
}
