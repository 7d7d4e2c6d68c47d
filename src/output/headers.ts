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

const asWords = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[-_.\s]+/gu, ' ');

/** The field that a table shows under that word: `created` is `created_at`. Undefined where no header is so called. */
export function fieldUnder(header: string, columns: readonly Column[]): string | undefined {
  const typed = asWords(header);
  const given = columns.map((column) => (typeof column === 'string' ? { path: column } : column));
  return given.find((column) => asWords(column.header ?? headerOf(column.path)) === typed)?.path;
}

/** The fields asked for, some by the words of the table's header. `isField`: what is a field's own name stays that. */
export const fieldsNamed = (
  fields: readonly string[],
  columns: readonly Column[],
  isField: (name: string) => boolean,
): readonly string[] => fields.map((name) => (isField(name) ? name : (fieldUnder(name, columns) ?? name)));
