import { dataOf } from './cells.ts';
import { owned, ownerOf } from './owner.ts';
import { type Account, quoted, type Sql, type Store } from './store.ts';
import { type Table, tables } from './tables.ts';
import { phrasesOf, placeOf } from './words.ts';
import { matching, textsOf } from './words-index.ts';

export type Hit = {
  readonly kind: string;
  readonly id: number;
  /** Of a message: the ticket or the conversation that it belongs to. */
  readonly of: number | null;
  readonly field: string;
  readonly text: string;
  readonly score: number;
};

/** The best of every searched table, best first. Every word has to be there, or one that begins with it. */
export async function search(store: Store, account: Account, text: string, limit: number): Promise<Hit[]> {
  const phrases = phrasesOf(text);
  if (phrases.length === 0) return [];
  const found = await store.read(async (sql) => {
    const hits: Hit[] = [];
    for (const table of tables.filter(({ words }) => words.length > 0)) {
      for (const { row, score } of await rowsIn(sql, account, table, { query: matching(sql.engine, phrases), limit })) {
        const place = placeOf(textsOf(table, dataOf(row)), phrases);
        const isPart = table.key.length > 1;
        hits.push({
          kind: table.name,
          id: Number(row[table.id]),
          of: isPart ? Number(row[table.key[0] ?? '']) : null,
          field: place?.field ?? '',
          text: place?.piece ?? '',
          score,
        });
      }
    }
    return hits;
  });
  return found.sort((a, b) => b.score - a.score).slice(0, limit);
}

type Asked = { readonly query: string; readonly limit: number };

async function rowsIn(sql: Sql, account: Account, { name, key }: Table, { query, limit }: Asked) {
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
