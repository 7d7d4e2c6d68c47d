import { shortDigestOf } from '../../text/digest.ts';
import { owned, ownerOf } from '../tables/owner.ts';
import { type Account, quoted, type Row, type Store } from '../tables/store.ts';
import { type Column, rowColumns, type Table } from '../tables/tables.ts';
import { compareKeys, type Key, type Seen } from './export-seen.ts';
import type { Cell } from './rows-file.ts';

const perPiece = 500;

/** What an export has of a table. When svc last saw a row is no part of the record, and changes with each pull. */
export const exportedColumns = ({ columns }: Table): readonly Column[] => [
  ...columns,
  ...rowColumns.filter(({ name }) => name !== 'seen_at'),
];

type ExportedRow = { readonly cells: readonly Cell[]; readonly seen: Seen };

type Source = { readonly store: Store; readonly account: Account; readonly table: Table };

/** Every row of the table, gone ones too, by their key, as they are read. */
async function* rowsByKey({ store, account, table }: Source): AsyncGenerator<ExportedRow> {
  const columns = exportedColumns(table);
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const keys = table.key.map(quoted).join(', ');
  const after = `(${keys}) > (${table.key.map((_, at) => `$${at + 3}`).join(', ')})`;
  let last: Key | undefined;
  for (;;) {
    const from: Key | undefined = last;
    const rows = await store.read((sql) =>
      sql.all(
        `SELECT ${names} FROM ${table.name} WHERE ${owned}${from ? ` AND ${after}` : ''} ORDER BY ${keys} LIMIT ${perPiece}`,
        [...ownerOf(account), ...(from ?? [])],
      ),
    );
    for (const row of rows) {
      const exported = exportedRow(table, columns, row);
      last = exported.seen.key;
      yield exported;
    }
    if (rows.length < perPiece) return;
  }
}

function exportedRow(table: Table, columns: readonly Column[], row: Row): ExportedRow {
  const cells = columns.map(({ name, type }) => cellOf(row[name], type));
  return {
    cells,
    seen: {
      key: table.key.map((name) => Number(row[name])),
      digest: shortDigestOf(JSON.stringify(cells)),
      isDeleted: row.gone_at !== null && row.gone_at !== undefined,
    },
  };
}

function cellOf(value: unknown, type: Column['type']): Cell {
  if (value === null || value === undefined) return null;
  // SQLite has none.
  if (type === 'boolean') return value === true || value === 1;
  return typeof value === 'number' ? value : String(value);
}

/** A row that the copy does not have any more: it was forgotten, and pulled again. */
const vanished = (table: Table, { key }: Seen, now: string): ExportedRow => {
  const cells = exportedColumns(table).map(({ name }): Cell => {
    if (name === 'gone_at') return now;
    const at = table.key.indexOf(name);
    return at >= 0 ? (key[at] ?? null) : null;
  });
  return { cells, seen: { key, digest: shortDigestOf(JSON.stringify(cells)), isDeleted: true } };
};

/** A row, and whether it has to be exported: it is new, or not as it was exported last. */
export type Compared = ExportedRow & { readonly isChanged: boolean };

/** Both sides come by their keys. `before`: what was exported last. */
export async function* compareRows(
  source: Source,
  before: AsyncGenerator<Seen>,
  now: string,
): AsyncGenerator<Compared> {
  let old = await before.next();
  try {
    for await (const row of rowsByKey(source)) {
      while (!old.done && compareKeys(old.value.key, row.seen.key) < 0) {
        yield* missing(source.table, old.value, now);
        old = await before.next();
      }
      const same = !old.done && compareKeys(old.value.key, row.seen.key) === 0 ? old.value : undefined;
      if (same) old = await before.next();
      yield { ...row, isChanged: same?.digest !== row.seen.digest };
    }
    for (; !old.done; old = await before.next()) yield* missing(source.table, old.value, now);
  } finally {
    await before.return(undefined);
  }
}

function* missing(table: Table, seen: Seen, now: string): Generator<Compared> {
  // One that was told as gone needs no word more.
  if (!seen.isDeleted) yield { ...vanished(table, seen, now), isChanged: true };
  else yield { cells: [], seen, isChanged: false };
}
