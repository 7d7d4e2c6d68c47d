import { emailPattern } from '../api/fields.ts';
import { Failure } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';
import { beginning } from '../text/short.ts';

/** A header without what differs between exports: case, accents, blanks, hyphens, underscores, signs. */
export const plain = (header: string): string =>
  header
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** The column that a person means by its header, or by its position as `#3`; of several the first. */
export const findColumn = (headers: readonly string[], wanted: string): number | undefined =>
  findColumns(headers, wanted)[0];

/** Every column that a person may mean: those of that very header, else those that say the same, else the position. */
function findColumns(headers: readonly string[], wanted: string): readonly number[] {
  const position = /^#(\d+)$/u.exec(wanted)?.[1];
  const ways = [
    (header: string) => header.trim() === wanted,
    (header: string) => plain(header) !== '' && plain(header) === plain(wanted),
    (_: string, index: number) => index + 1 === Number(position),
  ];
  const placesBy = (way: (header: string, index: number) => boolean) =>
    headers.flatMap((header, index) => (way(header, index) ? [index] : []));
  return ways.map(placesBy).find((found) => found.length > 0) ?? [];
}

/** As `findColumn`, of a flag that is about one column. Throws `usage` where several have that name. */
export function oneColumn(
  headers: readonly string[],
  wanted: string,
  typed: (column: string) => string,
): number | undefined {
  const places = findColumns(headers, wanted);
  refuseSeveral(places, wanted, typed);
  return places[0];
}

/** `typed`: the flag as it can be typed for a column. Throws `usage` where a name has several places. */
export function refuseSeveral(places: readonly number[], wanted: string, typed: (column: string) => string): void {
  if (places.length < 2) return;
  const ways = places.map((index) => typed(`#${index + 1}`));
  throw new Failure('usage', `${typed(wanted)}: ${places.length} columns are called "${wanted}".`, {
    hint: sanitize(`Say which: ${ways.join(' or ')}`),
  });
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
  const shown = headers.slice(0, 20).map((header) => beginning(sanitize(header.trim()), 60) || '(no name)');
  return `Columns: ${shown.join(', ')}${headers.length > 20 ? ', …' : ''}.`;
};

export const isEmail = (cell: string | undefined): boolean => cell !== undefined && emailPattern.test(cell.trim());

/** `a@example.com`, several of them, or `Ann <a@example.com>`: what no header holds. */
export const isAddress = (cell: string): boolean =>
  cell.includes('@') && cell.split(/:::|[;,]/u).some((part) => isEmail(/<([^<>]*)>\s*$/u.exec(part)?.[1] ?? part));
