import type { Fields } from '../../text/record.ts';
import { type Engine, pieces, placeholders, type Sql } from '../tables/store.ts';
import type { Table } from '../tables/tables.ts';
import { type Phrase, wordsOf } from './words.ts';

/** The searched texts of a record, by field. */
export const textsOf = ({ words }: Table, fields: Fields): (readonly [field: string, text: string])[] =>
  words.flatMap((field) => {
    const text = textOf(fields[field]);
    return text === '' ? [] : [[field, field.endsWith('_html') ? withoutTags(text) : text] as const];
  });

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).join(' ');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

const withoutTags = (html: string): string =>
  html
    .replaceAll(/<[^<>]*>/gu, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/gu, (_, name: string) => entities[name] ?? '');

/** What goes into the index of the engine. */
export function indexedWords(engine: Engine, table: Table, fields: Fields): string {
  const words = textsOf(table, fields).flatMap(([, text]) => wordsOf(text));
  if (engine === 'sqlite') return words.join(' ');
  // Its positions end at 16383.
  return words.map((word, at) => `${lexeme(word)}:${Math.min(at + 1, 16_383)}`).join(' ');
}

/** No word holds a quote or a backslash: they are letters, digits and marks. */
const lexeme = (word: string): string => `'${word}'`;

/** The question in the engine's own language. */
export function matching(engine: Engine, phrases: readonly Phrase[]): string {
  if (engine === 'sqlite') {
    return phrases.map(({ words, isBegun }) => `"${words.join(' ')}"${isBegun ? '*' : ''}`).join(' AND ');
  }
  return phrases.map(({ words, isBegun }) => `(${words.map(lexeme).join(' <-> ')}${isBegun ? ':*' : ''})`).join(' & ');
}

/** `old`: the rows that had words before. */
export async function replaceWords(
  sql: Sql,
  { name }: Table,
  old: readonly number[],
  words: readonly (readonly [row: number, text: string])[],
): Promise<void> {
  for (const some of pieces(old)) {
    await sql.run(`DELETE FROM ${name}_words WHERE rowid IN (${placeholders(1, some.length)})`, some);
  }
  for (const some of pieces(words)) {
    const values = some.map((_, at) => `(${placeholders(1 + 2 * at, 2)})`).join(', ');
    await sql.run(`INSERT INTO ${name}_words (rowid, words) VALUES ${values}`, some.flat());
  }
}
