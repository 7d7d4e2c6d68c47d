import type { Sql } from '../tables/store.ts';

export async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const rows =
    sql.engine === 'sqlite'
      ? await sql.all("SELECT 1 AS one FROM sqlite_schema WHERE type = 'table' AND name = $1", [name])
      : await sql.all("SELECT 1 AS one FROM pg_tables WHERE schemaname = 'svc_mirror' AND tablename = $1", [name]);
  return rows.length > 0;
}
