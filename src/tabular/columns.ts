import { emailPattern } from '../api/fields.ts';

/** A header without what differs between exports: case, accents, blanks, hyphens, underscores, signs. */
export const plain = (header: string): string =>
  header
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** The column that a person means by its header, or by its position as `#3`. */
export function findColumn(headers: readonly string[], wanted: string): number | undefined {
  const position = /^#(\d+)$/u.exec(wanted)?.[1];
  const ways = [
    (header: string) => header.trim() === wanted,
    (header: string) => plain(header) !== '' && plain(header) === plain(wanted),
    (_: string, index: number) => index + 1 === Number(position),
  ];
  return ways.map((way) => headers.findIndex(way)).find((found) => found >= 0);
}

const plainWords = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.-]*$/u;

/**
 * How to name a column so that a shell, `findColumn` and a person understand it: `#3` unless its header is plain words
 * that no other column has.
 */
export function columnName(headers: readonly string[], index: number): string {
  const header = headers[index]?.trim() ?? '';
  const isAlone = headers.every((other, at) => at === index || other.trim() !== header);
  return plainWords.test(header) && isAlone && findColumn(headers, header) === index ? header : `#${index + 1}`;
}

/** As a person would recognise it. */
export const columnLabel = (headers: readonly string[], index: number): string => {
  const header = headers[index]?.trim() ?? '';
  const isAlone = header !== '' && headers.every((other, at) => at === index || other.trim() !== header);
  return isAlone ? header : `#${index + 1}`;
};

export const listedColumns = (headers: readonly string[]): string => {
  const shown = headers.slice(0, 20).map((header) => cut(header.trim()) || '(no name)');
  return `Columns: ${shown.join(', ')}${headers.length > 20 ? ', …' : ''}.`;
};

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

export const isEmail = (cell: string | undefined): boolean => cell !== undefined && emailPattern.test(cell.trim());

/** `a@example.com`, several of them, or `Ann <a@example.com>`: what no header holds. */
export const isAddress = (cell: string): boolean =>
  cell.includes('@') && cell.split(/:::|[;,]/u).some((part) => isEmail(/<([^<>]*)>\s*$/u.exec(part)?.[1] ?? part));
