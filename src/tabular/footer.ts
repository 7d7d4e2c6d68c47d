import { sanitize } from '../text/sanitize.ts';
import type { CsvRecord } from './csv.ts';
import { firstLines, type Passed } from './header.ts';

/** Nobody signs a table at greater length. */
const longestFooter = 50;

const total =
  /^(?:(?:grand|sub)[ -]?totals?|totals?|gesamt(?:summe|zahl)?|summe|totale|totaal|total (?:general|général|geral)|toplam|razem|celkem|yhteensä|(?:antal |sum )?i alt|summa|sum(?=:)|suma|итого|合計|总计)(?::[\s\d.,']*)?$/iu;
const beginning =
  /^\s*(?:total|totaa|grand|sub|gesamt|summ|sum\b|suma|antal|i alt|toplam|razem|celkem|yhteens|итого|合計|总计)/iu;
const amount = /^[\p{Sc}\p{N}\s.,'()%+-]*(?:[A-Z]{3})?$/u;

/**
 * The records without the lines below the rows, as report programs write them. Holds back what may be such a footer until
 * the next row shows that it is none: texts of one cell behind a blank line, and a line of totals. `footer` takes down
 * what was left out.
 */
export async function* withoutFooter(
  batches: AsyncIterable<readonly CsvRecord[]>,
  width: number,
  footer: Passed[],
): AsyncGenerator<readonly CsvRecord[]> {
  let held: CsvRecord[] = [];
  let last: CsvRecord | undefined;
  /** Where rows are short anyway, a short line tells nothing. */
  let hasShortRows = false;
  footer.length = 0;

  const mayBelong = (record: CsvRecord): boolean => {
    if (width < 2 || held.length >= longestFooter) return false;
    const { cells } = record;
    // Of two cells one may be named like that: only a blank line tells it apart.
    if (width === 2) return cells.length === 2 && isTotal(cells) && isBehindBlank(record, last);
    if (cells.length > 1) return isTotal(cells);
    const isBelow = held.length > 0 || isBehindBlank(record, last);
    return isBelow && !hasShortRows && cells[0]?.includes('@') === false;
  };

  const surelyRows = (records: readonly CsvRecord[]): readonly CsvRecord[] => {
    // Most pieces of a file hold no such line at all.
    if (held.length === 0 && !records.some((record) => record.cells.length === 1 || isTotal(record.cells))) {
      last = records.at(-1) ?? last;
      return records;
    }
    const rows: CsvRecord[] = [];
    for (const record of records) {
      if (mayBelong(record) || (held.length > 0 && isBlank(record))) held.push(record);
      else {
        hasShortRows ||= [...held, record].some(({ cells }) => cells.length === 1);
        rows.push(...held, record);
        held = [];
      }
      last = record;
    }
    return rows;
  };

  for await (const records of batches) yield surelyRows(records);
  footer.push(...held.filter((record) => !isBlank(record)).map(({ line, cells }) => ({ line, cells })));
}

const isBlank = ({ cells }: CsvRecord): boolean => cells.every((cell) => cell.trim() === '');

/** Lines without a character are no records: then the line numbers have a gap. */
function isBehindBlank({ line }: CsvRecord, last: CsvRecord | undefined): boolean {
  if (last === undefined) return false;
  const lines = last.cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/gu)?.length ?? 0), 1);
  return isBlank(last) || line > last.line + lines;
}

function isTotal(cells: readonly string[]): boolean {
  const [first = ''] = cells;
  // A file may have millions of rows, and next to none begins like this.
  if (first.length > 20 || !beginning.test(first) || !total.test(first.trim())) return false;
  return cells.slice(1).every((cell) => amount.test(cell.trim()));
}

/** Names what was not read. */
export function footerNotes(footer: readonly Passed[]): string[] {
  const [first] = footer;
  if (!first) return [];
  const texts = footer.map(({ cells }) => sanitize(cells.find((cell) => cell.trim() !== '')?.trim() ?? ''));
  const where = footer.length === 1 ? `line ${first.line}` : `lines ${first.line} to ${footer.at(-1)?.line}`;
  return [`Not read below the rows (${where}): ${firstLines(texts)}.`];
}
