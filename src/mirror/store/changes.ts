import type { Fields } from '../../text/record.ts';
import { type Account, owned, ownerOf, putRow, type Row, type Sql, type Store } from '../tables/store.ts';

const changeNames = ['created', 'updated', 'gone'] as const;

/** What happened to a record, as the copy saw it. */
export type Change = {
  readonly seq: number;
  readonly time: string;
  readonly kind: string;
  readonly record_id: number;
  readonly change: (typeof changeNames)[number];
  readonly before: Fields | null;
  readonly after: Fields | null;
};

const perPiece = 200;

/** From `after` on, in the order in which they were seen, as they are read. */
export async function* changesAfter(store: Store, account: Account, after: number): AsyncGenerator<Change> {
  for (let last = after; ; ) {
    const rows = await store.read((sql) =>
      sql.all(`SELECT * FROM changes WHERE ${owned} AND seq > $3 ORDER BY seq LIMIT ${perPiece}`, [
        ...ownerOf(account),
        last,
      ]),
    );
    yield* rows.map(changeOf);
    if (rows.length < perPiece) return;
    last = Number(rows.at(-1)?.seq);
  }
}

/** The last change before `time`; without one, the last of all. */
export const seqBefore = (store: Store, account: Account, time?: string): Promise<number> =>
  store.read(async (sql) => {
    const condition = time === undefined ? '' : ' AND "time" < $3';
    const [row] = await sql.all(
      `SELECT max(seq) AS seq FROM changes WHERE ${owned}${condition}`,
      time === undefined ? ownerOf(account) : [...ownerOf(account), time],
    );
    return Number(row?.seq ?? 0);
  });

const changeOf = (row: Row): Change => ({
  seq: Number(row.seq),
  time: String(row.time),
  kind: String(row.kind),
  record_id: Number(row.record_id),
  change: changeNames.find((name) => name === row.change) ?? 'updated',
  before: row.before === null ? null : JSON.parse(String(row.before)),
  after: row.after === null ? null : JSON.parse(String(row.after)),
});

/** How far a watcher with that name is. */
export async function readPosition(sql: Sql, account: Account, name: string): Promise<number | undefined> {
  const [row] = await sql.all(`SELECT seq FROM svc_watchers WHERE ${owned} AND name = $3`, [...ownerOf(account), name]);
  return row && Number(row.seq);
}

export const savePosition = (sql: Sql, account: Account, name: string, seq: number): Promise<void> =>
  putRow(sql, account, 'svc_watchers', { key: { name }, values: { seq } });
