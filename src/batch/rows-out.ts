import { nameKey } from '../command/row.ts';
import type { Rows } from '../tabular/rows.ts';
import { exactText } from '../text/exact-json.ts';

/** What is written behind a row; undefined leaves the row out. */
type Added = (index: number, line: number) => readonly unknown[] | undefined;

type Columns = {
  /** Names of the columns that are added. */
  readonly added: readonly string[];
  readonly addedTo: Added;
  /** What separates the items of a list in a cell, as `--tag-separator` says it: `none` says that there are no lists. */
  readonly separator?: string | undefined;
};

/** The rows with their own columns, and ours behind them. JSON Lines where the name says so, else CSV. */
export const rowsOut = (rows: Rows, path: string, columns: Columns): AsyncGenerator<string> =>
  isJsonLines(path) ? jsonOut(rows, columns) : csvOut(rows, columns);

/** The same of a list that has no rows, and so no columns of its own. */
export const headerOnly = (path: string, added: readonly string[]): string =>
  isJsonLines(path) ? '' : `${added.join(',')}\r\n`;

const isJsonLines = (path: string): boolean => /\.(?:jsonl|ndjson)$/iu.test(path);

/** The columns that stay: what an earlier run has added is replaced. */
const keptOf = ({ columns }: Rows): number[] =>
  columns.flatMap((name, at) => (/^svc_(?:line|status|id|error|secret)$/u.test(nameKey(name)) ? [] : [at]));

type Cells = readonly unknown[];

/** The rows that stay, each as a line: a text for each batch. */
async function* linesOut(rows: Rows, addedTo: Added, lineOf: (cells: Cells, more: Cells) => string) {
  let index = 0;
  for await (const batch of rows.read()) {
    let text = '';
    for (const { line, cells } of batch) {
      const more = addedTo(index++, line);
      if (more) text += lineOf(cells, more);
    }
    if (text !== '') yield text;
  }
}

function jsonOut(rows: Rows, { added, addedTo }: Columns): AsyncGenerator<string> {
  const kept = keptOf(rows);
  return linesOut(rows, addedTo, (cells, more) => {
    const own = kept.flatMap((at) => (cells[at] === undefined ? [] : [[rows.columns[at], cells[at]] as const]));
    return `${exactText(Object.fromEntries([...own, ...added.map((name, at) => [name, more[at]] as const)]))}\n`;
  });
}

/**
 * CSV that can be read with the same flags as the file: with its delimiter, with a byte order mark where the text would
 * otherwise be read wrongly, and with the lines that `--skip-lines` passes over. A table without a header gets none.
 */
export async function* csvOut(rows: Rows, { added, addedTo, separator = ';' }: Columns): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  const { columns, delimiter, form, source } = rows;
  const kept = keptOf(rows);
  const lineOf = (cells: readonly unknown[]): string =>
    // A lone CR ends a row for many readers too.
    stringify([cells.map((value) => asText(value, separator))], {
      delimiter,
      record_delimiter: '\r\n',
      quoted_match: /[\r\n]/u,
    });
  const header = form === 'csv' ? rows.header : columns;
  yield (form === 'csv' && (source.hasBom || source.encoding !== 'utf-8') ? '\ufeff' : '') + rows.above;
  if (header) yield lineOf([...kept.map((at) => header[at]), ...added]);
  // Cells beyond the header's are what is wrong with the row: they stay in sight.
  yield* linesOut(rows, addedTo, (cells, more) =>
    lineOf([...kept.map((at) => cells[at]), ...more, ...cells.slice(columns.length)]),
  );
}

function asText(value: unknown, separator: string): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && separator !== '' && separator !== 'none' && value.every((one) => typeof one !== 'object'))
    return value.join(separator);
  return typeof value === 'object' ? exactText(value) : String(value);
}
