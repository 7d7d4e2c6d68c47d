import { dataOf } from '../tables/cells.ts';
import {
  type Account,
  owned,
  ownerOf,
  pieces,
  placeholders,
  quoted,
  type Row,
  type Sql,
  type Store,
  type Value,
} from '../tables/store.ts';
import type { Table } from '../tables/tables.ts';

/** Ids of the rows of the account that the condition holds for; its own values begin with $3. */
export async function idsWhere(
  { store, account }: { readonly store: Store; readonly account: Account },
  { name, id }: Table,
  condition: string,
  values: readonly Value[] = [],
): Promise<number[]> {
  const text = `SELECT ${id} AS id FROM ${name} WHERE ${owned} AND ${condition}`;
  const rows = await store.read((sql) => sql.all(text, [...ownerOf(account), ...values]));
  return rows.map((row) => Number(row.id));
}

/** A row as it is before a page is applied. */
export type Present = Readonly<ReturnType<typeof presentOf>>;

/** Rows whose first key column is one of `ids`: records by their id, parts and members by what they belong to. */
export async function presentRows(
  sql: Sql,
  account: Account,
  { name, key }: Table,
  ids: readonly number[],
): Promise<Map<string, Present>> {
  const present = new Map<string, Present>();
  const [by = ''] = key;
  for (const some of pieces(ids)) {
    const rows = await sql.all(
      `SELECT svc_row, ${key.map(quoted).join(', ')}, data, gone_at, read_at, first_sweep, last_sweep FROM ${name} ` +
        `WHERE ${owned} AND ${quoted(by)} IN (${placeholders(3, some.length)})`,
      [...ownerOf(account), ...some],
    );
    for (const row of rows) {
      const id = key.map((column) => row[column]).join(':');
      present.set(id, presentOf(row, id));
    }
  }
  return present;
}

const presentOf = (row: Row, key: string) => ({
  row: Number(row.svc_row),
  key,
  data: dataOf(row),
  isDeleted: row.gone_at !== null,
  readAt: row.read_at === null ? undefined : String(row.read_at),
  firstSweep: Number(row.first_sweep),
  lastSweep: Number(row.last_sweep),
});
