import { Failure } from '../errors.ts';

/** A record of a CSV file. `line` is where it begins, from 1, also after line breaks inside of quotes. */
export type CsvRecord = {
  readonly line: number;
  readonly cells: readonly string[];
  /** Characters in the file, line end included. */
  readonly size: number;
};

export type CsvParser = {
  /** Takes the next piece of the text, cut anywhere, and gives the records that are complete by now. */
  push(text: string): CsvRecord[];
  /** Gives what is left once there is no more text. */
  end(): CsvRecord[];
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
export function createCsvParser(delimiter: string = ','): CsvParser {
  const separator = delimiter.charCodeAt(0);
  /** What is not read yet: begins with a record. */
  let rest = '';
  /** The line on which `rest` begins. */
  let line = 1;

  function scan(text: string, isLast: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    const end = text.length;
    let start = 0; // of the record
    let at = 0;
    record: while (start < end) {
      const cells: string[] = [];
      let lines = 1; // that the record takes up
      at = start;
      for (;;) {
        let cell = '';
        let from = at;
        if (text.charCodeAt(at) === quote) {
          const opening = line + lines - 1;
          from = ++at;
          for (;;) {
            if (at >= end) {
              if (isLast) throw neverClosed(opening);
              break record;
            }
            const code = text.charCodeAt(at++);
            if (code === quote) {
              if (at === end && !isLast) break record; // a second quote may follow
              cell += text.slice(from, at - 1);
              from = at;
              if (text.charCodeAt(at) !== quote) break;
              at++; // a doubled quote stands for one, which the next slice begins with
            } else if (code === lineFeed || (code === carriageReturn && text.charCodeAt(at) !== lineFeed)) lines++;
          }
        }
        let code = 0;
        while (at < end) {
          code = text.charCodeAt(at);
          if (code === separator || code === lineFeed || code === carriageReturn) break;
          at++;
        }
        if (at === end) {
          if (!isLast) break record;
          code = lineFeed;
        }
        cells.push(cell === '' ? text.slice(from, at) : from === at ? cell : cell + text.slice(from, at));
        at++;
        if (code === separator) continue;
        if (code === carriageReturn) {
          if (at === end && !isLast) break record; // a line feed may follow
          if (text.charCodeAt(at) === lineFeed) at++;
        }
        break;
      }
      if (at - start > longestRecord + 2) throw tooLong(line);
      if (cells.length > 1 || cells[0] !== '') records.push({ line, cells, size: at - start });
      line += lines;
      start = at;
    }
    rest = start === 0 ? text : text.slice(start);
    if (rest.length > longestRecord) throw tooLong(line);
    return records;
  }

  return {
    push: (text) => scan(rest === '' ? text : rest + text, false),
    end: () => scan(rest, true),
  };
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
