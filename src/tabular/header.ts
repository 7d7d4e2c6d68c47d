import { Failure } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';
import { beginning } from '../text/short.ts';
import { type CsvPosition, detectDelimiter, readOneRecord } from './csv.ts';

/** What a line is to the reader of the table: it names the columns, it is surely a row, or neither can be told. */
type Judge = (cells: readonly string[]) => 'header' | 'row' | 'unclear';

export type HeaderOptions = {
  readonly delimiter: string | undefined;
  /** Lines above the header, where the user counted them. */
  readonly skipLines: number | undefined;
  readonly noHeader: boolean;
  readonly judge: Judge;
};

/** `isWhole`: nothing of the file follows. */
type Piece = { readonly isWhole: boolean };

/** Where a table begins. */
export type Beginning = {
  readonly delimiter: string;
  /** The first record: the header, or the first row of a table without one. */
  readonly cells: readonly string[];
  readonly isRow: boolean;
  readonly start: CsvPosition;
  /** Behind the first record. */
  readonly next: CsvPosition;
  /** What stands above, as far as the user did not count it. */
  readonly preamble: readonly Passed[];
};

/** The line that names the delimiter, as it stands in the file; empty where there is none. */
export function announcementIn(text: string): string {
  const [line = ''] = /^[^\r\n]*(?:\r\n|\r|\n)?/u.exec(text) ?? [];
  return announcement.test(line.replace(/[\r\n]+$/u, '')) ? line : '';
}

export type Passed = { readonly line: number; readonly cells: readonly string[] };

/** Exporters write a title, a date and a few remarks; a file without a header is not searched to its end. */
const longestPreamble = 100;
const longestSearch = 1 << 22;

/** Excel writes, and understands, a first line that names the delimiter. */
const announcement = /^"?sep=([^\w\s"]|\t)"?[,;|\t]*$/iu;

const lineEnd = /\r\n|\r|\n/gu;

/**
 * Finds where the table begins in the first part of a file: undefined where more of it is needed to tell. The header
 * is the first line that says what the reader of the table needs. Lines above it are passed over only where they
 * cannot be rows: none may be one by the judge, and each has fewer filled cells than the header, or a single one.
 */
export function findBeginning(text: string, options: HeaderOptions & Piece): Beginning | undefined {
  const { isWhole } = options;
  const first = /^[^\r\n]*/u.exec(text)?.[0] ?? '';
  const announced = announcement.exec(first)?.[1];
  const from = positionAfter(text, Math.max(options.skipLines ?? 0, announced === undefined ? 0 : 1));
  if (from === undefined) {
    if (!isWhole) return undefined;
    throw new Failure('usage', `There is nothing below line ${options.skipLines ?? 1}.`, {
      hint: 'Give --skip-lines the number of lines above the header.',
    });
  }
  const passed: Beginning[] = [];
  for (let place = pastBlankLines(text, from); place.at < text.length; ) {
    const delimiter = options.delimiter ?? announced ?? detectDelimiter(text.slice(place.at));
    const record = readOneRecord(text, place, { delimiter, isWhole });
    if (record === undefined) return undefined;
    const { cells, next } = record;
    const here = { delimiter, cells, start: place, next, isRow: options.noHeader, preamble: passed.map(asPassed) };
    place = pastBlankLines(text, next);
    if (filled(cells) === 0) continue;
    if (options.noHeader || options.skipLines !== undefined) return here;
    const what = options.judge(cells);
    const asHere = ({ start }: Beginning) => readOneRecord(text, start, { delimiter, isWhole })?.cells ?? [];
    if (what === 'header' && passed.every((above) => mayStandAbove(asHere(above), cells))) return here;
    if (what === 'row') {
      const header = likeliest(passed);
      return header && header.cells.length >= cells.length ? header : { ...here, isRow: true };
    }
    passed.push(here);
    if (passed.length > longestPreamble) return likeliest(passed);
  }
  if (isWhole) return likeliest(passed);
  if (text.length > longestSearch) throw new Failure('usage', 'The first 4 MiB of the file are blank.');
  return undefined;
}

const asPassed = ({ start, cells }: Beginning): Passed => ({ line: start.line, cells });

const filled = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== '').length;

function mayStandAbove(above: readonly string[], header: readonly string[]): boolean {
  const count = filled(above);
  return count === 1 || count < filled(header) || above[0]?.startsWith('#') === true;
}

/** Where no line says what is needed: the first of the widest, for a message that lists its columns. */
const likeliest = (passed: readonly Beginning[]): Beginning | undefined =>
  passed.toSorted((a, b) => filled(b.cells) - filled(a.cells))[0];

function pastBlankLines(text: string, { at, line }: CsvPosition): CsvPosition {
  const blank = /[\r\n]*/uy;
  blank.lastIndex = at;
  const [ends = ''] = blank.exec(text) ?? [];
  // A CR at the end may be half of a line end: it stays.
  const whole = ends.endsWith('\r') ? ends.slice(0, -1) : ends;
  return whole === '' ? { at, line } : { at: at + whole.length, line: line + (whole.match(lineEnd)?.length ?? 0) };
}

/** The place behind that many lines. */
function positionAfter(text: string, lines: number): CsvPosition | undefined {
  let at = 0;
  let count = 0;
  for (const end of text.matchAll(lineEnd)) {
    if (count === lines) break;
    at = end.index + end[0].length;
    count++;
  }
  return count < lines || (lines > 0 && at === text.length) ? undefined : { at, line: lines + 1 };
}

/** Names what was passed over. */
export function preambleNotes({ preamble, line }: { preamble: readonly Passed[]; line: number }): string[] {
  if (preamble.length === 0) return [];
  const texts = preamble.map(({ cells }) => sanitize(cells.filter((cell) => cell.trim() !== '').join(', ')));
  return [`The header is line ${line}. Not read above it: ${firstLines(texts)}. To read from line 1: --skip-lines 0`];
}

const mostShown = 3;

/** The first of the lines that were not read, each in short. */
export function firstLines(texts: readonly string[]): string {
  const shown = texts.slice(0, mostShown).map((text) => `"${beginning(text, 50)}"`);
  return shown.join(', ') + (texts.length > shown.length ? ', …' : '');
}
