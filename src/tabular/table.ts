import { Failure, orElse } from '../errors.ts';
import { type CsvRecord, createCsvParser, type Parser, readOneRecord } from './csv.ts';
import { withoutFooter } from './footer.ts';
import { announcementIn, type Beginning, findBeginning, type HeaderOptions, type Passed } from './header.ts';
import { changedMeanwhile, needsRows, type Source } from './source.ts';

/** A CSV file whose columns have names. */
export type Table = Awaited<ReturnType<typeof openTable>>;

export type TableOptions = HeaderOptions & {
  /** What to type for a file whose first line is a row. */
  readonly wayOut: (cells: readonly string[], line: number) => string;
};

const mostExamples = 20;

export async function openTable(source: Source, options: TableOptions) {
  const { text, isWhole, beginning } = await beginningOf(source, options);
  const { cells, delimiter, isRow, start, next, preamble } = beginning;
  if (isRow && !options.noHeader) throw noHeader(source.name, beginning, options);
  const below = isRow ? start : next;
  const footer: Passed[] = [];
  return {
    source,
    delimiter,
    /** `#1`, `#2` and so on where the file has none. */
    headers: isRow ? cells.map((_, index) => `#${index + 1}`) : cells,
    hasHeader: !isRow,
    /** Where the header is, or the first row. */
    line: start.line,
    /** The text that `--skip-lines` passed over. */
    skippedText: options.skipLines ? text.slice(0, start.at) : '',
    /** The line that names the delimiter, with its end; empty where there is none. */
    announcement: announcementIn(text),
    /** What was passed over without being told to. */
    preamble,
    /** The same below the rows; known once all records were read. */
    footer,
    /** The cells of the first rows, to see what the columns hold. */
    examples: examplesOf(text, below, { delimiter, isWhole }),
    /** The records below the header, a piece of the file at a time. */
    records: () =>
      withoutFooter(
        recordsBelow(text.slice(0, below.at), source, createCsvParser(delimiter, below.line)),
        cells.length,
        footer,
      ),
  };
}

/** Reads no more of the file than it takes. */
async function beginningOf(source: Source, options: TableOptions) {
  let text = '';
  for await (const piece of source.read()) {
    text += piece;
    const beginning = findBeginning(text, { ...options, isWhole: false });
    if (beginning) return { text, isWhole: false, beginning };
  }
  const beginning = findBeginning(text, { ...options, isWhole: true });
  if (beginning) return { text, isWhole: true, beginning };
  throw new Failure('usage', `${source.name} has only blank lines.`, { hint: needsRows });
}

function examplesOf(
  text: string,
  from: Beginning['next'],
  options: { readonly delimiter: string; readonly isWhole: boolean },
): (readonly string[])[] {
  const examples: (readonly string[])[] = [];
  let place = from;
  while (place.at < text.length && examples.length < mostExamples) {
    // What is wrong below the header is told when it is read in earnest.
    const record = orElse(() => readOneRecord(text, place, options), undefined);
    if (record === undefined) break;
    if (record.cells.some((cell) => cell.trim() !== '')) examples.push(record.cells);
    place = record.next;
  }
  return examples;
}

/** Below other text than `above` the columns may have changed places. */
async function* recordsBelow(
  above: string,
  source: Source,
  parser: Parser<CsvRecord>,
): AsyncGenerator<readonly CsvRecord[]> {
  let passed = 0;
  for await (const text of source.read()) {
    const part = text.slice(0, above.length - passed);
    if (!above.startsWith(part, passed)) throw changedMeanwhile(source.name);
    passed += part.length;
    if (part.length < text.length) yield parser.push(text.slice(part.length));
  }
  yield parser.end();
}

const noHeader = (name: string, { start, cells }: Beginning, { wayOut }: TableOptions): Failure =>
  new Failure('usage', `Line ${start.line} of ${name} is a row, not a header: a header holds no address.`, {
    hint: wayOut(cells, start.line),
  });
