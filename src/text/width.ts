import stringWidth from 'string-width';
import { cellsBy, layoutBy } from './measure.ts';

/** The cells that a text takes on a terminal; our own colours take none. */
export const cells = (text: string): number => cellsBy(stringWidth, text);

export const { cut, pad, wrap } = layoutBy(cells);

/** Columns of lines beside each other, each `room` cells wide. */
export function sideBySide(columns: readonly (readonly string[])[], room: number, gap: number): string[] {
  const height = Math.max(...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((column) => pad(column[row] ?? '', room))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}
