import { type KindName, kindNames } from '../tables/kinds.ts';
import { type Account, countRows, owned, ownerOf, type Sql, type Store } from '../tables/store.ts';
import { isKindWhole, readState } from './state.ts';

export type KindStatus = {
  readonly kind: KindName;
  readonly rows: number;
  /** When the record that was looked at longest ago, and the latest, were seen. */
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly complete: boolean;
};

/** How many records of a kind the account has now, as far as the copy knows. */
export const livingCount = (sql: Sql, account: Account, kind: KindName): Promise<number> =>
  countRows(sql, `${kind} WHERE ${owned} AND gone_at IS NULL`, ownerOf(account));

export const statusOf = (store: Store, account: Account): Promise<KindStatus[]> =>
  store.read(async (sql) => {
    const all: KindStatus[] = [];
    for (const kind of kindNames) {
      const [row] = await sql.all(
        `SELECT count(*) AS n, min(seen_at) AS oldest, max(seen_at) AS newest FROM ${kind} WHERE ${owned} AND gone_at IS NULL`,
        ownerOf(account),
      );
      const complete = isKindWhole(await readState(sql, account, kind));
      const time = (value: unknown) => (value === null || value === undefined ? null : String(value));
      all.push({ kind, rows: Number(row?.n), oldest: time(row?.oldest), newest: time(row?.newest), complete });
    }
    return all;
  });
