import { shortDigestOf } from '../../text/digest.ts';
import type { Copy } from '../store/open-copy.ts';
import { isKindWhole, readState } from '../store/state.ts';
import { owned, ownerOf, placeholders, quoted, type Row } from '../tables/store.ts';
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

type Source = Copy & { readonly table: Table };

/** Rows that were read at once. `isWhole`: the copy held all of the table's kind just then, so that what is not in it is gone. */
type Piece = { readonly rows: readonly ExportedRow[]; readonly isWhole: boolean };

/** Every row of the table, gone ones too, by their key, as they are read. The last piece may be empty. */
async function* piecesByKey({ store, account, table }: Source): AsyncGenerator<Piece> {
  const columns = exportedColumns(table);
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  const keys = table.key.map(quoted).join(', ');
  const after = `(${keys}) > (${placeholders(3, table.key.length)})`;
  let last: Key | undefined;
  for (;;) {
    const from: Key | undefined = last;
    const { found, isWhole } = await store.read(async (sql) => ({
      found: await sql.all(
        `SELECT ${names} FROM ${table.name} WHERE ${owned}${from ? ` AND ${after}` : ''} ORDER BY ${keys} LIMIT ${perPiece}`,
        [...ownerOf(account), ...(from ?? [])],
      ),
      // After the rows: a copy that is forgotten in between is not whole.
      isWhole: isKindWhole(await readState(sql, account, table.kind)),
    }));
    const rows = found.map((row) => exportedRow(table, columns, row));
    yield { rows, isWhole };
    last = rows.at(-1)?.seen.key;
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

/** A row that the copy does not have any more: it was forgotten, and all was read again. */
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
  let isWhole = false;
  const missing = (seen: Seen): Compared => {
    // One that was told as gone needs no word more, and of one that may not have been read yet nothing can be told.
    if (seen.isDeleted || !isWhole) return { cells: [], seen, isChanged: false };
    return { ...vanished(source.table, seen, now), isChanged: true };
  };
  try {
    for await (const piece of piecesByKey(source)) {
      isWhole = piece.isWhole;
      for (const row of piece.rows) {
        for (; !old.done && compareKeys(old.value.key, row.seen.key) < 0; old = await before.next()) {
          yield missing(old.value);
        }
        const same = !old.done && compareKeys(old.value.key, row.seen.key) === 0 ? old.value : undefined;
        if (same) old = await before.next();
        yield { ...row, isChanged: same?.digest !== row.seen.digest };
      }
    }
    for (; !old.done; old = await before.next()) yield missing(old.value);
  } finally {
    await before.return(undefined);
  }
}
