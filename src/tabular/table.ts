import { Failure } from '../errors.ts';
import { type CsvRecord, createCsvParser, detectDelimiter } from './csv.ts';
import type { Source } from './source.ts';

/** A CSV file with a header. */
export type Table = {
  readonly source: Source;
  readonly delimiter: string;
  readonly headers: readonly string[];
  /** The records below the header, a piece of the file at a time. */
  records(onBytes?: (bytes: Uint8Array) => void): AsyncIterable<readonly CsvRecord[]>;
};

export async function openTable(source: Source, wantedDelimiter?: string): Promise<Table> {
  let delimiter = wantedDelimiter;
  let parser: ReturnType<typeof createCsvParser> | undefined;
  let first: CsvRecord | undefined;
  for await (const text of source.read()) {
    delimiter ??= announcedDelimiter(text) ?? detectDelimiter(text);
    parser ??= createCsvParser(delimiter);
    first = parser.push(text).find(isHeader);
    if (first) break;
  }
  first ??= parser?.end().find(isHeader);
  if (first === undefined || delimiter === undefined) {
    throw new Failure('usage', `${source.name} has only blank lines.`);
  }
  const header = first;
  return {
    source,
    delimiter,
    headers: header.cells,
    records: (onBytes) => below(header.line, source.read(onBytes), createCsvParser(delimiter)),
  };
}

async function* below(
  headerLine: number,
  texts: AsyncIterable<string>,
  parser: ReturnType<typeof createCsvParser>,
): AsyncGenerator<readonly CsvRecord[]> {
  let isBelow = false;
  const cut = (records: CsvRecord[]): readonly CsvRecord[] => {
    if (isBelow) return records;
    const rest = records.filter(({ line }) => line > headerLine);
    isBelow = rest.length > 0;
    return rest;
  };
  for await (const text of texts) yield cut(parser.push(text));
  yield cut(parser.end());
}

/** Excel writes, and understands, a first line that names the delimiter. */
const announcement = /^sep=([,;\t|])\r?$/iu;

const announcedDelimiter = (text: string): string | undefined =>
  announcement.exec(text.slice(0, 7).split('\n')[0] ?? '')?.[1];

/** With `sep=,` the line itself is two cells, with any other delimiter one. */
const isHeader = ({ line, cells }: CsvRecord): boolean =>
  !(line === 1 && /^sep=[;\t|]?$/iu.test(cells[0] ?? '') && cells.length <= 2 && !cells[1]) &&
  cells.some((cell) => cell.trim() !== '');
