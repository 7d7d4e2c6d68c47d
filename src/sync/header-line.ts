import { isAddress } from '../tabular/columns.ts';
import type { TableOptions } from '../tabular/table.ts';
import { isMappable, type MapWish, type Shape } from './mapping.ts';

/** How a line of a file of contacts is told to be its header. */
export const headerLine = (wishes: readonly MapWish[], shape: Shape): Pick<TableOptions, 'judge' | 'wayOut'> => ({
  judge(cells) {
    // A header never holds an address: such a line is a row.
    if (cells.some(isAddress)) return 'row';
    return isMappable(cells, wishes, shape) ? 'header' : 'unclear';
  },
  wayOut: (cells, line) => `Say what the columns are: ${flagsFor(cells, line, shape)}`,
});

function flagsFor(cells: readonly string[], line: number, shape: Shape): string {
  const holder = cells.findIndex(isAddress);
  const free = cells.flatMap((_, index) => (index === holder ? [] : [index]));
  const others = shape.required.filter((field) => field !== 'email');
  return [
    ...(line > 1 ? [`--skip-lines ${line - 1}`] : []),
    '--no-header',
    `--map "#${holder + 1}=email"`,
    ...others.map((field, at) => `--map "#${(free[at] ?? at) + 1}=${field}"`),
  ].join(' ');
}
