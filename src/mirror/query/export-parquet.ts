import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { OutFile } from '../../disk/draft/out-file.ts';
import type { Column, ColumnType } from '../tables/tables.ts';
import type { Cell, RowsFile } from './rows-file.ts';

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

/** How Parquet holds a column. A field that is an object or a list is JSON text: what it holds is the service's to say. */
const elements: Readonly<Record<ColumnType, Omit<Schema[number], 'name'>>> = {
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
};

/** So many rows, or so much text, are held at once; then they are a row group. */
const [mostRows, mostText] = [20_000, 8 * 1024 * 1024];

export function parquetFile(columns: readonly Column[], out: OutFile): RowsFile {
  const writer = new ByteWriter();
  const flush = async (): Promise<void> => {
    await out.write(writer.getBytes().slice());
    writer.index = 0;
  };
  const schema: Schema = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[type] })),
  ];
  const parquet = new ParquetWriter({
    writer: Object.assign(writer, { flush, finish: flush }),
    schema,
    statisticsTruncateLength: 64,
    createdBy: 'svc',
  });
  let rows: (readonly Cell[])[] = [];
  let size = 0;
  const write = async (): Promise<void> => {
    const columnData = columns.map(({ name, type }, at) => ({
      name,
      data: rows.map((row) => writtenAs(type, row[at] ?? null)),
    }));
    rows = [];
    size = 0;
    await parquet.write({ columnData, rowGroupSize: mostRows });
  };
  return {
    async put(row) {
      rows.push(row);
      for (const cell of row) size += typeof cell === 'string' ? cell.length : 8;
      if (rows.length >= mostRows || size >= mostText) await write();
    },
    async end() {
      if (rows.length > 0) await write();
      await parquet.finish();
      await out.close();
    },
  };
}

function writtenAs(type: ColumnType, cell: Cell): bigint | number | string | boolean | null {
  if (cell === null) return null;
  if (type === 'integer') return BigInt(cell);
  return type === 'time' ? microseconds(String(cell)) : cell;
}

/** Since 1970, of a time as the service writes it; null where it is none. A Date alone would drop all below a millisecond. */
function microseconds(time: string): bigint | null {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return null;
  const below = /\.\d{3}(\d{1,3})/u.exec(time)?.[1] ?? '';
  return BigInt(ms) * 1000n + BigInt(below.padEnd(3, '0') || '0');
}
