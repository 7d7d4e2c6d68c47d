import { isAddress } from './columns.ts';
import type { HeaderOptions } from './header.ts';

/** A header never holds an address: such a line is a row. */
export const judgeBy =
  (isHeader: (cells: readonly string[]) => boolean): HeaderOptions['judge'] =>
  (cells) => {
    if (cells.some(isAddress)) return 'row';
    return isHeader(cells) ? 'header' : 'unclear';
  };

/** What to say of a file whose line `line` is no header. `field`: what its address is; `others`: of further columns. */
export function sayColumns(
  cells: readonly string[],
  line: number,
  { field, others = [] }: { readonly field: string; readonly others?: readonly string[] },
): string {
  const skip = line > 1 ? `--skip-lines ${line - 1} ` : '';
  const maps = [`#${cells.findIndex(isAddress) + 1}=${field}`, ...others].map((map) => `--map "${map}"`);
  return `Say what the columns are: ${skip}--no-header ${maps.join(' ')}`;
}
