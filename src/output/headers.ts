import { capital } from '../text/capital.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Column } from './view.ts';

/** `ticket_number` is read as "Ticket number", `contact.name` as "Contact", `updated_at` as "Updated". */
export function headerOf(path: string): string {
  const words = sanitize(path)
    .replace(/\.name$|_at$/u, '')
    .replaceAll(/[._]/gu, ' ')
    .replaceAll(/\b(?:id|url)\b/gu, (word) => word.toUpperCase());
  return capital(words);
}

/** With its path by name, also where nothing else is said of it. */
export const asColumn = (column: Column): Exclude<Column, string> =>
  typeof column === 'string' ? { path: column } : column;

const asWords = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[-_.\s]+/gu, ' ');

const columnUnder = (header: string, columns: readonly Column[]) =>
  columns.map(asColumn).find((column) => asWords(column.header ?? headerOf(column.path)) === asWords(header));

/** The field that a table shows under that word: `created` is `created_at`. Undefined where no header is so called. */
export const fieldUnder = (header: string, columns: readonly Column[]): string | undefined =>
  columnUnder(header, columns)?.path;

/**
 * The fields asked for, some by the words of the table's header: then all that is shown under it. `isField`: what is a
 * field's own name stays that.
 */
export const fieldsNamed = (
  fields: readonly string[],
  columns: readonly Column[],
  isField: (name: string) => boolean,
): readonly string[] =>
  fields.flatMap((name) => {
    const column = isField(name) ? undefined : columnUnder(name, columns);
    return column?.fields ?? column?.path ?? name;
  });
