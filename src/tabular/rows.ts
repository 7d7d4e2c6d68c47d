import { Failure } from '../errors.ts';
import { isLong } from '../text/exact-json.ts';
import { isRecord } from '../text/record.ts';
import type { CsvRecord, Parser } from './csv.ts';
import { subject } from './decode.ts';
import { createLinesParser, createValuesParser, type JsonRecord } from './json.ts';
import { needsRows, type Source } from './source.ts';
import { openTable, type Table, type TableOptions } from './table.ts';

/** A row of a person's file: its cells at the places of the columns; undefined where a row has no such cell. */
export type FileRow = {
  readonly line: number;
  readonly cells: readonly unknown[];
  /** What is wrong with the row as a whole. */
  readonly broken?: string;
};

/** CSV, JSON (lines, values or an array), or bare ids one a line; read from the beginning any number of times. */
export type Rows = {
  readonly source: Source;
  readonly form: 'csv' | 'json' | 'ids';
  readonly columns: readonly string[];
  /** Of CSV. */
  readonly delimiter: string;
  /** The cells of the header as they stand in the file; undefined where it has none. */
  readonly header: readonly string[] | undefined;
  /** The text that `--skip-lines` passes over, else the line that names the delimiter. */
  readonly above: string;
  /** Where the table begins, and what was passed over above and below it without being told to. */
  readonly beginning: Pick<Table, 'line' | 'preamble' | 'footer'>;
  read(): AsyncIterable<readonly FileRow[]>;
};

/** The column of bare ids. */
const idColumn = 'id';

/** What is not CSV has no header to be found. */
const noTable = { delimiter: ',', header: undefined, above: '', beginning: { line: 1, preamble: [], footer: [] } };

/** `isName`: whether a line is what people call a record by, so that a list of such is no table. */
type RowsOptions = TableOptions & { readonly isName?: (line: string) => boolean };

export async function openRows(source: Source, options: RowsOptions): Promise<Rows> {
  const start = await startOf(source);
  if (start === '') {
    const hasNoRows = source.path === undefined;
    throw new Failure('usage', `${subject(source.name)} has only blank lines.`, { hasNoRows, hint: needsRows });
  }
  const isTable = options.delimiter !== undefined || options.skipLines !== undefined || options.noHeader;
  const json = isTable ? undefined : jsonForm(start);
  if (json) return jsonRows(source, json);
  if (!isTable && (isBareId(start) || options.isName?.(start))) {
    return { source, form: 'ids', columns: [idColumn], ...noTable, read: () => bareIds(source.read()) };
  }
  return rowsOfTable(await openTable(source, options));
}

export function rowsOfTable(table: Table): Rows {
  const { source, headers, hasHeader, delimiter, skippedText, announcement } = table;
  return {
    source,
    form: 'csv',
    columns: headers.map((header) => header.trim()),
    delimiter,
    header: hasHeader ? headers : undefined,
    above: skippedText || announcement,
    beginning: table,
    read: () => csvRows(table.records(), headers.length),
  };
}

const enough = 1 << 16;

/** The first line with text. */
async function startOf(source: Source): Promise<string> {
  let start = '';
  for await (const text of source.read()) {
    start = (start + text).trimStart();
    const end = start.indexOf('\n');
    if (end >= 0) return start.slice(0, end).trim();
    if (start.length > enough) return start;
  }
  return start.trim();
}

/** A number alone is no header. */
const isBareId = (text: string): boolean => /^\d+$/u.test(text);

function jsonForm(start: string): (() => Parser<JsonRecord>) | undefined {
  if (start.startsWith('[')) return () => createValuesParser('array');
  if (!start.startsWith('{')) return undefined;
  // jq writes a value over several lines, and its first one is a brace alone.
  return start === '{' ? () => createValuesParser('values') : createLinesParser;
}

async function* parsedBy(
  parser: Parser<JsonRecord>,
  texts: AsyncIterable<string>,
): AsyncGenerator<readonly JsonRecord[]> {
  for await (const text of texts) yield parser.push(text);
  yield parser.end();
}

/** What an object holds goes by dotted names: `contact.name`. Lists stay whole, and so does what a key of own data holds. */
export function flatCells(value: object, path = '', into: Map<string, unknown> = new Map()): Map<string, unknown> {
  for (const [key, held] of Object.entries(value)) {
    const name = path === '' ? key : `${path}.${key}`;
    if (isRecord(held) && !isLong(held) && path !== 'metadata') flatCells(held, name, into);
    else into.set(name, held);
  }
  return into;
}

/** Which columns there are is known once all was read. */
async function jsonRows(source: Source, parser: () => Parser<JsonRecord>): Promise<Rows> {
  const places = new Map<string, number>();
  let hasNoRows = source.path === undefined;
  let isBroken = true;
  for await (const records of parsedBy(parser(), source.read())) {
    for (const record of records) {
      hasNoRows = false;
      if ('value' in record) isBroken = false;
      if (!isObject(record)) continue;
      for (const name of flatCells(record.value).keys()) if (!places.has(name)) places.set(name, places.size);
    }
  }
  if (hasNoRows) throw new Failure('usage', `${subject(source.name)} holds no rows.`, { hasNoRows });
  async function* read(): AsyncGenerator<readonly FileRow[]> {
    for await (const records of parsedBy(parser(), source.read())) {
      yield records.map((record) => jsonRow(record, places));
    }
  }
  // A list of bare ids. Where nothing can be read no column is known.
  const columns = places.size > 0 || isBroken ? [...places.keys()] : [idColumn];
  return { source, form: 'json', columns, ...noTable, read };
}

const isObject = (record: JsonRecord): record is { readonly line: number; readonly value: object } =>
  'value' in record && isRecord(record.value);

function jsonRow(record: JsonRecord, places: ReadonlyMap<string, number>): FileRow {
  const { line } = record;
  if (isObject(record)) {
    const cells: unknown[] = new Array(places.size).fill(undefined);
    for (const [name, value] of flatCells(record.value)) {
      const place = places.get(name);
      if (place === undefined)
        return { line, cells: [], broken: `has ${name}, which no row had when the file was read first` };
      cells[place] = value;
    }
    return { line, cells };
  }
  if ('value' in record && isBare(record.value) && places.size === 0) return { line, cells: [record.value] };
  return { line, cells: [], broken: 'broken' in record ? record.broken : 'is not a JSON object' };
}

/** An id, a number such as `T-1008`, or an email: what a list of jq's holds. */
const isBare = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string';

async function* csvRows(
  batches: AsyncIterable<readonly CsvRecord[]>,
  width: number,
): AsyncGenerator<readonly FileRow[]> {
  for await (const records of batches) {
    const rows: FileRow[] = [];
    for (const { line, cells } of records) {
      if (cells.every((cell) => cell.trim() === '')) continue;
      const beyond = cells.slice(width).some((cell) => cell.trim() !== '');
      rows.push(
        beyond ? { line, cells, broken: `has ${cells.length} cells, the header has ${width}` } : { line, cells },
      );
    }
    yield rows;
  }
}

async function* bareIds(texts: AsyncIterable<string>): AsyncGenerator<readonly FileRow[]> {
  let rest = '';
  let line = 1;
  const read = (text: string): FileRow[] => {
    const at = line++;
    return text.trim() === '' ? [] : [{ line: at, cells: [text.trim()] }];
  };
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield lines.flatMap(read);
  }
  yield read(rest);
}
