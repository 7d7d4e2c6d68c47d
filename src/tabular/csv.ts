import { Failure } from '../errors.ts';

/** A record of a CSV file. `line` is where it begins, from 1, also after line breaks inside of quotes. */
export type CsvRecord = {
  readonly line: number;
  readonly cells: readonly string[];
  /** Characters in the file, line end included. */
  readonly size: number;
};

export type Parser<R> = {
  /** Takes the next piece of the text, cut anywhere, and gives the records that are complete by now. */
  push(text: string): R[];
  /** Gives what is left once there is no more text. */
  end(): R[];
};

const delimiters = [',', ';', '\t', '|'] as const;

/** Longer than any contact: beyond it, a quote was opened and never closed, and waiting for its end would eat memory. */
const longestRecord = 1 << 20;

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;

/**
 * CSV as it is found, not only RFC 4180: lines end with LF, CRLF or CR, mixed as they come; a quote counts only at the
 * beginning of a cell, and what follows its closing one belongs to the cell; records may be of any width. Lines
 * without a character are no records. Of libraries, the fast ones name wrong lines or corrupt mixed line ends
 * (docs/sync.md); the one that is right is the oracle of this file's test.
 *
 * A record that is not complete at the end of a piece is read again with the next one: that keeps the loop free of
 * half-states, and costs next to nothing since a record is short and a piece is long.
 */
export function createCsvParser(delimiter: string = ',', firstLine = 1): Parser<CsvRecord> {
  const cursor = cursorOf(delimiter, firstLine);
  /** What is not read yet: begins with a record, on the line of the cursor. */
  let rest = '';

  const scan = (text: string, { isLast }: Pick<Cursor, 'isLast'>): CsvRecord[] => {
    const records: CsvRecord[] = [];
    cursor.isLast = isLast;
    let start = 0;
    while (start < text.length) {
      const cells = readRecord(text, start, cursor);
      if (cells === undefined) break;
      const size = cursor.at - start;
      if (size > longestRecord + 2) throw tooLong(cursor.line);
      if (cells.length > 1 || cells[0] !== '') records.push({ line: cursor.line, cells, size });
      cursor.line += cursor.lines;
      start = cursor.at;
    }
    rest = start === 0 ? text : text.slice(start);
    if (rest.length > longestRecord) throw tooLong(cursor.line);
    return records;
  };

  return {
    push: (text) => scan(rest === '' ? text : rest + text, { isLast: false }),
    end: () => scan(rest, { isLast: true }),
  };
}

/** Where a parser is; one object for all of its records, since there may be millions. */
type Cursor = {
  readonly separator: number;
  /** No more text follows. */
  isLast: boolean;
  /** On which the record begins. */
  line: number;
  /** Behind what was read last. */
  at: number;
  /** That the record takes up so far. */
  lines: number;
  /** What the cell holds between its quotes. */
  quoted: string;
};

const cursorOf = (delimiter: string, line: number): Cursor => ({
  separator: delimiter.charCodeAt(0),
  isLast: false,
  line,
  at: 0,
  lines: 1,
  quoted: '',
});

/** A place in a text, and its line. */
export type CsvPosition = { readonly at: number; readonly line: number };

/** The record at a place, and the place behind it; undefined where more text is needed to tell. */
export function readOneRecord(
  text: string,
  { at, line }: CsvPosition,
  { delimiter, isWhole }: { readonly delimiter: string; readonly isWhole: boolean },
): { readonly cells: readonly string[]; readonly next: CsvPosition } | undefined {
  const cursor = cursorOf(delimiter, line);
  cursor.isLast = isWhole;
  const cells = readRecord(text, at, cursor);
  if (cells) return { cells, next: { at: cursor.at, line: line + cursor.lines } };
  if (text.length - at > longestRecord) throw tooLong(line);
  return undefined;
}

/** The cells of the record that begins at `start`; undefined where the text ends before it does. */
function readRecord(text: string, start: number, cursor: Cursor): string[] | undefined {
  const { separator, isLast } = cursor;
  const end = text.length;
  const cells: string[] = [];
  cursor.lines = 1;
  for (let at = start; ; ) {
    let cell = '';
    let from = at;
    if (text.charCodeAt(at) === quote) {
      if (!readQuoted(text, at + 1, cursor)) return undefined;
      cell = cursor.quoted;
      at = from = cursor.at;
    }
    let code = lineFeed; // so does the end of the text end a line
    for (; at < end; at++) {
      const next = text.charCodeAt(at);
      if (next !== separator && next !== lineFeed && next !== carriageReturn) continue;
      code = next;
      break;
    }
    if (at === end && !isLast) return undefined;
    cells.push(cell + text.slice(from, at));
    at++;
    if (code === separator) continue;
    if (code === carriageReturn) {
      if (at === end && !isLast) return undefined; // a line feed may follow
      if (text.charCodeAt(at) === lineFeed) at++;
    }
    cursor.at = at;
    return cells;
  }
}

/** Reads on behind an opening quote; false where the text ends too soon. */
function readQuoted(text: string, start: number, cursor: Cursor): boolean {
  const end = text.length;
  const opening = cursor.line + cursor.lines - 1;
  let cell = '';
  let from = start;
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at++);
    if (code === quote) {
      if (at === end && !cursor.isLast) return false; // a second quote may follow
      cell += text.slice(from, at - 1);
      from = at;
      if (text.charCodeAt(at) !== quote) {
        cursor.quoted = cell;
        cursor.at = at;
        return true;
      }
      at++; // a doubled quote stands for one, which the next slice begins with
    } else if (code === lineFeed || (code === carriageReturn && text.charCodeAt(at) !== lineFeed)) cursor.lines++;
  }
  if (cursor.isLast) throw neverClosed(opening);
  return false;
}

/** The delimiter that stands most often in the first line with text, outside of quotes. */
export function detectDelimiter(sample: string): string {
  const counts = new Map<string, number>(delimiters.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  let blank = true;
  for (const character of sample) {
    if (character === '"') quoted = !quoted;
    if (quoted) continue;
    if (character === '\n' || character === '\r') {
      if (!blank) break;
      continue;
    }
    blank = false;
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  const most = Math.max(...counts.values());
  return delimiters.find((delimiter) => counts.get(delimiter) === most) ?? ',';
}

const neverClosed = (line: number): Failure =>
  new Failure('usage', `Line ${line}: a quote is opened here and never closed.`, {
    hint: 'Close the quote, or double it ("") where it belongs to the text.',
  });

const tooLong = (line: number): Failure =>
  new Failure('usage', `Line ${line}: the record that begins here is longer than 1 MiB. Is a quote never closed?`, {
    hint: 'Close the quote, or double it ("") where it belongs to the text.',
  });
