import { phrasesOf, placeOf } from '../store/words.ts';
import { matching, textsOf } from '../store/words-index.ts';
import { dataOf } from '../tables/cells.ts';
import { type Account, owned, ownerOf, pieces, placeholders, quoted, type Sql, type Store } from '../tables/store.ts';
import { type Table, tableOf, tables } from '../tables/tables.ts';

export type Hit = {
  readonly kind: string;
  readonly id: number;
  /** Of a message: the ticket or the conversation that it belongs to. */
  readonly of: number | null;
  /** Of a ticket and of what is in it: the number that people know. */
  readonly number: string | null;
  readonly field: string;
  readonly text: string;
  readonly score: number;
};

/** A record may be found in many of its messages. */
const placesForEach = 4;

/**
 * The best of every searched table, best first; a record, whether found in itself or in its messages, once. Every word
 * has to be there, or one that begins with it. `isAll`: no more places than `count` were found.
 */
export async function search(store: Store, account: Account, text: string, most: number) {
  const phrases = phrasesOf(text);
  if (phrases.length === 0) return { hits: [], count: 0, isAll: true };
  const limit = most * placesForEach;
  let isAll = true;
  const found = await store.read(async (sql) => {
    const hits: Placed[] = [];
    for (const table of tables.filter(({ words }) => words.length > 0)) {
      const rows = await rowsIn(sql, account, table, { query: matching(sql.engine, phrases), limit });
      if (rows.length === limit) isAll = false;
      for (const { row, score } of rows) {
        const place = placeOf(textsOf(table, dataOf(row)), phrases);
        const id = Number(row[table.id]);
        const of = table.parent === undefined ? null : Number(row[table.parent]);
        hits.push({
          kind: table.name,
          id,
          of,
          number: null,
          record: `${table.kind} ${of ?? id}`,
          field: place?.field ?? '',
          text: place?.piece ?? '',
          score,
        });
      }
    }
    const once = [...new Map(hits.sort((a, b) => a.score - b.score).map((hit) => [hit.record, hit])).values()];
    const best = once.sort((a, b) => b.score - a.score);
    return { count: best.length, hits: await withNumbers(sql, account, best.slice(0, most)) };
  });
  return { ...found, isAll };
}

/** `record`: what it is, or is in. */
type Placed = Hit & { readonly record: string };

async function withNumbers(sql: Sql, account: Account, hits: readonly Placed[]): Promise<Hit[]> {
  const numbers = new Map<string, string>();
  for (const { name, id, numberField } of tables) {
    const ids = hits.flatMap((hit) => (tableOf(hit.kind).kind === name ? [hit.of ?? hit.id] : []));
    if (numberField === undefined || ids.length === 0) continue;
    for (const some of pieces(ids)) {
      const rows = await sql.all(
        `SELECT ${id} AS id, ${numberField} AS number FROM ${name} WHERE ${owned} AND ${id} IN (${placeholders(3, some.length)})`,
        [...ownerOf(account), ...some],
      );
      for (const row of rows) numbers.set(`${name} ${row.id}`, String(row.number));
    }
  }
  return hits.map(({ record, ...hit }) => ({ ...hit, number: numbers.get(record) ?? null }));
}

type IndexQuery = { readonly query: string; readonly limit: number };

async function rowsIn(sql: Sql, account: Account, { name, key }: Table, { query, limit }: IndexQuery) {
  const columns = ['data', ...key.map((column) => `t.${quoted(column)}`)].join(', ');
  const text =
    sql.engine === 'sqlite'
      ? `SELECT ${columns}, -bm25(${name}_words) AS score FROM ${name}_words w JOIN ${name} t ON t.svc_row = w.rowid ` +
        `WHERE ${owned} AND gone_at IS NULL AND ${name}_words MATCH $3 ORDER BY score DESC LIMIT $4`
      : `SELECT ${columns}, ts_rank_cd(words, $3::tsquery, 1) AS score FROM ${name} t ` +
        `WHERE ${owned} AND gone_at IS NULL AND words @@ $3::tsquery ORDER BY score DESC LIMIT $4`;
  const rows = await sql.all(text, [...ownerOf(account), query, limit]);
  return rows.map((row) => ({ row, score: Number(row.score) }));
}
