import { Failure } from '../../errors.ts';
import type { Engine, Sql, Store } from '../tables/store.ts';
import { hasTable } from './has-table.ts';

/** How many steps there are (migrations.ts). */
export const version = 1;

/** What `markOf` makes of the tables of each engine: a test holds the two together, and names what belongs here. */
export const marks: Readonly<Record<Engine, string>> = {
  sqlite: 'ddcd8f5eeb702ef5',
  postgres: '62aea08f51ccfe12',
};

type Present = { readonly version: number; readonly columns: string };

export function refuseNewer({ place }: Store, { version: present }: Present): void {
  if (present <= version) return;
  const fact = `The copy ${place} was made by a newer svc (schema ${present}; this one knows ${version}).`;
  throw new Failure('failed', fact, { hint: 'Update svc, or keep a copy of your own with --db FILE.' });
}

export async function presentSchema(sql: Sql): Promise<Present | undefined> {
  if (!(await hasTable(sql, 'svc_schema'))) return undefined;
  const [row] = await sql.all('SELECT * FROM svc_schema');
  // Those of version 0 call themselves 1.
  return row?.columns === undefined
    ? { version: 0, columns: '' }
    : { version: Number(row.version), columns: String(row.columns) };
}
